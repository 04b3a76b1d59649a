/**
 * An even rhythm. Rows are as long as their longest item, which leaves gaps beside it. Here every item follows what precedes
 * it at the usual distance. Only distances along the flow change, not the order, so that no new overlaps or crossings
 * arise.
 */
import { BORDER } from "../../view/frame.js";
import type { Ranking } from "../layering/dot.js";
import { LABEL_HEIGHT, type Plan, type PlanWire } from "../plan.js";
import {
  AFTER_TRACKS,
  BEFORE_TRACKS,
  BORDER_GAP,
  END_GAP,
  LABEL_AIR,
  labelBox,
  type Point,
  ROW_GAP,
  type Routed,
  rowsOf,
} from "./route.js";

/** `arrival`: where a wire reaches the side of a round item. */
type Kind = "item" | "label" | "track" | "arrival";

/** A rectangle that moves along the flow. */
interface Shape {
  kind: Kind;
  low: number;
  high: number;
  start: number;
  end: number;
}

/** Another movable, and the least distance to it. */
interface Neighbour {
  movable: Movable;
  slack: number;
}

/** An item with its labels, or a track. */
interface Movable {
  shapes: Shape[];
  /** Where it starts, and how far it moves from there. */
  at: number;
  shift: number;
  /** Whether it belongs near what follows it. */
  isLate: boolean;
  /** Whether only the start precedes it. */
  isFree: boolean;
  before: Neighbour[];
  behind: Neighbour[];
}

/** Frames with more items and wires keep their rows: time grows with the square. */
const MOST_MOVABLES = 150;
/** Parts of one row stay aligned if they would differ by less. */
const IN_LINE = 20;
const SAME = 0.01;
/** Clearance across the flow on each side. */
const ASIDE: Readonly<Record<Kind, number>> = { item: 6, label: 2, track: 6, arrival: 6 };

/** Closes the gaps beside long items. */
export function evenly(plan: Plan, ranking: Ranking, routed: Routed): Routed {
  // left to right, distances depend on the lengths of labels
  const isSmall = plan.slots.length + plan.wires.length <= MOST_MOVABLES;
  if (!plan.vertical || !isSmall || plan.returns.length > 0) return routed;
  const rows = rowsOf(plan, ranking);
  if (rows.every((row) => row.length < 2)) return routed;
  const items = itemsOf(plan, routed);
  const { tracks, points } = tracksOf(plan, routed, items);
  const movables = [...items, ...tracks];
  if (!link(movables)) return routed;
  const toStart = ({ start, kind }: Shape) => Math.max(0, start - Math.max(routed.straight, atStart(plan, kind)));
  const toEnd = ({ end, kind }: Shape) => Math.max(0, routed.depth - end - atEnd(plan, kind));
  const alone = movables.map((movable) => [movable]);
  settle(alone, FORWARDS, toStart);
  const inRows = rows.flatMap((row) =>
    inLine(row.flatMap((item) => items[item] ?? []).filter(({ isFree }) => !isFree)),
  );
  const groups = [...inRows, ...alone.filter(([movable], i) => i >= items.length || movable?.isFree)];
  settle(groups, FORWARDS, toStart);
  const end = Math.max(...movables.map((movable) => movable.shift - least(movable, toEnd)));
  settle(
    groups.filter((group) => group.every(({ isLate }) => isLate)),
    BACKWARDS,
    (shape) => end + toEnd(shape),
  );
  return moved(plan, routed, { items, points, end });
}

// -- what moves -------------------------------------------------------------------------------------------------------

function movableAt(at: number, isLate: boolean): Movable {
  return { shapes: [], at, shift: 0, isLate, isFree: false, before: [], behind: [] };
}

function itemsOf(plan: Plan, { places, labels, lines }: Routed): Movable[] {
  const items: Movable[] = [];
  const straight = plan.wires.filter((_, wire) => lines[wire]?.length === 2);
  for (const [item, [centre, start]] of places.entries()) {
    const isFree = isNearUse(plan, items, item);
    const movable = movableAt(start, isFree || leadsOn(straight, items, item));
    movable.isFree = isFree;
    const { across = 0, along = 0, ports = null, labelDepth = 0 } = plan.slots[item] ?? {};
    const [low, cards] = [centre - across / 2, ports === null ? 0 : labelDepth];
    movable.shapes.push({ kind: "item", low, high: low + across + cards, start, end: start + along + cards });
    items.push(movable);
  }
  for (const label of labels) items[ownerOf(plan, label)]?.shapes.push({ kind: "label", ...extentOf(label) });
  return items;
}

/** Whether an item belongs near its use, because it reads nothing or only what exists for it. */
function isNearUse({ wires }: Plan, items: Movable[], item: number): boolean {
  const isOnly = (from: number) => wires.every((wire) => wire.from !== from || wire.to === item);
  return wires.every(({ from, to }) => to !== item || (items[from]?.isFree === true && isOnly(from)));
}

/** Whether an item leads straight to the next one, and every item that it follows moves with it. */
function leadsOn(straight: PlanWire[], items: Movable[], item: number): boolean {
  const follows = straight.some(({ from, to }) => to === item && items[from]?.isLate !== true);
  return !follows && straight.some(({ from, to }) => from === item && to !== BORDER);
}

/** The item of a label. */
function ownerOf({ wires }: Plan, label: Routed["labels"][number]): number {
  return wires.find(({ net }) => net === label.net)?.from ?? BORDER;
}

function extentOf({ across, along, text, before }: Routed["labels"][number]): Omit<Shape, "kind"> {
  const [low, , width] = labelBox(true, across, along, text, before);
  return { low, high: low + width, start: along, end: along + LABEL_HEIGHT };
}

