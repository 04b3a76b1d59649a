/**
 * Removes what a figure in a paper would omit, such as reshapes, and reconnects its neighbours. Does not modify the trace;
 * readers can show everything (`State.plumbing`).
 */
import type { Steps } from "../shared/slices.js";
import { withoutConstants } from "./constants.js";
import { withoutDeadEnds } from "./dead_ends.js";
import type { Graph, GraphNode } from "./graph.js";
import { withoutHidden } from "./hidden.js";
import { removingPlumbing } from "./plumbing.js";
import { foldSeries, type Simplified } from "./series.js";
import { withoutWeightsOfModules } from "./weights.js";
import { without } from "./without.js";

const BEFORE = [withoutDeadEnds, withoutConstants];
const AFTER = [withoutWeightsOfModules, asLayer, withoutHidden];

/** Merge series of nodes; without `plumbing`, also leave out what is secondary. */
export function* simplifying(graph: Graph, plumbing: boolean): Steps<Simplified> {
  if (plumbing) return foldSeries(graph);
  const essential = yield* removingPlumbing(yield* inTurn(BEFORE, graph));
  yield;
  return foldSeries(yield* inTurn(AFTER, essential));
}

function* inTurn(actions: readonly ((graph: Graph) => Graph)[], graph: Graph): Steps<Graph> {
  let made = graph;
  for (const action of actions) {
    made = action(made);
    yield;
  }
  return made;
}

/** Turns a model that is a single PyTorch layer with one op into that layer's box, with the op's id. */
function asLayer(graph: Graph): Graph {
  const { model, nodes } = graph;
  const [op, ...more] = nodes.filter(({ kind }) => kind === "op" || kind === "module");
  if (op?.kind !== "op" || more.length > 0 || !model.class.startsWith("torch.nn.modules.")) return graph;
  const { attributes = {}, class: name, parameters } = model;
  const layer: GraphNode = { kind: "module", id: op.id, path: "", class: name, attributes, parameters };
  const weights = nodes.filter(({ kind }) => kind === "parameter" || kind === "buffer");
  const boxed = nodes.map((node) => (node === op ? layer : node));
  return without({ ...graph, nodes: boxed }, new Set(weights.map(({ id }) => id)));
}
