import { append } from "../../graph/append.js";
import { BORDER } from "../../view/frame.js";
import { GLYPH } from "../coord/metrics.js";
import type { Ranking } from "../layering/dot.js";
import type { Plan } from "../plan.js";
import { type Trip, tripsAt } from "./ports.js";

/** Second step of routing: a straight lane for every wire that passes rows, clear of their items. */

/** Gap between a lane and the items it passes. */
const CLEARANCE = 12;
/** Smaller gap for the last segment to a round target, and the smallest length of its arrow. */
const LEAST_CLEARANCE = 8;
const LEAST_ARRIVAL = 10;
/** How far a lane may enter the gap to run straight. */
const SNAP = 5;
/** Distance between lanes. */
const LANE_STEP = 10;
/** Distance between a lane and the start of another wire. */
const EXIT_ROOM = 6;
/** Cost of the left side: residuals prefer the right one. */
const OTHER_SIDE = 64;
/** Cost of arriving from the opposite side, around the wire that arrives from above. */
const AROUND = 64;
/** Within this offset from the centre, a wire prefers neither side. */
const IN_LINE = 12;
/** Cost of an arc on the left, and of a second lane for its tensor. */
const DISORDER = 1e4;
/** Gain of a lane that the tensor already uses. */
const OWN_LANE = 40;
/** Cost of a bend, in px of detour. */
const BEND = 16;
const MAX_SHIFTS = 60;

type Interval = readonly [low: number, high: number];
const UNBOUNDED: Interval = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];

interface Taken {
  at: number;
  from: number;
  to: number;
  net: number;
}

interface Lanes {
  plan: Plan;
  ranking: Ranking;
  /** Row → gaps between its items. */
  gaps: Interval[][];
  /** Exponent k → row → intervals free in 2^k rows from this one on (a sparse table). */
  free: Interval[][][];
  taken: Taken[];
  /** Strip of `LANE_STEP` → the lanes in it. */
  strips: Map<number, Taken[]>;
  /** Row → the trips that start there. */
  leaving: Map<number, Trip[]>;
  /** Last segments of wires that arrive from the side, along their rows. */
  asides: { row: number; low: number; high: number }[];
}

interface Choice {
  at: number;
  side: -1 | 0 | 1;
  cost: number;
}

/** Assign lanes in the order of trips. */
export function assignLanes(plan: Plan, ranking: Ranking, rows: number[][], trips: Trip[]): void {
  const lanes: Lanes = {
    plan,
    ranking,
    gaps: rows.map((row) => gapsOf(plan, ranking, row)),
    free: [],
    taken: [],
    strips: new Map(),
    leaving: new Map(),
    asides: [],
  };
  for (const trip of trips) append(lanes.leaving, trip.from, trip);
  const sidesTaken = new Map<number, Set<number>>();
  const arriving = tripsAt(plan, trips, "to");
  const round = new Set(arriving.flatMap((rivals, i) => (plan.slots[i]?.round ? arrivingAside(rivals) : [])));
  const order = inLaneOrder(
    plan,
    trips.filter((trip) => trip.to > trip.from + 1 || round.has(trip)),
  );
  for (const trip of order) {
    const target = plan.wires[trip.wire]?.to ?? BORDER;
    const sides = sidesTaken.get(target) ?? new Set();
    sidesTaken.set(target, sides);
    const choice = round.has(trip) ? besideRound(lanes, trip, target, sides) : through(lanes, trip);
    if (choice === undefined) continue;
    trip.lane = choice.at;
    trip.side = choice.side;
    sides.add(choice.side);
    take(lanes, { at: choice.at, from: trip.from, to: lastRow(trip, choice.side), net: trip.net });
    if (choice.side !== 0) lanes.asides.push({ row: trip.to, ...stretch(choice.at, ranking.across[target] ?? 0) });
  }
}

function take(lanes: Lanes, lane: Taken): void {
  const strip = Math.floor(lane.at / LANE_STEP);
  lanes.taken.push(lane);
  append(lanes.strips, strip, lane);
}

/** The row where a lane ends; +0.5 if it ends beside its target. */
function lastRow(trip: Trip, side: -1 | 0 | 1): number {
  return trip.to + (side === 0 ? 0 : 0.5);
}

function stretch(a: number, b: number): { low: number; high: number } {
  return { low: Math.min(a, b), high: Math.max(a, b) };
}

/** The wires that arrive from the sides of a round target: all but the trunk or straightest. */
function arrivingAside(rivals: Trip[]): Trip[] {
  const bend = (trip: Trip) => (trip.trunk ? -1 : Math.abs(trip.start - trip.end) + (trip.rail ? 1000 : 0));
  const least = Math.min(...rivals.map(bend));
  return rivals.filter((trip) => bend(trip) > least);
}

