/** Names of sizes, in graphs that have any. */
import { memoByObject } from "../shared/memo.js";
import type { GraphIndex } from "./graph.js";

/** The same with numbers only. */
export const withNumbers = memoByObject(
  (index: GraphIndex): GraphIndex =>
    index.graph.sizes == null ? index : { ...index, graph: { ...index.graph, sizes: null } },
);

/** Whether texts may have names of sizes. */
export function hasNames({ graph }: GraphIndex): boolean {
  return Object.keys(graph.sizes?.tensors ?? {}).length > 0;
}
