/**
 * Columns next to each other, with their tops aligned. Each is laid out as a frame of its own. A tensor from one to the next
 * leaves below the first, and turns in the gap between them to the height where it is read.
 */
import { mapSteps, type Steps } from "../../shared/slices.js";
import { BORDER, type Frame } from "../../view/frame.js";
import { MARGIN } from "../coord/enclosure.js";
import { type Geometry, stretched } from "../coord/geometry.js";
import { GRID } from "../coord/metrics.js";
import { mirrored } from "../decross/mirror.js";
import type { Inner } from "../input.js";
import type { Ranking } from "../layering/dot.js";
import type { Plan, PlanWire } from "../plan.js";
import { assemble, type ColumnBlock } from "./assemble.js";
import { BLOCK, type Cut, cut } from "./cut.js";
import type { Towers } from "./towers.js";

/** Changes the positions of the items of a frame. */
export type Moved = (plan: Plan, ranking: Ranking) => Ranking;
/** A part of a frame. */
export interface Subframe {
  frame: Frame;
  inner: (Inner | null)[];
  /** With all items closed. */
  closed: (Inner | null)[];
  moved: Moved;
  /** A key of `moved`. */
  moves: string;
  /** Whether it is around all others. */
  isAround: boolean;
  /** Whether it flows up. */
  up?: boolean;
  /** Whether ranking ignores a wire. */
  isRail?: (wire: PlanWire) => boolean;
}
export type PlaceSubframe = (part: Subframe) => Steps<Geometry>;

/** Distance between wires from one column to the next, and from what they pass. */
const STEP = 10;
const CLEAR = 12;
/** Height of the last part of a wire, which runs straight. */
const ARRIVAL = 8;

/** The geometry of a frame with columns; null if its wires don't allow them. */
export function* inColumns(
  frame: Frame,
  inner: readonly (Inner | null)[],
  { columns, join }: Towers,
  place: PlaceSubframe,
): Steps<Geometry | null> {
  const made = cut(frame, columns);
  if (made === null || made.across.some(({ from, to }) => to !== from + 1)) return null;
  const none = frame.items.map(() => null);
  const [block, closed] = [yield* blockOf(made, inner, place), yield* blockOf(made, none, place)];
  if (block === null || closed === null) return null;
  const last = columns.length;
  const around = yield* place({
    ...{ frame: made.parts[last] ?? frame, inner: sizesIn(made, last, inner, block) },
    ...{ closed: sizesIn(made, last, none, closed), moved: centred(made, join), moves: `${join}`, isAround: true },
  });
  return assemble(made, block, around);
}

/** All columns as one item; null if something blocks the wires between them. */
function* blockOf(made: Cut, inner: readonly (Inner | null)[], place: PlaceSubframe): Steps<ColumnBlock | null> {
  const free = yield* mapSteps(made.parts.slice(0, -1), (frame, i) =>
    place({
      ...{ frame, inner: sizesIn(made, i, inner), closed: [] },
      ...{ moved: inColumn(made, i), moves: movesOf(made, i), isAround: false },
    }),
  );
  return free.every((geometry, i) => isLeftFree(made, i, geometry)) ? beside(made, inLine(made, free)) : null;
}

/** The sizes of the open items of a part. */
function sizesIn(
  { members }: Cut,
  part: number,
  inner: readonly (Inner | null)[],
  block?: ColumnBlock,
): (Inner | null)[] {
  return (members[part] ?? []).map((item) => (item === BLOCK ? (block ?? null) : (inner[item] ?? null)));
}

function inColumn(made: Cut, column: number): Moved {
  const [arriving, leaving] = [leftFirst(made, column), rightLast(made, column)];
  return (plan, ranking) => leaving(plan, arriving(plan, ranking));
}

/** Equal for columns with equal moves. */
function movesOf(made: Cut, column: number): string {
  return `${arrivals(made, column)} ${departures(made, column)}`;
}

