/** The plain data that a session starts from and changes. */
import type { Overlay } from "../../generated/overlay.js";
import type { GraphData } from "../graph/graph.js";
import type { State } from "../view/state.js";

/** A diagram as its data script brings it: the traced graph, and what the author chose to show. */
export interface DiagramData {
  graph: GraphData;
  state: State;
  /** What the author says about nodes. */
  overlay?: Overlay;
  /** Set for a diagram of what changed since this graph, with or without changes that have no effect. */
  before?: GraphData;
  details?: boolean;
}

/** What is shown. */
export interface SessionState extends State {
  /** Id of the module or function call that is shown on its own; absent for the whole model. */
  root?: string | undefined;
}
