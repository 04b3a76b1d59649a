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

/** Another part, and the least distance to it. */
interface Neighbour {
  part: Part;
  slack: number;
}

/** An item with its labels, or a track. */
interface Part {
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
const MOST_PARTS = 150;
/** Parts of one row stay aligned if they would differ by less. */
const IN_LINE = 20;
const SAME = 0.01;
/** Clearance across the flow on each side. */
const ASIDE: Readonly<Record<Kind, number>> = { item: 6, label: 2, track: 6, arrival: 6 };

/** Closes the gaps beside long items. */
export function evenly(plan: Plan, ranking: Ranking, routed: Routed): Routed {
  // left to right, distances depend on the lengths of labels
  const isSmall = plan.slots.length + plan.wires.length <= MOST_PARTS;
  if (!plan.vertical || !isSmall || plan.returns.length > 0) return routed;
  const rows = rowsOf(plan, ranking);
  if (rows.every((row) => row.length < 2)) return routed;
  const items = itemsOf(plan, routed);
  const { tracks, points } = tracksOf(plan, routed, items);
  const parts = [...items, ...tracks];
  if (!link(parts)) return routed;
  const toStart = ({ start, kind }: Shape) => Math.max(0, start - Math.max(routed.straight, atStart(plan, kind)));
  const toEnd = ({ end, kind }: Shape) => Math.max(0, routed.depth - end - atEnd(plan, kind));
  const alone = parts.map((part) => [part]);
  settle(alone, FORWARDS, toStart);
  const inRows = rows.flatMap((row) =>
    inLine(row.flatMap((item) => items[item] ?? []).filter(({ isFree }) => !isFree)),
  );
  const groups = [...inRows, ...alone.filter(([part], i) => i >= items.length || part?.isFree)];
  settle(groups, FORWARDS, toStart);
  const end = Math.max(...parts.map((part) => part.shift - least(part, toEnd)));
  settle(
    groups.filter((group) => group.every(({ isLate }) => isLate)),
    BACKWARDS,
    (shape) => end + toEnd(shape),
  );
  return moved(plan, routed, { items, points, end });
}

// -- what moves -------------------------------------------------------------------------------------------------------

function partOf(at: number, isLate: boolean): Part {
  return { shapes: [], at, shift: 0, isLate, isFree: false, before: [], behind: [] };
}

function itemsOf(plan: Plan, { places, labels, lines }: Routed): Part[] {
  const items: Part[] = [];
  const straight = plan.wires.filter((_, wire) => lines[wire]?.length === 2);
  for (const [item, [centre, start]] of places.entries()) {
    const isFree = isNearUse(plan, items, item);
    const part = partOf(start, isFree || leadsOn(straight, items, item));
    part.isFree = isFree;
    const { across = 0, along = 0, ports = null, labelDepth = 0 } = plan.slots[item] ?? {};
    const [low, cards] = [centre - across / 2, ports === null ? 0 : labelDepth];
    part.shapes.push({ kind: "item", low, high: low + across + cards, start, end: start + along + cards });
    items.push(part);
  }
  for (const label of labels) items[ownerOf(plan, label)]?.shapes.push({ kind: "label", ...extentOf(label) });
  return items;
}

/** Whether an item belongs near its use, because it reads nothing or only what exists for it. */
function isNearUse({ wires }: Plan, items: Part[], item: number): boolean {
  const isOnly = (from: number) => wires.every((wire) => wire.from !== from || wire.to === item);
  return wires.every(({ from, to }) => to !== item || (items[from]?.isFree === true && isOnly(from)));
}

/** Whether an item leads straight to the next one, and every item that it follows moves with it. */
function leadsOn(straight: PlanWire[], items: Part[], item: number): boolean {
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

/** Tracks, on which wires run across the flow, and the parts with which the points of wires move. */
function tracksOf(plan: Plan, { lines }: Routed, items: Part[]): { tracks: Part[]; points: (Part | undefined)[][] } {
  const tracks = new Map<string, Part>();
  const nets = plan.wires.map(({ net }) => net);
  const forks = new Set(nets.filter((net, i) => nets.indexOf(net) < i));
  const points = lines.map((line, wire) => {
    const { from, to, net } = plan.wires[wire] ?? { from: BORDER, to: BORDER, net: BORDER };
    const own = line.map((_, i) => items[i === 0 ? from : to]);
    for (const { i, low, high, at } of levelsOf(line)) {
      const isLast = i + 3 === line.length && (i > 1 || !forks.has(net));
      const kind = i + 2 === line.length ? "arrival" : "track";
      const part = kind === "arrival" ? items[to] : trackOf(tracks, `${net} ${at}`, at, isLast);
      part?.shapes.push({ kind, low, high, start: at, end: at });
      own.fill(part, i, i + 2);
    }
    return own;
  });
  return { tracks: [...tracks.values()], points };
}

/** The track with a key; late if it is the last track of all its wires. */
function trackOf(tracks: Map<string, Part>, key: string, at: number, isLast: boolean): Part {
  const track = tracks.get(key) ?? partOf(at, true);
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
function link(parts: Part[]): boolean {
  const shapes = parts.flatMap((part) => part.shapes.map((shape) => ({ part, shape })));
  shapes.sort((a, b) => a.shape.start - b.shape.start);
  for (const [i, one] of shapes.entries()) {
    for (let k = i + 1; k < shapes.length; k += 1) {
      const other = shapes[k];
      if (other === undefined || other.part === one.part || !isBefore(one.shape, other.shape)) continue;
      if (one.part.at >= other.part.at) return false;
      const slack = Math.max(0, other.shape.start - one.shape.end - between(one.shape.kind, other.shape.kind));
      one.part.behind.push({ part: other.part, slack });
      other.part.before.push({ part: one.part, slack });
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
function inLine(row: Part[]): Part[][] {
  const groups: Part[][] = [];
  for (const part of [...row].sort((a, b) => a.shift - b.shift)) {
    const last = groups[groups.length - 1];
    const before = last?.[last.length - 1];
    if (before !== undefined && part.shift - before.shift < IN_LINE) last?.push(part);
    else groups.push([part]);
  }
  return groups;
}

function least({ shapes }: Part, distance: (shape: Shape) => number): number {
  return Math.min(...shapes.map(distance));
}

const startOf = (group: Part[]) => Math.min(...group.map(({ at }) => at));

/** The direction in which parts move, and the property with what precedes them in it. */
const FORWARDS = [1, "before"] as const;
const BACKWARDS = [-1, "behind"] as const;

/** Moves groups as near to one end as possible. */
function settle(
  groups: Part[][],
  [sign, ahead]: typeof FORWARDS | typeof BACKWARDS,
  room: (shape: Shape) => number,
): void {
  for (const group of [...groups].sort((a, b) => sign * (startOf(a) - startOf(b)))) {
    const limits = group.flatMap((part) => [
      -least(part, room),
      ...part[ahead].map(({ part: { shift }, slack }) => sign * shift - slack),
    ]);
    for (const part of group) part.shift = sign * Math.max(...limits);
  }
}

function moved(
  plan: Plan,
  routed: Routed,
  { items, points, end }: { items: Part[]; points: (Part | undefined)[][]; end: number },
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
