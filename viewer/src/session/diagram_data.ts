/** The plain data that a session starts from and changes. */
import type { Overlay } from "../../generated/overlay.js";
import type { GraphData } from "../graph/graph.js";
import type { FoldedGraph } from "../graph/unfold.js";
import type { State } from "../view/state.js";

/** What determines the colours of nodes. */
export type Lens = "class" | "parameters" | "flops" | "memory" | "intensity" | "time";

/** One step of a tour; the ids are of nodes that its state shows. */
export interface TourStep {
  state: SessionState;
  /** Nodes to bring into view. */
  focus: string[];
  /** Nodes to light; the rest is dimmed. */
  lit: string[];
  lens: Lens | null;
}

/** A diagram: the traced graph, and what the author chose to show. */
export interface DiagramData {
  graph: GraphData;
  state: State;
  /** The author's annotations. */
  overlay?: Overlay;
  /** Set for a diagram of what changed since this graph, with or without changes that have no effect. */
  before?: GraphData;
  details?: boolean;
  /** What training recorded of the model, for `recording.js`. */
  recordings?: readonly object[];
  /** The steps of a tour. */
  steps?: TourStep[];
}

/** The same as stored in its data script. */
export type FoldedData = Omit<DiagramData, "graph" | "before"> & { graph: FoldedGraph; before?: FoldedGraph };

/** What is shown. */
export interface SessionState extends State {
  /** Id of the module or function call that is shown on its own; absent for the whole model. */
  root?: string | undefined;
}
