/** Containers that may be one U if both are open: an encoder, and a decoder that reads several of its tensors. */
import type { GraphIndex } from "../../graph/graph.js";
import type { Item } from "../frame.js";
import type { State } from "../state.js";
import { view } from "../view.js";

/** Fewer tensors from one to the other are no U. */
export const LEAST_SKIPS = 2;

/** Pairs of containers of the model, with those first that have most in common, and single ones that items read, or feed. */
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
