/** Names of sizes, in graphs that have any. */
import { memoByObject } from "../shared/memo.js";
import type { GraphData, GraphIndex, TensorSpec } from "./graph.js";

/** Puts the names of sizes at the tensors, so that they go where a tensor's shape goes. */
export function putNames({ sizes }: Pick<GraphData, "sizes">, tensors: Map<string, TensorSpec>): void {
  for (const [tensor, names] of Object.entries(sizes?.tensors ?? {})) {
    const spec = tensors.get(tensor);
    if (spec !== undefined) tensors.set(tensor, { ...spec, names });
  }
}

/** The same with numbers only. */
export const withNumbers = memoByObject(
  (index: GraphIndex): GraphIndex =>
    index.graph.sizes == null ? index : { ...index, graph: { ...index.graph, sizes: null } },
);
