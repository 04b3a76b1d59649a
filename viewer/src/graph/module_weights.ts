/** Removes weights that are drawn with their module. */
import type { Steps } from "../shared/slices.js";
import type { Graph, GraphNode } from "./graph.js";
import { shortName } from "./names.js";
import { leavingOut, withNames } from "./without.js";

/** What layers call their weights. A token or a scale in a list of parameters is no layer's, and drawn like any other weight. */
const OF_LAYER = /weight|bias|^running_/;

/**
 * Removes weights of a module that other modules use, too, and of a layer that is only there to hold them, such as a convolution
 * whose weights functions beside it take: each op that reads one names it.
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
  return yield* leavingOut(withNames(graph, removed), removed);
}
