/** Chooses and caches the simplified graph for a state. */
import type { GraphIndex } from "../graph/graph.js";
import { indexed } from "../graph/indexing.js";
import { simplify } from "../graph/simplify.js";
import { bundled, type Limits } from "./bundles.js";
import { withFunctions } from "./functions.js";
import type { State } from "./state.js";

/** By the index of the trace, indexes of what states show. */
const shown = new WeakMap<GraphIndex, Map<string, GraphIndex>>();

type Shown = Pick<State, "plumbing" | "functions" | "most" | "ends" | "kept">;

/** The index of the graph that a state shows, with or without plumbing, function calls and bundles. */
export function shownIndex(
  traced: GraphIndex,
  { plumbing = false, functions = true, most, ends, kept }: Shown,
): GraphIndex {
  const known = shown.get(traced) ?? new Map<string, GraphIndex>();
  shown.set(traced, known);
  const key = `${plumbing} ${functions} ${most} ${ends} ${kept?.join(" ")}`;
  const made = known.get(key) ?? makeIndex(traced, { plumbing, functions }, { most, ends, kept });
  known.set(key, made);
  return made;
}

function makeIndex(traced: GraphIndex, kinds: { plumbing: boolean; functions: boolean }, limits: Limits): GraphIndex {
  if (limits.most !== undefined || limits.ends !== undefined) return bundled(shownIndex(traced, kinds), limits);
  const { graph, series } = simplify(traced.graph, kinds.plumbing);
  return indexed(
    withFunctions(graph, () => kinds.functions),
    series,
  );
}
