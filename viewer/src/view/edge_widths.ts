/** How thick edges are where they follow the size of their tensors. */

import type { GraphIndex, TensorSpec } from "../graph/graph.js";
import { memoByObject } from "../shared/memo.js";

/** Steps of thickness; style.ts has a rule for each but the first. */
const STEPS = 4;

/** The step of a tensor, from 1, in equal ratios between the smallest and the largest tensor of the graph. */
export function edgeWidth(index: GraphIndex, tensor: string): number {
  const [least, most] = rangeOf(index);
  const bytes = bytesOf(index.graph.tensors.get(tensor));
  if (bytes === 0 || most === least) return 1;
  return Math.min(STEPS, 1 + Math.floor((STEPS * (Math.log2(bytes) - least)) / (most - least)));
}

/** Logarithms of the least and the most bytes of a tensor. */
const rangeOf = memoByObject((index: GraphIndex): readonly [least: number, most: number] => {
  let [least, most] = [Number.POSITIVE_INFINITY, 0];
  for (const edges of index.graph.adjacency.values()) {
    for (const { tensor } of edges) {
      const bytes = bytesOf(index.graph.tensors.get(tensor));
      if (bytes === 0) continue;
      least = Math.min(least, Math.log2(bytes));
      most = Math.max(most, Math.log2(bytes));
    }
  }
  return [least, most];
});

/** 0 where a size is not known. */
function bytesOf(spec: TensorSpec | undefined): number {
  if (spec?.shape == null) return 0;
  // a type that tells no bits is `bool`
  const bits = Number(/\d+/.exec(spec.dtype)?.[0] ?? 8);
  const elements = spec.shape.reduce<number>((product, size) => product * (typeof size === "number" ? size : 0), 1);
  return (elements * bits) / 8;
}