/** The ports of a column for tensors to the next one. */
function departures({ across }: Cut, column: number): number[] {
  return [...new Set(across.filter(({ from }) => from === column).map(({ fromPort }) => fromPort))];
}

/** Leads wires to the next column past the right of everything else below their source, which is centred below it. */
function rightLast(made: Cut, column: number): Moved {
  const ports = departures(made, column);
  return (plan, ranking) => {
    const { slots, wires } = plan;
    const leaving = wires.filter(({ from, to, toPort }) => from !== BORDER && to === BORDER && ports.includes(toPort));
    const { from: source = BORDER, fromPort = 0 } = leaving[leaving.length - 1] ?? {};
    const below = itemsBelow(ranking, source);
    if (source === BORDER || below.length === 0) return ranking;
    const [low, high] = extent(plan, ranking, below);
    const { ports: exits, across: width = 0 } = slots[source] ?? {};
    const exit = (ranking.across[source] ?? 0) + (exits ? (exits.outputs[fromPort] ?? 0) - width / 2 : 0);
    const shift = Math.round(exit - (low + high) / 2);
    const outputs = [...ranking.outputs];
    ports.forEach((port, i) => {
      outputs[port] = high + shift + CLEAR + i * STEP;
    });
    return { ...movedBelow(ranking, below, shift), outputs };
  };
}

/** The items below an item. */
export function itemsBelow({ rank }: Ranking, item: number): number[] {
  return rank.flatMap((at, i) => (at > (rank[item] ?? 0) ? [i] : []));
}

/** Where items and their labels begin and end across. */
export function extent({ slots }: Plan, { across }: Ranking, items: number[]): [low: number, high: number] {
  const [starts, ends] = [
    items.map((item) => (across[item] ?? 0) - (slots[item]?.low ?? 0)),
    items.map((item) => (across[item] ?? 0) + (slots[item]?.high ?? 0)),
  ];
  return [Math.min(...starts), Math.max(...ends)];
}

/** Moves items and what leaves at the bottom. */
export function movedBelow(ranking: Ranking, items: number[], shift: number): Ranking {
  const across = ranking.across.map((place, i) => (items.includes(i) ? place + shift : place));
  return { ...ranking, across, outputs: ranking.outputs.map((place) => place + shift) };
}

/** The ports of a column for tensors from the column before. */
function arrivals({ across }: Cut, column: number): number[] {
  return [...new Set(across.filter(({ to }) => to === column).map(({ toPort }) => toPort))];
}

/**
 * Puts tensors from the column before to the left of everything in a column. The column is mirrored if that brings their
 * readers closer.
 */
function leftFirst(made: Cut, column: number): Moved {
  const ports = arrivals(made, column);
  if (ports.length === 0) return (_, ranking) => ranking;
  return (plan, given) => {
    const { slots, wires } = plan;
    const readers = wires
      .filter(({ from, fromPort }) => from === BORDER && ports.includes(fromPort))
      .map(({ to }) => to);
    const isFree = slots.every((slot) => slot.ports === null);
    const other = mirrored(given);
    const ranking = isFree && distance(plan, other, readers) < distance(plan, given, readers) ? other : given;
    const inputs = [...ranking.inputs];
    const others = inputs.filter((_, port) => !ports.includes(port));
    const left = Math.min(...slots.map((slot, i) => (ranking.across[i] ?? 0) - slot.low), ...others);
    ports.forEach((port, i) => {
      inputs[port] = left - CLEAR - i * STEP;
    });
    return { ...ranking, inputs };
  };
}

/** Sum of the distances of items from the left. */
function distance({ slots }: Plan, { across }: Ranking, items: number[]): number {
  const left = Math.min(...slots.map((slot, i) => (across[i] ?? 0) - slot.low));
  return items.reduce((sum, item) => sum + (across[item] ?? 0) - left, 0);
}

