/** Chooses and caches the simplified graph for a state. */
import { type GraphIndex, indexed } from "../graph/graph.js";
import { simplify } from "../graph/simplify.js";
import { bundled, type Limits } from "./bundles.js";
import type { State } from "./state.js";

/** By the index of the trace, indexes of what states show. */
const shown = new WeakMap<GraphIndex, Map<string, GraphIndex>>();

type Shown = Pick<State, "plumbing" | "most" | "ends" | "kept">;

/** The index of the graph that a state shows, with or without plumbing and bundles. */
export function shownIndex(traced: GraphIndex, { plumbing = false, most, ends, kept }: Shown): GraphIndex {
  const known = shown.get(traced) ?? new Map<string, GraphIndex>();
  shown.set(traced, known);
  const key = `${plumbing} ${most} ${ends} ${kept?.join(" ")}`;
  const made = known.get(key) ?? makeIndex(traced, plumbing, { most, ends, kept });
  known.set(key, made);
  return made;
}

function makeIndex(traced: GraphIndex, plumbing: boolean, limits: Limits): GraphIndex {
  if (limits.most !== undefined || limits.ends !== undefined) return bundled(shownIndex(traced, { plumbing }), limits);
  const { graph, series } = simplify(traced.graph, plumbing);
  return indexed(graph, series);
}
