/** Containers that may be one U if both are open: an encoder, and a decoder that reads several of its tensors. */
import type { GraphIndex } from "../graph/graph.js";
import type { Item } from "./frame.js";
import type { State } from "./state.js";
import { view } from "./view.js";

/** Fewer tensors from one to the other are no U. */
export const LEAST_SKIPS = 2;

/** Pairs of containers of the model, with those first that have most in common. */
export function pairsIn(traced: GraphIndex, state: State): [string, string][] {
  const { items, wires } = view(traced, { ...state, expanded: [] }).root;
  const isContainer = (item: Item | undefined) => item?.kind === "module" && item.expandable && item.times === 1;
  const tensors = new Map<string, Set<string>>();
  for (const { from, to, source, flow } of wires) {
    if (flow === "return" || !isContainer(items[from]) || !isContainer(items[to])) continue;
    tensors.set(`${from} ${to}`, (tensors.get(`${from} ${to}`) ?? new Set()).add(source));
  }
  return [...tensors]
    .filter(([, { size }]) => size >= LEAST_SKIPS)
    .sort(([, one], [, other]) => other.size - one.size)
    .map(([pair]) => pair.split(" ").map((item) => items[Number(item)]?.id ?? "") as [string, string]);
}
