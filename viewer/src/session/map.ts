/**
 * A map of a picture that is too large for the screen: nested blocks in execution order, whose areas are shares of their
 * cost. Nodes without cost are left out.
 */
import { sum } from "d3-array";
import { drawMap } from "../draw/map.js";
import { DETAIL_SIZE, NAME_SIZE } from "../layout/coord/metrics.js";
import { fitText, textWidth } from "../layout/coord/text_metrics.js";
import type { Box } from "../layout/layout.js";
import { percent } from "../shared/amounts.js";
import { fill, strings } from "../shared/strings.js";
import { type Item, timesText } from "../view/frame.js";
import { type AdditiveLens, isCosted } from "./costs.js";

/** Height of the line below a map that explains the areas, px. */
const CAPTION = 20;
/** Room between blocks, and for the title of a block, px. */
const GAP = 4;
const TITLE = 20;
/** Height of a line of text, and room beside it, px. */
const LINE = 15;
const PADDING = 4;
/** Wanted ratio of the sides of blocks, and their least size as far as there is room, px. */
const RATIO = 3;
const [LEAST_WIDTH, LEAST_HEIGHT] = [56, LINE + 3];
/** Most of the area that may go to blocks that would be smaller. */
const LENT = 0.5;
/** Fewest characters of a shortened name. */
const SHORTEST = 6;
/** A block shows its inside if parts with this share of its cost have room for their names. */
const LEGIBLE = 0.5;

export interface Cell {
  item: Item;
  box: Box;
  /** Share of the whole. */
  share: number;
  /** Empty if not even a short name fits. */
  name: string;
  /** The text next to or below the name. */
  detail: string;
  /** Whether it contains other cells. */
  isOpen: boolean;
}

interface Size {
  width: number;
  height: number;
}

/** The cost of items. */
type CostOf = (item: Item) => number;

interface Amounts {
  of(item: Item, measure: AdditiveLens): number;
  total(measure: AdditiveLens): number;
}

/** The map as SVG text. Areas are shares of an amount or, if that is unknown, of another. */
export function mapOf(items: readonly Item[], amounts: Amounts, wanted: AdditiveLens | undefined, size: Size): string {
  const amountIn = (measure: AdditiveLens) => {
    const found = new Map<Item, number>();
    return (item: Item) => {
      const amount = found.get(item) ?? (isCosted(item.kind) ? amounts.of(item, measure) : 0);
      found.set(item, amount);
      return amount;
    };
  };
  const known = [wanted ?? "parameters", "parameters" as const, "flops" as const].map((measure) => ({
    amount: amountIn(measure),
    whole: amounts.total(measure),
    caption: fill(strings.areas, strings[measure]),
  }));
  const counted = ({ kind }: Item) => Number(isCosted(kind));
  const equal = { amount: counted, whole: 0, caption: "" };
  const { amount, whole, caption } = known.find((each) => sum(items, each.amount) > 0) ?? equal;
  const cells = cellsOf(items, amount, whole || sum(items, amount), { ...size, height: size.height - CAPTION });
  return drawMap(
    cells.map((cell) => ({ ...cell, text: textOf(cell), marks: cell.isOpen ? cell.item.marks : marksIn(cell.item) })),
    caption,
    size,
  );
}

/** The status of a block: a change inside it counts as a change of the block. */
function marksIn({ marks, frame }: Item): string[] {
  const inside = new Set(frame?.items.flatMap(marksIn));
  const hasChange = ["added", "removed", "changed"].some((mark) => inside.has(mark));
  const found = ["highlight", "error"].filter((mark) => inside.has(mark));
  return [...new Set([...marks, ...found, ...(hasChange ? ["changed"] : [])])];
}

function textOf({ item, share }: Cell): string {
  const { name, detail } = item;
  return [`${name} ${timesText(item)}`.trim(), detail, percent(share)].filter((line) => line !== "").join("\n");
}

/** @param whole the total for the shares */
export function cellsOf(items: readonly Item[], costOf: CostOf, whole: number, size: Size): Cell[] {
  const costed = items.filter((item) => costOf(item) > 0);
  return cellsIn(costed, costOf, whole, { x: 0, y: 0, ...size });
}

