/** Chooses and caches the simplified graph for a state. */
import type { GraphIndex } from "../../graph/graph.js";
import { indexing } from "../../graph/indexing.js";
import { simplifying } from "../../graph/simplify.js";
import { resumed, type Steps } from "../../shared/slices.js";
import type { State } from "../state.js";
import { bundled } from "./bundles.js";
import { groupingFunctions } from "./functions.js";

/** By the index of the trace, indexes of what states show. */
const shown = new WeakMap<GraphIndex, { made: Map<string, GraphIndex>; begun: Map<string, Steps<GraphIndex>> }>();

type Shown = Pick<State, "plumbing" | "functions" | "most" | "ends" | "kept">;

/** The index of the graph that a state shows, with or without plumbing, function calls and bundles. */
export function shownIndex(
  traced: GraphIndex,
  { plumbing = false, functions = true, most, ends, kept }: Shown,
): GraphIndex {
  const known = shown.get(traced) ?? { made: new Map(), begun: new Map() };
  shown.set(traced, known);
  const key = `${plumbing} ${functions} ${most} ${ends} ${kept?.join(" ")}`;
  const kinds = { plumbing, functions };
  const make = () =>
    most === undefined && ends === undefined
      ? resumed(known.begun, key, () => making(traced, kinds))
      : bundled(shownIndex(traced, kinds), { most, ends, kept });
  const made = known.made.get(key) ?? make();
  known.made.set(key, made);
  return made;
}

function* making(traced: GraphIndex, kinds: { plumbing: boolean; functions: boolean }): Steps<GraphIndex> {
  const { graph, series } = yield* simplifying(traced.graph, kinds.plumbing);
  yield;
  const grouped = yield* groupingFunctions(graph, () => kinds.functions);
  yield;
  return yield* indexing(grouped, series);
}
