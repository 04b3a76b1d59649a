import type { Compared } from "../diff/union/union.js";
import type { GraphData } from "../graph/graph.js";
import type { Viz } from "../layout/layout.js";
import type { Steps } from "../shared/slices.js";
import type { DiagramData, FoldedData } from "./diagram_data.js";
import type { Session } from "./session.js";

/**
 * The border between the widget and the core: everything that the widget can use of `core.js`, which it loads when a reader
 * first shows interest. Everything else is imported as a type only, so calls before the core is loaded don't compile.
 */

/** Compares two graphs: another script, `compare.js`, because few readers need it. */
export interface Comparing {
  compare(before: GraphData, after: GraphData, details: boolean): Compared;
}

/** A page has one instance for all diagrams. */
export interface Core {
  /**
   * Unfold the data of a diagram's script, in slices. Images come from the list in the page, whose ids begin with `notes`.
   * Fails if the data is incomplete.
   */
  unfold(data: FoldedData, notes?: string | null): Promise<DiagramData>;
  /** Open a diagram, or what changed in it, in slices. Fails if the data is incomplete. */
  open(data: DiagramData, compared?: Compared): Promise<Session>;
  /** Run steps in slices, between which the browser has its turn. */
  inSlices<T>(work: Steps<T>, stop?: AbortSignal): Promise<T>;
  /** The layout engine of a worker. @param onSilence called when the worker doesn't answer and is given up */
  engineIn(worker: Worker, onSilence: () => void): Viz;
  /** Whether this layout engine crashed and must be replaced. */
  isBroken(viz: Viz): boolean;
}
