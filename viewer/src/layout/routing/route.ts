/** Routes the wires of a plan, and positions its rows and labels. */

import { BORDER } from "../../view/frame.js";
import { GLYPH } from "../coord/metrics.js";
import type { Ranking } from "../layering/dot.js";
import { type Exit, LABEL_GAP, LABEL_HEIGHT, labelWidth, type Plan } from "../plan.js";
import { assignLanes } from "./lanes.js";
import { crossing, makeTrips, spreadArrivals, type Trip } from "./ports.js";
import { halves, placeReturns } from "./return_lanes.js";
import { assignTracks, type Channel, corners } from "./tracks.js";

export type Point = readonly [across: number, along: number];

/** Geometry in flow coordinates; `along` starts at 0 after the title. */
export interface Routed {
  /** Item → centre across, start along. */
  places: Point[];
  /** Wire → its polyline, from source to target. */
  lines: Point[][];
  /** `before`: left of its wire instead of right. */
  labels: { across: number; along: number; text: string; net: number; before: boolean; wire?: number }[];
  low: number;
  high: number;
  depth: number;
  /** Length at the start where all wires are straight, so that the title may extend beside them. */
  straight: number;
}

const TRACK_STEP = 8;
/** Distance from a row to the first track, and from the last track to the next row, including the arrowhead. */
export const BEFORE_TRACKS = 8;
export const AFTER_TRACKS = 14;
/** Distance between two rows without tracks, and below labels: an arrowhead and some space. */
export const ROW_GAP = 16;
export const LABEL_AIR = 12;
/** Distance between the border and tracks, and without tracks from the last row to the border. */
export const BORDER_GAP = 10;
export const END_GAP = 8;

/** Route all wires of a plan. */
export function route(plan: Plan, ranking: Ranking): Routed {
  const rows = rowsOf(plan, ranking);
  const trips = makeTrips(plan, ranking, rows.length);
  const returning = halves(plan);
  const onwards = trips.filter(({ wire }) => !returning.has(wire));
  assignLanes(plan, ranking, rows, onwards);
  if (returning.size > 0) placeReturns(plan, ranking.rank, trips, ranking.across);
  spreadArrivals(plan, ranking, trips);
  const channels = assignTracks(trips, rows.length);
  const levels = makeLevels(plan, rows, channels);
  const places = placesIn(plan, ranking, levels);
  const lines = trips.map((trip) => polyline(plan, trip, channels, levels, places));
  const labels = placeLabels(plan, trips, places);
  const straight = (channels[0]?.tracks ?? 0) > 0 ? 0 : (levels.tops[0] ?? 0);
  return { places, lines, labels, depth: levels.depth, straight, ...extent(plan, places, lines, labels) };
}

/** Items are not centred next to one that is longer by this much. */
const MUCH_LONGER = 32;

/** Items are centred in their row; next to long ones, they are at the start or, without sources, at the end, near their use. */
function placesIn(plan: Plan, ranking: Ranking, levels: Levels): Point[] {
  const reached = new Set(plan.wires.map(({ to }) => to));
  return plan.slots.map((slot, i): Point => {
    const row = ranking.rank[i] ?? 0;
    const spare = (levels.heights[row] ?? 0) - slot.along;
    const align = plan.align ?? (spare < MUCH_LONGER ? "center" : reached.has(i) ? "start" : "end");
    const before = { start: 0, center: Math.floor(spare / 2), end: spare }[align];
    return [ranking.across[i] ?? 0, (levels.tops[row] ?? 0) + before];
  });
}

/** Row → its items, in order across the flow. */
export function rowsOf(plan: Plan, ranking: Ranking): number[][] {
  const rows: number[][] = [];
  plan.slots.forEach((_, i) => {
    const rank = ranking.rank[i] ?? 0;
    while (rows.length <= rank) rows.push([]);
    rows[rank]?.push(i);
  });
  for (const row of rows) row.sort((a, b) => (ranking.across[a] ?? 0) - (ranking.across[b] ?? 0));
  return rows;
}

interface Levels {
  tops: number[];
  heights: number[];
  /** Channel → position of its first track. */
  tracks: number[];
  depth: number;
}

function makeLevels(plan: Plan, rows: number[][], channels: Channel[]): Levels {
  const levels: Levels = { tops: [], heights: [], tracks: [], depth: 0 };
  let at = 0;
  channels.forEach((channel, c) => {
    const before = c === 0 ? 0 : rowDepth(plan, rows[c - 1]);
    levels.tracks.push(at + (c === 0 ? BORDER_GAP : before + BEFORE_TRACKS));
    const row = rows[c];
    at += channelDepth(plan, channel, c, rows.length, before) - (c === 0 ? spareBefore(plan, row, channel) : 0);
    if (row === undefined) return;
    levels.tops.push(at);
    const height = Math.max(0, ...row.map((i) => plan.slots[i]?.along ?? 0));
    levels.heights.push(height);
    at += height;
  });
  levels.depth = at;
  return levels;
}

/** Space for the labels below a row. */
function rowDepth(plan: Plan, row: number[] | undefined): number {
  return Math.max(0, ...(row ?? []).map((i) => plan.slots[i]?.labelDepth ?? 0));
}

/** Left to right, open items in the first row need no room for arrowheads, as width is scarce in lines of open containers. */
function spareBefore({ vertical, slots, inputs }: Plan, row: number[] = [], { tracks }: Channel): number {
  const hasArrows = row.some((item) => slots[item]?.ports === null);
  if (vertical || inputs === 0 || hasArrows) return 0;
  return tracks > 0 ? AFTER_TRACKS - BEFORE_TRACKS : AFTER_TRACKS;
}