/** The gaps of a row from left to right, unbounded at both ends. */
function gapsOf(plan: Plan, ranking: Ranking, row: number[]): Interval[] {
  const gaps: Interval[] = [];
  let low = Number.NEGATIVE_INFINITY;
  for (const item of row) {
    const slot = plan.slots[item];
    const centre = ranking.across[item] ?? 0;
    if (slot === undefined) continue;
    const high = centre - slot.low - CLEARANCE;
    if (high >= low) gaps.push([low, high]);
    low = centre + slot.high + CLEARANCE;
  }
  gaps.push([low, Number.POSITIVE_INFINITY]);
  return gaps;
}

function through(lanes: Lanes, trip: Trip): Choice | undefined {
  const free = freeBetween(lanes, trip.from + 1, trip.to - 1);
  return cheapest(lanes, trip, free, trip.end, 0) ?? outermost(lanes, free);
}

/** A lane right of all others; exists because the last gap is unbounded. */
function outermost(lanes: Lanes, free: Interval[]): Choice {
  const low = free[free.length - 1]?.[0] ?? 0;
  const at = lanes.taken.reduce((most, lane) => Math.max(most, lane.at + LANE_STEP), low);
  return { at, side: 0, cost: Number.POSITIVE_INFINITY };
}

/** Arrive from the cheaper free side, or from above if both are taken. */
function besideRound(lanes: Lanes, trip: Trip, target: number, sides: Set<number>): Choice | undefined {
  const passed = freeBetween(lanes, trip.from + 1, trip.to - 1);
  const centre = lanes.ranking.across[target] ?? 0;
  const choices: Choice[] = [];
  for (const side of [1, -1] as const) {
    if (sides.has(side) || (lanes.plan.dense && side < 0)) continue;
    const wide = (lanes.gaps[trip.to] ?? []).find(
      ([low, high]) => (side === 1 ? low >= centre : high <= centre) && touches(lanes, target, low, high, side),
    );
    const gap = wide ?? narrowGap(lanes, target, side);
    if (gap === undefined) continue;
    const choice = cheapest(lanes, trip, intersect(passed, [gap]), centre, side);
    if (choice !== undefined) choices.push({ ...choice, cost: choice.cost + sideCost(side, trip.start - centre) });
  }
  choices.sort((a, b) => a.cost - b.cost || b.side - a.side);
  if (choices[0] !== undefined) return choices[0];
  return trip.to > trip.from + 1 ? through(lanes, trip) : undefined;
}

function sideCost(side: 1 | -1, offset: number): number {
  if (Math.abs(offset) > IN_LINE) return Math.sign(offset) === side ? 0 : AROUND;
  return side === 1 ? 0 : OTHER_SIDE;
}

/** Whether a gap of the target's row is adjacent to the target. */
function touches(lanes: Lanes, target: number, low: number, high: number, side: 1 | -1): boolean {
  const slot = lanes.plan.slots[target];
  const centre = lanes.ranking.across[target] ?? 0;
  if (slot === undefined) return false;
  const edge = side === 1 ? centre + slot.high + CLEARANCE - low : centre - slot.low - CLEARANCE - high;
  return Math.abs(edge) < 0.01;
}

/** The gap between a round target and its neighbour, if too narrow for a passing lane. */
function narrowGap({ plan, ranking }: Lanes, target: number, side: 1 | -1): Interval | undefined {
  const centre = ranking.across[target] ?? 0;
  const edges = plan.slots.flatMap((slot, i) => {
    const offset = ((ranking.across[i] ?? 0) - centre) * side;
    if (i === target || ranking.rank[i] !== ranking.rank[target] || offset < 0) return [];
    return [offset - (side === 1 ? slot.low : slot.high)];
  });
  const [near, far] = [GLYPH / 2 + LEAST_ARRIVAL, Math.min(...edges) - LEAST_CLEARANCE];
  if (far < near) return undefined;
  return side === 1 ? [centre + near, centre + far] : [centre - far, centre - near];
}

/** Intervals free in all of several rows: two overlapping ranges of the sparse table. */
function freeBetween(lanes: Lanes, first: number, last: number): Interval[] {
  if (last < first) return [UNBOUNDED];
  const power = Math.floor(Math.log2(last - first + 1));
  return intersect(freeFrom(lanes, first, power), freeFrom(lanes, last + 1 - 2 ** power, power));
}

/** Intervals free in 2^power rows, cached. */
function freeFrom(lanes: Lanes, row: number, power: number): Interval[] {
  if (power === 0) return lanes.gaps[row] ?? [UNBOUNDED];
  const made = lanes.free[power] ?? [];
  lanes.free[power] = made;
  const half = power - 1;
  made[row] ??= intersect(freeFrom(lanes, row, half), freeFrom(lanes, row + 2 ** half, half));
  return made[row];
}

