/** Chooses and caches the simplified graph for a state. */
import { type GraphIndex, indexed } from "../graph/graph.js";
import { simplify } from "../graph/simplify.js";
import type { State } from "./state.js";

/** Indexes of simplified graphs, with and without plumbing, by the index of the trace. */
const simplified = new WeakMap<GraphIndex, Map<boolean, GraphIndex>>();

/** The index of the graph that a state shows, with or without plumbing. */
export function shownIndex(traced: GraphIndex, state: State): GraphIndex {
  const plumbing = state.plumbing === true;
  const known = simplified.get(traced) ?? new Map<boolean, GraphIndex>();
  simplified.set(traced, known);
  let shown = known.get(plumbing);
  if (shown === undefined) {
    const { graph, series } = simplify(traced.graph, plumbing);
    shown = indexed(graph, series);
    known.set(plumbing, shown);
  }
  return shown;
}
