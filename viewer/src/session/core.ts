/**
 * The border between the widget and the core: all that the widget can reach of `core.js`, which it loads when a reader
 * first shows interest. Everything else is imported as a type only, so a call that comes before the core does not compile.
 */
import type { Compared } from "../diff/compared.js";
import type { GraphData } from "../graph/graph.js";
import type { Viz } from "../layout/layout.js";
import type { DiagramData, FoldedData } from "./diagram_data.js";
import type { Session } from "./session.js";

/** What compares two graphs: another script, `compare.js`, because few readers need it. */
export interface Comparing {
  compare(before: GraphData, after: GraphData, details: boolean): Compared;
}

/** A page has one instance, whatever the number of its diagrams. */
export interface Core {
  /**
   * Data as a diagram's script brings it → data to open, in slices. The page's list has the images; `notes` is how ids in
   * it begin. Fails where it is incomplete.
   */
  unfold(data: FoldedData, notes?: string | null): Promise<DiagramData>;
  /** Open a diagram, or what changed in it. Throws where the data is incomplete. */
  open(data: DiagramData, compared?: Compared): Session;
  /** The same in slices. */
  openInSlices(data: DiagramData, compared?: Compared): Promise<Session>;
  /** Run work that remembers what it did, as layouts do, in slices between which the browser has its turn. */
  inSlices<T>(work: () => T, stop?: AbortSignal): Promise<T>;
  /**
   * The layout engine of a worker. Work that is not in slices fails with a pause where it has no answer yet.
   *
   * @param onSilence called when the worker is given up because it does not answer
   */
  engineIn(worker: Worker, onSilence: () => void): Viz;
  /** When work that failed with this pause can go on; undefined for other errors. */
  pauseOf(error: unknown): Promise<unknown> | undefined;
  /** Whether WebAssembly crashed in this layout engine, which then has to be replaced. */
  isBroken(viz: Viz): boolean;
}
