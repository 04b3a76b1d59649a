/** Ops that write into tensors, and the edges that lead to them. */
import type { Edge, Graph, OpNode } from "./graph.js";

/** Ops that write into a tensor which is read later. */
export function writersOf(graph: Graph): Set<string> {
  const writers = graph.nodes.filter((node) => node.kind === "op" && isInPlace(node) && graph.adjacency.has(node.id));
  return new Set(writers.map(({ id }) => id));
}

export function isInPlace({ name }: OpNode): boolean {
  return name.endsWith("_") && !name.endsWith("__");
}

/** Whether values flow along an edge, or it leads to an op that overwrites the tensor for later readers. */
export function isDrawn({ to, flow }: Edge, writers: ReadonlySet<string>): boolean {
  return flow !== "shape" || writers.has(to);
}