/** Whether nothing is to the left of tensors from the column before. */
function isLeftFree(made: Cut, column: number, { boxes, labels, lines, ports }: Geometry): boolean {
  const arriving = arrivals(made, column);
  if (arriving.length === 0) return true;
  const lanes = arriving.map((port) => ports.inputs[port] ?? 0);
  const { wires = [] } = made.parts[column] ?? {};
  const isArriving = (wire: number) => wires[wire]?.from === BORDER && arriving.includes(wires[wire]?.fromPort ?? 0);
  const others = lines.flatMap((line, wire) => (isArriving(wire) ? line.slice(2) : line).map(([x]) => x));
  return Math.min(...others, ...[...boxes, ...labels].map(({ x }) => x)) > Math.max(...lanes);
}

function beside({ ports, across }: Cut, placed: Geometry[]): ColumnBlock {
  // the part around has its own margins
  const offsets = placed.map((_, i) => placed.slice(0, i).reduce((sum, { width }) => sum + width, -MARGIN));
  const tops = placed.map(({ boxes }) => Math.min(...boxes.map(({ y }) => y)));
  // the space above all columns belongs to the part around them
  const spare = Math.min(...placed.map((column, i) => headOf(column) + Math.max(...tops) - (tops[i] ?? 0)));
  const drops = tops.map((top) => Math.max(...tops) - top - spare);
  const levels = across.map(({ from }, i) => {
    const before = across.slice(0, i).filter((other) => other.from === from).length;
    return (placed[from]?.height ?? 0) + before * STEP;
  });
  const at = (side: "inputs" | "outputs") =>
    ports[side].map(({ column, port }) => (offsets[column] ?? 0) + (placed[column]?.ports[side][port] ?? 0));
  return {
    ...{ placed, offsets, drops, levels, ports: { inputs: at("inputs"), outputs: at("outputs") } },
    width: placed.reduce((sum, { width }) => sum + width, -2 * MARGIN),
    height: Math.max(
      ...placed.map((column, i) => (drops[i] ?? 0) + column.height),
      ...levels.map((level, i) => (drops[across[i]?.from ?? 0] ?? 0) + level + GRID),
    ),
  };
}

/** Also aligns the first items below the inputs of the columns. */
function inLine({ parts }: Cut, placed: Geometry[]): Geometry[] {
  const starts = placed.map(({ boxes }, i) => {
    const below = boxes.filter((_, item) => parts[i]?.items[item]?.kind !== "input");
    return { top: Math.min(...boxes.map(({ y }) => y)), start: Math.min(...below.map(({ y }) => y)) };
  });
  const gap = Math.max(...starts.map(({ top, start }) => start - top));
  if (!Number.isFinite(gap) || starts.some(({ top, start }) => top === start)) return placed;
  return placed.map((geometry, i) => {
    const { top, start } = starts[i] ?? { top: 0, start: 0 };
    return stretched(geometry, start - ARRIVAL, gap - (start - top));
  });
}

/** The height at the top of a column where wires only run straight. */
function headOf({ boxes, lines }: Geometry): number {
  const turns = lines.flatMap((line) => line.slice(1).flatMap(([x, y], i) => (x !== line[i]?.[0] ? [y] : [])));
  return Math.min(...boxes.map(({ y }) => y), ...turns);
}

/** Moves everything below the columns so that their join is centred below what it reads. */
function centred({ members, parts }: Cut, join: number | null): Moved {
  const order = members[members.length - 1] ?? [];
  const [block, item] = [order.indexOf(BLOCK), join === null ? BORDER : order.indexOf(join)];
  const { wires = [] } = parts[parts.length - 1] ?? {};
  const read = wires.filter(({ from, to }) => from === block && to === item && item !== BORDER);
  return ({ slots }, ranking) => {
    const { ports, across: width = 0 } = slots[block] ?? {};
    const places = read.map(({ fromPort }) => ports?.outputs[fromPort] ?? 0);
    if (places.length === 0) return ranking;
    const middle = (Math.min(...places) + Math.max(...places)) / 2 - width / 2;
    const shift = Math.round((ranking.across[block] ?? 0) + middle - (ranking.across[item] ?? 0));
    return movedBelow(ranking, itemsBelow(ranking, block), shift);
  };
}