/** Intersect two lists of intervals, sorted from left to right. */
function intersect(a: Interval[], b: Interval[]): Interval[] {
  const found: Interval[] = [];
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    const [[low, high], [otherLow, otherHigh]] = [a[i] ?? UNBOUNDED, b[j] ?? UNBOUNDED];
    const [from, to] = [Math.max(low, otherLow), Math.min(high, otherHigh)];
    if (from <= to) found.push([from, to]);
    if (high < otherHigh) i += 1;
    else j += 1;
  }
  return found;
}

function cheapest(lanes: Lanes, trip: Trip, free: Interval[], end: number, side: -1 | 0 | 1): Choice | undefined {
  const own = lanes.taken.filter((lane) => lane.net === trip.net).map((lane) => lane.at);
  // a tensor fanned out to eighty layers has eighty lanes at few positions
  const candidates = new Set([trip.start, end, ...own]);
  const gain = lanes.plan.dense ? DISORDER : OWN_LANE;
  const costOf = (at: number) => {
    const shared = own.some((lane) => Math.abs(lane - at) < 0.5) ? gain : 0;
    const wrong = lanes.plan.dense && at < Math.min(trip.start, end) ? DISORDER : 0;
    return detour(at, trip.start) + (side === 0 ? detour(at, end) : Math.abs(at - end)) - shared + wrong;
  };
  let best: Choice | undefined;
  for (const interval of free) {
    for (const place of candidates) {
      const at = unclashed(lanes, { trip, side, end }, interval, near(place, interval));
      if (at === undefined) continue;
      const cost = costOf(at);
      if (best === undefined || cost < best.cost - 0.01) best = { at, side, cost };
    }
  }
  return best;
}

/** The position itself if inside or nearly: a straight wire is worth a smaller gap. */
function near(place: number, [low, high]: Interval): number {
  return place >= low - SNAP && place <= high + SNAP ? place : Math.min(Math.max(place, low), high);
}

function detour(at: number, place: number): number {
  const distance = Math.abs(at - place);
  return distance < 0.5 ? 0 : distance + BEND;
}

interface Wish {
  trip: Trip;
  side: -1 | 0 | 1;
  end: number;
}

/** The nearest position in an interval with enough distance to lanes of other tensors. */
function unclashed(lanes: Lanes, wish: Wish, [low, high]: Interval, at: number): number | undefined {
  for (let shift = 0; shift < MAX_SHIFTS; shift += 1) {
    for (const sign of shift === 0 ? [1] : at <= low ? [1, -1] : [-1, 1]) {
      const place = at + sign * shift * LANE_STEP;
      if (place >= low - SNAP && place <= high + SNAP && !clashes(lanes, wish, place)) return place;
    }
  }
  return undefined;
}

function clashes(lanes: Lanes, { trip, side, end }: Wish, at: number): boolean {
  const last = lastRow(trip, side);
  const touches = (lane: Taken) =>
    lane.net !== trip.net && Math.abs(lane.at - at) < LANE_STEP - 0.01 && lane.from < last && trip.from < lane.to;
  const strip = Math.floor(at / LANE_STEP);
  const beside = [strip - 1, strip, strip + 1].some((near) => lanes.strips.get(near)?.some(touches));
  if (beside || overExit(lanes, trip, at)) return true;
  if (side === 0) return false;
  const { low, high } = stretch(at, end);
  return lanes.asides.some(
    (other) => other.row === trip.to && other.low < high + LANE_STEP && low < other.high + LANE_STEP,
  );
}

/** Whether a lane would overlap the start of another tensor's wire. */
function overExit(lanes: Lanes, trip: Trip, at: number): boolean {
  const beside = ({ net, start }: Trip) => net !== trip.net && Math.abs(start - at) < EXIT_ROOM;
  return lanes.leaving.get(trip.from)?.some(beside) ?? false;
}

/** The order in which wires get their lanes; the first are innermost. */

/** The trunk first, then short trips, so that longer ones run outside. */
function inLaneOrder(plan: Plan, trips: Trip[]): Trip[] {
  const reach = reachOf(plan, trips);
  const length = ({ from, to }: Trip) => (plan.dense ? from - to : to - from);
  return [...trips].sort(
    (a, b) =>
      Number(b.trunk) - Number(a.trunk) ||
      (reach.get(a.net) ?? 0) - (reach.get(b.net) ?? 0) ||
      length(a) - length(b) ||
      Number(a.rail) - Number(b.rail) ||
      a.wire - b.wire,
  );
}

/** Arc → the length of the longest arc of its tensor: they share a lane, outside the lanes of shorter ones. */
function reachOf({ dense }: Plan, trips: Trip[]): Map<number, number> {
  const longest = new Map<number, number>();
  if (dense) for (const { net, from, to } of trips) longest.set(net, Math.max(longest.get(net) ?? 0, to - from));
  return longest;
}