function channelDepth(plan: Plan, channel: Channel, c: number, rows: number, labels: number): number {
  const tracks = channel.tracks > 0 ? (channel.tracks - 1) * TRACK_STEP : 0;
  if (c === 0) return channel.tracks === 0 && plan.inputs === 0 ? 0 : BORDER_GAP + tracks + AFTER_TRACKS;
  if (c === rows) {
    if (channel.tracks > 0) return labels + BEFORE_TRACKS + tracks + BORDER_GAP;
    return plan.outputs > 0 ? labels + END_GAP : labels;
  }
  if (channel.tracks > 0) return labels + BEFORE_TRACKS + tracks + AFTER_TRACKS;
  return Math.max(ROW_GAP, labels + LABEL_AIR);
}

function polyline(plan: Plan, trip: Trip, channels: Channel[], levels: Levels, places: Point[]): Point[] {
  const wire = plan.wires[trip.wire];
  const source = wire?.from ?? BORDER;
  const target = wire?.to ?? BORDER;
  const begin = source === BORDER ? 0 : (places[source]?.[1] ?? 0) + (plan.slots[source]?.along ?? 0);
  const points: Point[] = [[trip.start, begin]];
  for (let c = trip.from + 1; c <= trip.to; c += 1) {
    const [top, bottom] = crossing(trip, c);
    const turn = channels[c]?.turns.get(trip.net);
    if (turn === undefined || Math.abs(top - bottom) < 0.01) continue;
    const first = levels.tracks[c] ?? 0;
    points.push(...corners(turn, top, bottom).map(([across, track]): Point => [across, first + track * TRACK_STEP]));
  }
  points.push(...arrival(plan, trip, target, levels, places));
  return points;
}

/** The last points: at the border, at the top of a box, or at the side of a round item. */
function arrival(plan: Plan, trip: Trip, target: number, levels: Levels, places: Point[]): Point[] {
  const slot = plan.slots[target];
  const [centre = 0, top = 0] = places[target] ?? [];
  if (target === BORDER || slot === undefined) return [[trip.end, levels.depth]];
  const middle = top + slot.along / 2;
  if (trip.side !== 0) {
    const lane = trip.lane ?? trip.end;
    return [
      [lane, middle],
      [centre + (trip.side * slot.across) / 2, middle],
    ];
  }
  if (!slot.round) return [[trip.end, top]];
  const aside = trip.end - centre;
  return [[trip.end, middle - Math.sqrt(Math.max(0, (GLYPH * GLYPH) / 4 - aside * aside))]];
}

/** One label per tensor, next to the start of its wire (left to right: above it). */
function placeLabels(plan: Plan, trips: Trip[], places: Point[]): Routed["labels"] {
  const labels: Routed["labels"] = [];
  plan.slots.forEach((slot, i) => {
    if (slot.ports !== null) return;
    const along = (places[i]?.[1] ?? 0) + slot.along;
    for (const { start, label, net, before } of labelledExits(slot.exits, trips)) {
      labels.push({ across: start, along, text: label, net, before });
    }
  });
  return labels;
}

/** Labelled exits with their positions; a common label is at the rightmost exit, or left of the leftmost. */
function labelledExits(exits: Exit[], trips: Trip[]): (Exit & { start: number; before: boolean })[] {
  const placed = exits
    .map((exit) => {
      const trip = trips.find(({ net }) => net === exit.net);
      return { ...exit, start: trip?.start ?? 0, before: trip?.labelBefore ?? false };
    })
    .sort((a, b) => a.start - b.start);
  const labelled = placed.filter((exit) => exit.label !== "");
  const [first] = placed;
  const last = placed[placed.length - 1];
  if (labelled.length !== 1 || first === undefined || last === undefined) return labelled;
  if (placed.length > 1 && last.returns) return [{ ...first, label: labelled[0]?.label ?? "", before: true }];
  return [{ ...(first.before ? first : last), label: labelled[0]?.label ?? "" }];
}

/** The extent of everything across the flow. Labels count where they are, not where ranking reserved space for them. */
function extent(plan: Plan, places: Point[], lines: Point[][], labels: Routed["labels"]): Pick<Routed, "low" | "high"> {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  const reach = (from: number, to: number) => {
    if (from < low) low = from;
    if (to > high) high = to;
  };
  for (const [i, slot] of plan.slots.entries()) {
    const centre = places[i]?.[0] ?? 0;
    const isWhole = slot.ports !== null || slot.lanes > 0;
    reach(centre - (isWhole ? slot.low : slot.across / 2), centre + (isWhole ? slot.high : slot.across / 2));
  }
  for (const label of labels) reach(...labelReach(plan.vertical, label));
  for (const line of lines) for (const [across] of line) reach(across, across);
  return low <= high ? { low, high } : { low: 0, high: 0 };
}

/** The extent of a label across the flow: top to bottom it is beside its wire, else above it. */
function labelReach(vertical: boolean, { across, text, before }: Routed["labels"][number]): [number, number] {
  if (!vertical) return [across - LABEL_HEIGHT - 2, across];
  const width = LABEL_GAP + labelWidth(text);
  return before ? [across - width, across] : [across, across + width];
}

/** The rectangle of a label on the page, with its upper left corner. */
export function labelBox(
  vertical: boolean,
  across: number,
  along: number,
  text: string,
  before: boolean,
): [x: number, y: number, w: number, h: number] {
  const width = labelWidth(text);
  if (before) return [across - LABEL_GAP - width, along + 2, width, LABEL_HEIGHT];
  return vertical
    ? [across + LABEL_GAP, along + 2, width, LABEL_HEIGHT]
    : [along + LABEL_GAP, across - LABEL_HEIGHT - 2, width, LABEL_HEIGHT];
}
