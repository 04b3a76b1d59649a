/** Chooses and caches the simplified graph for a state. */
import type { GraphIndex } from "../../graph/graph.js";
import { indexGraphSteps } from "../../graph/indexing.js";
import { simplify } from "../../graph/simplify.js";
import { withNumbers } from "../../graph/size_names.js";
import { atOnce, type Steps } from "../../shared/slices.js";
import type { State } from "../state.js";
import { bundled } from "./bundles.js";
import { groupFunctions } from "./functions.js";
import { withLayers } from "./layers.js";

/** Index of a trace → what a state leaves in or out → index of what it shows. */
const indexes = new WeakMap<GraphIndex, Map<string, GraphIndex>>();

type Kinds = Pick<State, "plumbing" | "functions" | "layers" | "most" | "ends" | "kept" | "numbers">;

/** The index of the graph that a state shows, with or without plumbing, function calls, groups of layers and bundles. */
export function shownIndex(traced: GraphIndex, kinds: Kinds): GraphIndex {
  return atOnce(shownIndexSteps(traced, kinds));
}

/** The same in steps. */
export function* shownIndexSteps(traced: GraphIndex, { numbers = false, ...kinds }: Kinds): Steps<GraphIndex> {
  if (numbers) return withNumbers(yield* shownIndexSteps(traced, kinds));
  const { plumbing = false, functions = true, layers = true, most, ends, kept } = kinds;
  const known = indexes.get(traced) ?? new Map<string, GraphIndex>();
  indexes.set(traced, known);
  const key = `${plumbing} ${functions} ${layers} ${most} ${ends} ${kept?.join(" ")}`;
  const before = known.get(key);
  if (before !== undefined) return before;
  const made =
    most === undefined && ends === undefined
      ? yield* indexOf(traced, { plumbing, functions, layers })
      : bundled(yield* shownIndexSteps(traced, { plumbing, functions, layers }), { most, ends, kept });
  known.set(key, made);
  return made;
}

function* indexOf(
  traced: GraphIndex,
  { plumbing, functions, layers }: { plumbing: boolean; functions: boolean; layers: boolean },
): Steps<GraphIndex> {
  const { graph, series } = yield* simplify(traced.graph, plumbing);
  yield;
  const grouped = yield* groupFunctions(graph, () => functions);
  yield;
  const index = yield* indexGraphSteps(grouped, series);
  yield;
  return layers ? withLayers(index) : index;
}
