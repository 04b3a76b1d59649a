/** Layers replaced by one, such as `q`, `k` and `v` by `qkv`, and the reverse: the same weights in one tensor. */
import { append } from "../../graph/append.js";
import { compare, type DiffItem, inside, isLeaf, type Side } from "../items.js";
import type { Matching } from "../match/match.js";
import { isPlumbing } from "../vocabulary.js";
import type { Place } from "./facts.js";

export interface Merged {
  id: "merged" | "split";
  parts: DiffItem[];
  whole: DiffItem;
  /** The whole is the counterpart of one part; the other parts have none. */
  places: Place[];
  /** The layers and everything inside them. */
  items: DiffItem[];
}

export function mergedLayers({ a, b, after, before }: Matching): Merged[] {
  const merged = found([a, b], [after, before]).map(({ parts, kept, whole, items }): Merged => {
    const places = parts.map((part): Place => [part, part === kept ? whole : null]);
    return { id: "merged", parts, whole, places, items };
  });
  const split = found([b, a], [before, after]).map(({ parts, kept, whole, items }): Merged => {
    const places = parts.map((part): Place => [part === kept ? whole : null, part]);
    return { id: "split", parts, whole, places, items };
  });
  return [...merged, ...split];
}

type Pairs = ReadonlyMap<DiffItem, DiffItem>;

type Found = Pick<Merged, "parts" | "whole" | "items"> & { kept: DiffItem };

/** Layers of the first side that are one layer on the second. */
function found(sides: readonly [Side, Side], [pairs, back]: readonly [Pairs, Pairs]): Found[] {
  return sides[0].items.flatMap((container) => {
    const other = container.kind === "module" ? pairs.get(container) : undefined;
    const wholes = (other?.children ?? []).filter((item) => isLayer(item) && isCut(item));
    if (wholes.length === 0 || !container.children.some((item) => isLayer(item) && !pairs.has(item))) return [];
    const groups = new Map<string, DiffItem[]>();
    for (const item of container.children) if (isLayer(item)) append(groups, `${item.label} ${givenTo(item)}`, item);
    return [...groups.values()].flatMap((group) =>
      wholes.flatMap((whole) => {
        const pair = back.get(whole);
        const parts = group.filter((part) => part === pair || !pairs.has(part));
        const kept = pair ?? parts[0];
        if (kept === undefined || !parts.includes(kept) || parts.length < 2 || !isSum(parts, whole)) return [];
        return [{ parts, kept, whole, items: [...withInside(sides[0], parts), ...withInside(sides[1], [whole])] }];
      }),
    );
  });
}

function isLayer(item: DiffItem): boolean {
  return isLeaf(item) && item.total > 0 && item.call === 1;
}

/** The sources of a layer. */
function givenTo(layer: DiffItem): string {
  const sources = layer.children.flatMap((op) => op.sources.filter(({ from }) => from.parent !== layer));
  return sources
    .map(({ from, output }) => `${from.id} ${output}`)
    .sort(compare)
    .join("\n");
}

/** Whether the output of a layer is cut again: a gate also has layers of half the size. */
function isCut({ children }: DiffItem): boolean {
  const readers = children.at(-1)?.readers ?? [];
  return readers.length > 0 && readers.every(({ to }) => to.kind === "op" && isPlumbing(to.label));
}

/** Whether a layer has the weights of several layers and returns their outputs concatenated. */
function isSum(parts: readonly DiffItem[], whole: DiffItem): boolean {
  const sum = (values: (number | string | undefined)[]) => values.reduce<number>((all, one) => all + Number(one), 0);
  if (parts.some(({ label }) => label !== whole.label) || sum(parts.map(({ total }) => total)) !== whole.total)
    return false;
  const [shape, ...shapes] = [whole, ...parts].map(({ children }) => children.at(-1)?.shapes[0] ?? []);
  const differing = (shape ?? []).flatMap((size, i) => (shapes.every((one) => one[i] === size) ? [] : [i]));
  const [axis] = differing;
  const isOneAxis = differing.length === 1 && shapes.every(({ length }) => length === shape?.length);
  return isOneAxis && axis !== undefined && sum(shapes.map((one) => one[axis])) === shape?.[axis];
}

function withInside(side: Side, items: readonly DiffItem[]): DiffItem[] {
  return items.flatMap((item) => [item, ...inside(side, item)]);
}
