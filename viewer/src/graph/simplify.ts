/**
 * Removes what a figure in a paper would omit, such as reshapes, and reconnects its neighbours. Does not modify the trace;
 * readers can show everything (`State.plumbing`).
 */
import type { Steps } from "../shared/slices.js";
import { withoutConstants } from "./constants.js";
import { withoutDeadEnds } from "./dead_ends.js";
import { type Graph, type GraphNode, isWeight } from "./graph.js";
import { withoutHidden } from "./hidden.js";
import { withoutWeightsOfModules } from "./module_weights.js";
import { withoutPlumbing } from "./plumbing.js";
import { foldSeries, type Simplified } from "./series.js";
import { without } from "./without.js";

/** Merge series of nodes and, without `plumbing`, leave out what is secondary. */
export function* simplify(graph: Graph, plumbing: boolean): Steps<Simplified> {
  if (plumbing) return yield* foldSeries(graph);
  const variable = yield* withoutConstants(yield* withoutDeadEnds(graph));
  yield;
  const essential = yield* withoutPlumbing(variable);
  yield;
  const layers = asLayer(yield* withoutWeightsOfModules(essential));
  yield;
  return yield* foldSeries(yield* withoutHidden(layers));
}

/** Turns a model that is one PyTorch layer with one op into the box of that layer, with the op's id. */
function asLayer(graph: Graph): Graph {
  const { model, nodes } = graph;
  const [op, ...more] = nodes.filter(({ kind }) => kind === "op" || kind === "module");
  if (op?.kind !== "op" || more.length > 0 || !model.class.startsWith("torch.nn.modules.")) return graph;
  const { attributes = {}, class: name, parameters } = model;
  const layer: GraphNode = { kind: "module", id: op.id, path: "", class: name, attributes, parameters };
  const weights = nodes.filter(({ kind }) => isWeight(kind));
  const boxed = nodes.map((node) => (node === op ? layer : node));
  return without({ ...graph, nodes: boxed }, new Set(weights.map(({ id }) => id)));
}
