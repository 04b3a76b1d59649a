/** Applies an author's annotations to items and frames. */
import { contentsOf, type GraphIndex } from "../graph/graph.js";
import { BORDER, type Frame, type Item } from "./frame.js";
import type { Direction } from "./state.js";

/** The item with the annotations of its nodes, outermost first; `group_names.ts` applies names. */
export function withAnnotations(index: GraphIndex, item: Item, chain: readonly string[]): Item {
  const { annotations } = index.graph;
  if (annotations === undefined) return item;
  const all = chain.flatMap((id) => annotations.get(id) ?? []);
  // a closed box represents what is inside it
  const numbers = (of: "notes" | "images") => all.flatMap((one) => one[of] ?? []);
  const inside = (of: "notes" | "images") => (item.frame === null ? numbersInside(index, item.id, of) : []);
  const notes = [...new Set([...numbers("notes"), ...inside("notes")])].sort((one, other) => one - other);
  const marks = [...item.marks];
  if (all.some(({ highlight }) => highlight)) marks.push("highlight");
  if (all.some(({ fade }) => fade)) marks.push("faded");
  return {
    ...item,
    marks,
    family: all.find(({ kind }) => kind != null)?.kind ?? item.family,
    ...(notes.length > 0 && { notes }),
    ...images(index, new Set(numbers("images")), inside("images")),
  };
}

/** The first image of a node, whose glyph becomes a box: a glyph has no room for it. */
function images({ graph }: GraphIndex, own: ReadonlySet<number>, inside: readonly number[]): Partial<Item> {
  const [first = 0] = own;
  const image = graph.images?.[first - 1];
  const moreImages = new Set([...own, ...inside]).size - (image === undefined ? 0 : 1);
  return {
    ...(image && { thumb: { ...image, numbers: [...own] }, glyph: null }),
    ...(moreImages > 0 && { moreImages }),
  };
}

function numbersInside(index: GraphIndex, id: string, of: "notes" | "images"): number[] {
  return contentsOf(index, id).children.flatMap((child) => [
    ...(index.graph.annotations?.get(child)?.[of] ?? []),
    ...numbersInside(index, child, of),
  ]);
}

/** The direction of a container that its author arranged; undefined for others. */
export function arrangedDirection(index: GraphIndex, ids: readonly string[]): Direction | undefined {
  const arrange = arrangementOf(index, ids);
  if (arrange === undefined || arrange === "column") return arrange && "TB";
  const { links } = contentsOf(index, ids[ids.length - 1] ?? "");
  const inner = links.filter(({ from, to }) => from !== null && to !== null);
  const hasFork =
    new Set(inner.map(({ from }) => from)).size < new Set(inner.map(({ from, to }) => `${from} ${to}`)).size;
  if (inner.length === 0 || (arrange === "grid" && hasFork)) return "TB";
  return "LR";
}

function arrangementOf(index: GraphIndex, ids: readonly string[]): "row" | "column" | "grid" | undefined {
  return firstSaid(index, ids, "arrange") ?? undefined;
}

/** The first annotation among several containers that are drawn as one. */
function firstSaid<Word extends "arrange" | "align_items">({ graph }: GraphIndex, ids: readonly string[], word: Word) {
  return ids.map((id) => graph.annotations?.get(id)?.[word]).find((value) => value != null);
}

/** Sets how the author arranged the items of a frame. */
export function markPlacing(index: GraphIndex, frame: Frame, ids: readonly string[]): void {
  const arrange = arrangementOf(index, ids);
  const listed = ids.map((id) => index.graph.annotations?.get(id)?.order ?? []).find((order) => order.length > 0) ?? [];
  const order = listed.map((id) => frame.items.findIndex((item) => item.id === id)).filter((item) => item !== BORDER);
  const align = firstSaid(index, ids, "align_items");
  if (arrange === undefined && order.length < 2 && align == null) return;
  const side = Math.ceil(Math.sqrt(frame.items.length));
  const isFlow = frame.direction === "LR";
  const most = { row: isFlow ? 1 : frame.items.length, column: 1, grid: isFlow ? 0 : side };
  frame.placing = {
    most: arrange === undefined ? 0 : most[arrange],
    lines: arrange === "grid" && isFlow ? Math.ceil(frame.items.length / side) : 0,
    order,
    ...(align != null && { align }),
  };
}
