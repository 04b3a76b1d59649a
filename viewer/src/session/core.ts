import type { Compared } from "../diff/union/union.js";
import type { GraphData } from "../graph/graph.js";
import type { Viz } from "../layout/layout.js";
import type { Steps } from "../shared/slices.js";
import type { DiagramData, FoldedData } from "./diagram_data.js";
import type { Session } from "./session.js";

/**
 * The border between the widget and the core: all that the widget can reach of `core.js`, which it loads when a reader
 * first shows interest. Everything else is imported as a type only, so a call that comes before the core does not compile.
 */

/** Compares two graphs: another script, `compare.js`, because few readers need it. */
export interface Comparing {
  compare(before: GraphData, after: GraphData, details: boolean): Compared;
}

/** A page has one instance, whatever the number of its diagrams. */
export interface Core {
  /**
   * Data as a diagram's script brings it → data to open, in slices. The page's list has the images; `notes` is how ids in
   * it begin. Fails where the data is incomplete.
   */
  unfold(data: FoldedData, notes?: string | null): Promise<DiagramData>;
  /** Open a diagram, or what changed in it, in slices. Fails where the data is incomplete. */
  open(data: DiagramData, compared?: Compared): Promise<Session>;
  /** Run steps in slices, between which the browser has its turn. */
  inSlices<T>(work: Steps<T>, stop?: AbortSignal): Promise<T>;
  /** @param onSilence called when the worker is given up because it does not answer */
  engineIn(worker: Worker, onSilence: () => void): Viz;
  /** Whether WebAssembly crashed in this layout engine, which then has to be replaced. */
  isBroken(viz: Viz): boolean;
}