function cellsIn(items: readonly Item[], costOf: CostOf, whole: number, around: Box): Cell[] {
  const boxes = strips(items.map(costOf), around);
  return items.flatMap((item, i) => {
    const box = boxes[i] as Box;
    const name = nameIn(item, box);
    const parts = name === "" || item.frame === null ? [] : partsOf(item.frame.items, costOf, whole, box);
    const isOpen = parts.length > 0;
    const room = box.width - 2 * PADDING - (isOpen ? textWidth(name, NAME_SIZE, true) + PADDING : 0);
    const share = costOf(item) / whole;
    const detail = name !== "" && (isOpen || box.height >= 2 * LINE + 2) ? detailIn(item, share, room) : "";
    return [{ item, box, share, name, detail, isOpen }, ...parts];
  });
}

/** The cells inside a block, if enough of them are legible. */
function partsOf(items: readonly Item[], costOf: CostOf, whole: number, { x, y, width, height }: Box): Cell[] {
  const room = { x: x + GAP, y: y + TITLE, width: width - 2 * GAP, height: height - TITLE - GAP };
  const costed = items.filter((item) => costOf(item) > 0);
  const most = (Math.max(0, room.width) * Math.max(0, room.height)) / (LEAST_WIDTH * LEAST_HEIGHT);
  if (LEGIBLE * costed.length > most) return [];
  const cells = cellsIn(costed, costOf, whole, room);
  const legible = cells.filter(({ item, name }) => name !== "" && costed.includes(item));
  return sum(legible, ({ item }) => costOf(item)) >= LEGIBLE * sum(costed, costOf) ? cells : [];
}

/** A strip treemap: rows from left to right, each as high as its share. Keeps the order. */
export function strips(weights: readonly number[], box: Box): Box[] {
  const rows = rowsOf(raised(weights, (LEAST_WIDTH * LEAST_HEIGHT) / (box.width * box.height)), box);
  const heights = raised(
    rows.map((row) => sum(row)),
    (LEAST_HEIGHT + GAP) / box.height,
  );
  let y = box.y;
  return rows.flatMap((row, i) => {
    const height = (heights[i] ?? 0) * box.height;
    let x = box.x;
    const placed = raised(row, LEAST_WIDTH / box.width).map((share) => {
      const width = share * box.width;
      x += width;
      return { x: x - width + GAP / 2, y: y + GAP / 2, width: width - GAP, height: height - GAP };
    });
    y += height;
    return placed;
  });
}

/** A row ends where the next block would move its ratios away from the wanted one. */
function rowsOf(shares: readonly number[], box: Box): number[][] {
  // with many blocks, the height of a name matters more than its width
  const ratio = Math.min(RATIO, (box.width * box.height) / shares.length / (LINE + GAP) ** 2);
  const rows: number[][] = [];
  for (const share of shares) {
    const row = rows.at(-1);
    if (row === undefined || distortion([...row, share], box, ratio) > distortion(row, box, ratio)) rows.push([share]);
    else row.push(share);
  }
  return rows;
}

/** Shares of weights; the smallest are raised at the expense of the others. */
function raised(weights: readonly number[], least: number): number[] {
  const whole = sum(weights);
  const floor = Math.min(least, LENT / weights.length);
  const shares = weights.map((weight) => weight / whole);
  const low = shares.filter((share) => share < floor).length;
  const high = sum(shares.filter((share) => share >= floor));
  return shares.map((share) => (share < floor ? floor : (share * (1 - low * floor)) / high));
}

/** How far the blocks of a row are from the wanted ratio of sides; 1 at best. */
function distortion(row: readonly number[], { width, height }: Box, ratio: number): number {
  const all = sum(row);
  const ratios = row.map((share) => ((share / all) * width) / (all * height) / ratio);
  return sum(ratios, (each) => Math.max(each, 1 / each)) / row.length;
}

/** The name as far as it fits: the end of the path, or the start and the end. */
function nameIn(item: Item, { width, height }: Box): string {
  if (height < LINE) return "";
  const { name } = item;
  const ending = ` ${timesText(item)}`.trimEnd();
  const room = width - 2 * PADDING - textWidth(ending, NAME_SIZE, true);
  const short = name.slice(name.lastIndexOf(".") + 1);
  const cut = fitText(short, NAME_SIZE, room, true);
  const found = [name, short].find((text) => textWidth(text, NAME_SIZE, true) <= room) ?? cut;
  return found === cut && cut.length < Math.min(SHORTEST, short.length) ? "" : found + ending;
}

function detailIn({ detail }: Item, share: number, width: number): string {
  const part = percent(share);
  const both = detail === "" ? part : `${detail} · ${part}`;
  return [both, part].find((text) => textWidth(text, DETAIL_SIZE) <= width) ?? "";
}
