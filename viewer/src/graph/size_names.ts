/** Names of sizes, in graphs that have any. */
import { memoByObject } from "../shared/memo.js";
import type { GraphData, GraphIndex, Json, OpNode, TensorSpec } from "./graph.js";

/** Puts the names of sizes at the tensors, so that they go where a tensor's shape goes. */
export function putNames({ sizes }: Pick<GraphData, "sizes">, tensors: Map<string, TensorSpec>): void {
  for (const [tensor, names] of Object.entries(sizes?.tensors ?? {})) {
    const spec = tensors.get(tensor);
    if (spec !== undefined) tensors.set(tensor, { ...spec, names });
  }
}

/** An op's arguments with something else at some places, such as `size[1]`. */
export function withArguments(
  { arguments: values = {} }: OpNode,
  places: Readonly<Record<string, string>>,
  put: (expression: string) => Json,
): Record<string, Json> {
  const expressions = new Map(Object.entries(places));
  const replaced = (value: Json, place: string): Json => {
    const expression = expressions.get(place);
    if (expression !== undefined) return put(expression);
    if (Array.isArray(value)) return value.map((item, i) => replaced(item, `${place}[${i}]`));
    if (value === null || typeof value !== "object") return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, replaced(item, `${place}.${key}`)]));
  };
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, replaced(value, name)]));
}

/** The same index with numbers only. */
export const withNumbers = memoByObject(
  (index: GraphIndex): GraphIndex =>
    index.graph.sizes == null ? index : { ...index, graph: { ...index.graph, sizes: null } },
);
