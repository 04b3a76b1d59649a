/** Removes weights that are shown by name at the ops that read them. */
import type { Steps } from "../shared/slices.js";
import type { Graph, GraphNode } from "./graph.js";
import { shortName } from "./names.js";
import { withNames, withoutSteps } from "./without.js";

/** Names of the weights of layers. A token or a scale in a list of parameters belongs to no layer and is drawn. */
const OF_LAYER = /weight|bias|^running_/;

/**
 * Removes weights of a module that other modules use too, and of a layer that only holds them, such as a convolution
 * whose weights are passed to functions: each op that reads one names it.
 */
export function* withoutWeightsOfModules(graph: Graph): Steps<Graph> {
  const paths = new Set(graph.nodes.flatMap((node) => (node.kind === "module" ? [node.path] : [])));
  const pathOf = new Map(graph.nodes.map((node) => [node.id, node.kind === "module" ? node.path : ""]));
  const ops = new Set(graph.nodes.flatMap(({ id, kind }) => (kind === "op" ? [id] : [])));
  yield;
  const isNamed = (node: GraphNode) => {
    if (node.kind !== "parameter" && node.kind !== "buffer") return false;
    const owner = graph.parameters.get(node.name)?.owner ?? "";
    const parent = graph.hierarchy.get(node.id) ?? null;
    const readers = graph.adjacency.get(node.id) ?? [];
    const around = pathOf.get(parent ?? "") ?? "";
    const isBeside = (id: string) => (graph.hierarchy.get(id) ?? null) === parent;
    if (paths.has(owner)) {
      const isElsewhere = around !== owner && !around.startsWith(`${owner}.`);
      return isElsewhere && !readers.some(({ to }) => isBeside(to));
    }
    const isInside = around === "" ? owner !== "" : owner.startsWith(`${around}.`);
    return isInside && OF_LAYER.test(shortName(node.name)) && readers.every(({ to }) => ops.has(to) && isBeside(to));
  };
  const removed = new Set(graph.nodes.filter(isNamed).map(({ id }) => id));
  yield;
  return yield* withoutSteps(withNames(graph, removed), removed);
}
