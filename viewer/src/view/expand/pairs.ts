/** Containers that may form a U when both are open: an encoder, and a decoder that reads several of its tensors. */
import type { GraphIndex } from "../../graph/graph.js";
import type { Item } from "../frame.js";
import type { State } from "../state.js";
import { view } from "../view.js";

/** Fewest tensors from one to the other in a U. */
export const LEAST_SKIPS = 2;

/** Pairs of containers, those with most common tensors first, and single containers that exchange tensors with items. */
export function pairsIn(traced: GraphIndex, state: State): string[][] {
  const { items, wires } = view(traced, { ...state, expanded: [] }).root;
  const isContainer = (item: Item | undefined) => item?.kind === "module" && item.expandable && item.times === 1;
  const tensors = new Map<string, Set<string | number>>();
  const add = (key: string, what: string | number) => tensors.set(key, (tensors.get(key) ?? new Set()).add(what));
  for (const { from, to, source, flow } of wires) {
    const [isFrom, isTo] = [isContainer(items[from]), isContainer(items[to])];
    if (flow === "return") continue;
    if (isFrom && isTo) add(`${from} ${to}`, source);
    if (isFrom) add(`${from}`, to);
    if (isTo) add(`${to}`, from);
  }
  return [...tensors]
    .filter(([pair, { size }]) => size >= LEAST_SKIPS + (pair.includes(" ") ? 0 : 1))
    .sort(([pair, one], [single, other]) => single.split(" ").length - pair.split(" ").length || other.size - one.size)
    .map(([pair]) => pair.split(" ").map((item) => items[Number(item)]?.id ?? ""));
}