/** Tracks, on which wires run across the flow, and the movables with which the points of wires move. */
function tracksOf(
  plan: Plan,
  { lines }: Routed,
  items: Movable[],
): { tracks: Movable[]; points: (Movable | undefined)[][] } {
  const tracks = new Map<string, Movable>();
  const nets = plan.wires.map(({ net }) => net);
  const forks = new Set(nets.filter((net, i) => nets.indexOf(net) < i));
  const points = lines.map((line, wire) => {
    const { from, to, net } = plan.wires[wire] ?? { from: BORDER, to: BORDER, net: BORDER };
    const own = line.map((_, i) => items[i === 0 ? from : to]);
    for (const { i, low, high, at } of levelsOf(line)) {
      const isLast = i + 3 === line.length && (i > 1 || !forks.has(net));
      const kind = i + 2 === line.length ? "arrival" : "track";
      const movable = kind === "arrival" ? items[to] : trackOf(tracks, `${net} ${at}`, at, isLast);
      movable?.shapes.push({ kind, low, high, start: at, end: at });
      own.fill(movable, i, i + 2);
    }
    return own;
  });
  return { tracks: [...tracks.values()], points };
}

/** The track with a key; late if it is the last track of all its wires. */
function trackOf(tracks: Map<string, Movable>, key: string, at: number, isLast: boolean): Movable {
  const track = tracks.get(key) ?? movableAt(at, true);
  tracks.set(key, track);
  track.isLate &&= isLast;
  return track;
}

/** The segments of a line across the flow, and the indices of their first points. */
function levelsOf(line: readonly Point[]): { i: number; low: number; high: number; at: number }[] {
  return line.slice(1).flatMap(([across, along], i) => {
    const [before, at] = line[i] ?? [across, along];
    if (Math.abs(at - along) > SAME) return [];
    return [{ i, low: Math.min(before, across), high: Math.max(before, across), at }];
  });
}

/** Finds what precedes what; false if there is no order. */
function link(movables: Movable[]): boolean {
  const shapes = movables.flatMap((movable) => movable.shapes.map((shape) => ({ movable, shape })));
  shapes.sort((a, b) => a.shape.start - b.shape.start);
  for (const [i, one] of shapes.entries()) {
    for (let k = i + 1; k < shapes.length; k += 1) {
      const other = shapes[k];
      if (other === undefined || other.movable === one.movable || !isBefore(one.shape, other.shape)) continue;
      if (one.movable.at >= other.movable.at) return false;
      const slack = Math.max(0, other.shape.start - one.shape.end - between(one.shape.kind, other.shape.kind));
      one.movable.behind.push({ movable: other.movable, slack });
      other.movable.before.push({ movable: one.movable, slack });
    }
  }
  return true;
}

function isBefore(one: Shape, other: Shape): boolean {
  const aside = ASIDE[one.kind] + ASIDE[other.kind];
  return other.start > one.end - SAME && one.low < other.high + aside && other.low < one.high + aside;
}

/** The usual distances. */
function between(one: Kind, other: Kind): number {
  if (other === "track") return BEFORE_TRACKS;
  return one === "track" || other === "arrival" ? AFTER_TRACKS : one === "label" ? LABEL_AIR : ROW_GAP;
}

function atStart({ inputs }: Plan, kind: Kind): number {
  return kind === "track" ? BORDER_GAP : inputs === 0 ? 0 : BORDER_GAP + AFTER_TRACKS;
}

function atEnd({ outputs }: Plan, kind: Kind): number {
  return kind === "track" ? BORDER_GAP : outputs === 0 ? 0 : END_GAP;
}

// -- where it moves ---------------------------------------------------------------------------------------------------

/** Groups of a row that stay aligned because they move about equally far. */
function inLine(row: Movable[]): Movable[][] {
  const groups: Movable[][] = [];
  for (const movable of [...row].sort((a, b) => a.shift - b.shift)) {
    const last = groups[groups.length - 1];
    const before = last?.[last.length - 1];
    if (before !== undefined && movable.shift - before.shift < IN_LINE) last?.push(movable);
    else groups.push([movable]);
  }
  return groups;
}

function least({ shapes }: Movable, distance: (shape: Shape) => number): number {
  return Math.min(...shapes.map(distance));
}

const startOf = (group: Movable[]) => Math.min(...group.map(({ at }) => at));

/** The direction in which movables move, and the property with what precedes them in it. */
const FORWARDS = [1, "before"] as const;
const BACKWARDS = [-1, "behind"] as const;

/** Moves groups as near to one end as possible. */
function settle(
  groups: Movable[][],
  [sign, ahead]: typeof FORWARDS | typeof BACKWARDS,
  room: (shape: Shape) => number,
): void {
  for (const group of [...groups].sort((a, b) => sign * (startOf(a) - startOf(b)))) {
    const limits = group.flatMap((movable) => [
      -least(movable, room),
      ...movable[ahead].map(({ movable: { shift }, slack }) => sign * shift - slack),
    ]);
    for (const movable of group) movable.shift = sign * Math.max(...limits);
  }
}

function moved(
  plan: Plan,
  routed: Routed,
  { items, points, end }: { items: Movable[]; points: (Movable | undefined)[][]; end: number },
): Routed {
  const { places, lines, labels, depth } = routed;
  const shiftOf = (item: number) => items[item]?.shift ?? 0;
  return {
    ...routed,
    places: places.map(([across, along], item) => [across, along + shiftOf(item)]),
    lines: lines.map((line, wire) =>
      line.map(([across, along], i) => {
        const shift = points[wire]?.[i]?.shift ?? (i === 0 ? 0 : end);
        return [across, along + shift];
      }),
    ),
    labels: labels.map((label) => ({ ...label, along: label.along + shiftOf(ownerOf(plan, label)) })),
    depth: depth + end,
  };
}
