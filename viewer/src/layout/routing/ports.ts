/** First step of routing: the rows each wire crosses, and where it starts and arrives. */

import { BORDER } from "../../view/frame.js";
import type { Ranking } from "../layering/dot.js";
import { hasTwoLabels, LABEL_GAP, labelWidth, MOST_AROUND_TRUNK, type Plan, type Slot } from "../plan.js";

/** The route of one wire through the rows. Border rows are -1 and the number of rows. */
export interface Trip {
  wire: number;
  net: number;
  /** Rows of source and target. */
  from: number;
  to: number;
  /** Positions across the flow where it starts and arrives. */
  start: number;
  end: number;
  /** Position in the rows between (and in the target's row, if it arrives from the side). */
  lane: number | null;
  /** 1 or -1 if it arrives at a round target from this side, at half its height. */
  side: -1 | 0 | 1;
  trunk: boolean;
  rail: boolean;
  /** Whether the label is left of the start, not right. */
  labelBefore: boolean;
}

/** Positions where a trip enters and leaves a channel. */
export function crossing(trip: Trip, channel: number): readonly [top: number, bottom: number] {
  const top = channel === trip.from + 1 ? trip.start : (trip.lane ?? trip.start);
  const arrives = channel === trip.to && trip.side === 0;
  return [top, arrives ? trip.end : (trip.lane ?? trip.end)];
}

/** Wires with a smaller offset are drawn straight if an end can move. */
const ALMOST = 12;
/** How far a label may exceed its reserved space, from which lanes keep their distance. */
const LABEL_OUTSIDE = 11;
/** Distance of wires from an item's corners. */
const MARGIN = 6;

/** Make the trips of a plan with final starts; `spreadArrivals` refines arrivals at unexpanded items. */
export function makeTrips(plan: Plan, ranking: Ranking, rows: number): Trip[] {
  const trips = plan.wires.map((wire, i): Trip => {
    const from = wire.from === BORDER ? -1 : (ranking.rank[wire.from] ?? 0);
    const to = wire.to === BORDER ? rows : (ranking.rank[wire.to] ?? 0);
    return {
      wire: i,
      net: wire.net,
      from,
      to,
      start: fixedStart(plan, ranking, i) ?? ranking.across[wire.from] ?? 0,
      // returns are the rightmost
      end: fixedEnd(plan, ranking, i) ?? ranking.across[wire.to] ?? Number.POSITIVE_INFINITY,
      lane: null,
      side: 0,
      trunk: wire.trunk,
      rail: wire.rail,
      labelBefore: false,
    };
  });
  const leaving = tripsAt(plan, trips, "from");
  plan.slots.forEach((slot, i) => {
    if (slot.ports === null) spreadExits(plan, ranking, leaving[i] ?? [], slot, i);
  });
  return trips;
}

/** Item → the trips that start (or end) there. */
export function tripsAt(plan: Plan, trips: Trip[], side: "from" | "to"): Trip[][] {
  const found: Trip[][] = plan.slots.map(() => []);
  for (const trip of trips) found[plan.wires[trip.wire]?.[side] ?? BORDER]?.push(trip);
  return found;
}

function fixedStart(plan: Plan, ranking: Ranking, wire: number): number | undefined {
  const { from, fromPort } = plan.wires[wire] ?? { from: 0, fromPort: -1 };
  if (from === BORDER) return ranking.inputs[fromPort];
  return portPlace(plan.slots[from], plan.slots[from]?.ports?.outputs[fromPort], ranking.across[from] ?? 0);
}

/** The position of a wire's target port, at a border or an expanded item; undefined if free. */
function fixedEnd(plan: Plan, ranking: Ranking, wire: number): number | undefined {
  const { to, toPort } = plan.wires[wire] ?? { to: 0, toPort: -1 };
  if (to === BORDER) return ranking.outputs[toPort];
  return portPlace(plan.slots[to], plan.slots[to]?.ports?.inputs[toPort], ranking.across[to] ?? 0);
}

function portPlace(slot: Slot | undefined, offset: number | undefined, centre: number): number | undefined {
  return slot === undefined || offset === undefined ? undefined : centre - slot.across / 2 + offset;
}

/** Spread the exits of an item, one per tensor, ordered by targets. */
function spreadExits(plan: Plan, ranking: Ranking, leaving: Trip[], slot: Slot, item: number): void {
  const centre = ranking.across[item] ?? 0;
  const nets = [...new Set(leaving.map((trip) => trip.net))];
  const aim = new Map(nets.map((net) => [net, meanEnd(leaving.filter((trip) => trip.net === net))]));
  nets.sort((a, b) => (aim.get(a) ?? 0) - (aim.get(b) ?? 0) || a - b);
  const trunk = nets.findIndex((net) => leaving.some((trip) => trip.net === net && trip.trunk));
  const middle = middleExit(slot, nets.length, trunk);
  const places = nets.map((_, i) => centre + (i - middle) * slot.exitStep);
  const preferred = nets.map((net) => portAhead(plan, ranking, leaving, net));
  const rooms = exitRooms(plan.vertical, slot, centre);
  const choices = rooms.map((room) => ({ before: room.before, starts: aligned(preferred, room, slot.exitStep) }));
  const choice = choices.find(({ starts }) => starts !== null) ?? choices[0];
  const starts = nets.length === 1 ? [straightened(plan, ranking, leaving, slot, centre)] : (choice?.starts ?? places);
  nets.forEach((net, i) => {
    for (const trip of leaving) {
      if (trip.net !== net) continue;
      trip.start = starts[i] ?? centre;
      trip.labelBefore = i === 0 && nets.length > 1 && choice?.before === true;
    }
  });
}

/** The index of the exit at the middle of an item: the trunk's if the others have room; may be between two. */
export function middleExit(slot: Slot, count: number, trunk: number): number {
  const half = (count - 1) / 2;
  const reach = slot.across / 2 - MARGIN;
  const fits = (half + Math.abs(trunk - half)) * slot.exitStep <= reach;
  return trunk >= 0 && count <= MOST_AROUND_TRUNK && fits ? trunk : half;
}

interface ExitRoom extends Room {
  /** Whether the first label is left of its wire. */
  before: boolean;
}

/** Ranges of exits that leave space for labels; a common label may be at either end. */
function exitRooms(vertical: boolean, slot: Slot, centre: number): ExitRoom[] {
  const reach = slot.across / 2 - MARGIN;
  const whole = { low: centre - reach, high: centre + reach, step: slot.exitStep };
  const labels = slot.exits.map((exit) => exit.label).filter((label) => label !== "");
  if (!vertical || labels.length === 0) return [{ ...whole, before: false }];
  const text = LABEL_GAP + Math.max(...labels.map(labelWidth)) - LABEL_OUTSIDE;
  const after = { ...whole, high: Math.min(whole.high, centre + slot.high - text), before: false };
  const before = { ...whole, low: Math.max(whole.low, centre - slot.low + text), before: true };
  if (slot.exits.some(({ returns }) => returns) && labels.length === 1) return [before];
  if (hasTwoLabels(slot.exits)) return [{ ...before, high: after.high }];
  return slot.exits.length > 1 && labels.length === 1 ? [after, before] : [after];
}

/** The position of the port that a tensor leads to, if fixed. */
function portAhead(plan: Plan, ranking: Ranking, leaving: Trip[], net: number): number | undefined {
  const own = leaving.filter((trip) => trip.net === net);
  const [ahead] = own.filter((trip) => trip.to === trip.from + 1 || own.length === 1);
  return ahead === undefined ? undefined : fixedEnd(plan, ranking, ahead.wire);
}

interface Room {
  low: number;
  high: number;
  /** Distance between neighbours without a preferred position. */
  step: number;
}

/**
 * Positions for the ends at one item, from left to right: each where its wire runs straight. Ends outside the range are
 * placed next to the others. Null if this is impossible.
 */
function aligned(preferred: (number | undefined)[], room: Room, least: number): number[] | null {
  const inside = preferred.map((position) => position !== undefined && position >= room.low && position <= room.high);
  const first = inside.indexOf(true);
  if (first < 0) return null;
  const found = preferred.map((position) => position ?? 0);
  for (let i = first - 1; i >= 0; i -= 1) found[i] = (found[i + 1] ?? 0) - room.step;
  for (let i = first + 1; i < found.length; i += 1) {
    if (!inside[i]) found[i] = (found[i - 1] ?? 0) + room.step;
  }
  const fits = found.every(
    (place, i) =>
      place >= room.low - 0.01 && place <= room.high + 0.01 && (i === 0 || place - (found[i - 1] ?? 0) >= least - 0.01),
  );
  return fits ? found : null;
}

function meanEnd(trips: Trip[]): number {
  return trips.reduce((sum, trip) => sum + trip.end, 0) / Math.max(1, trips.length);
}

/**
 * Shifts the only exit of an item slightly, so that a wire to a fixed port or a glyph runs straight. If edges are aligned,
 * middles aren't, and wires to narrower items run straight too.
 */
function straightened(plan: Plan, ranking: Ranking, trips: Trip[], slot: Slot, place: number): number {
  for (const trip of trips) {
    const target = plan.wires[trip.wire]?.to ?? BORDER;
    const ahead = plan.slots[target];
    const isNarrower = plan.align !== undefined && trip.to === trip.from + 1 && (ahead?.across ?? 0) < slot.across;
    const middle = ahead?.round || isNarrower ? ranking.across[target] : undefined;
    const end = fixedEnd(plan, ranking, trip.wire) ?? middle;
    const reach = isNarrower ? reachOf(slot, end ?? place, place) : ALMOST;
    if (end !== undefined && Math.abs(end - place) < reach && !trip.rail) return end;
  }
  return place;
}

/** How far the only exit of an item may be from its middle; labels are on the right. */
function reachOf(slot: Slot, end: number, middle: number): number {
  const text = Math.max(...slot.exits.map(({ label }) => (label === "" ? 0 : LABEL_GAP + labelWidth(label))));
  const side = slot.across / 2 - MARGIN;
  return end < middle ? side : Math.max(ALMOST, Math.min(side, slot.high - text));
}

const ARRIVAL_STEP = 12;
/** Smallest distance between arrowheads. */
const LEAST_ARRIVAL_STEP = 8;

/** Spread the arrivals at each unexpanded item, ordered by sources; the trunk keeps the middle. */
export function spreadArrivals(plan: Plan, ranking: Ranking, trips: Trip[]): void {
  const arriving = tripsAt(plan, trips, "to").map((all, i) =>
    plan.slots[i]?.ports === null ? all.filter(({ side }) => side === 0) : [],
  );
  plan.slots.forEach((slot, i) => {
    const here = arriving[i] ?? [];
    const centre = ranking.across[i] ?? 0;
    here.sort((a, b) => (a.lane ?? a.start) - (b.lane ?? b.start) || a.wire - b.wire);
    if (here.length === 1 && here[0] !== undefined)
      arriveAlone(here[0], slot, centre, plan.align === undefined ? ALMOST : slot.across);
    else spreadOver(here, slot, centre);
  });
  for (const [single] of arriving.filter((here) => here.length === 1)) {
    const slot = plan.slots[plan.wires[single?.wire ?? -1]?.to ?? BORDER];
    if (single !== undefined && slot?.round === false && swaps(trips, single)) single.end += ASIDE;
  }
}

/** Offset of the arrival of a wire that swaps positions with another. */
const ASIDE = 8;
/** Ends closer than this coincide. */
const COINCIDENT = 6;

/** Whether a trip swaps positions with another tensor in its last channel, so that they would overlap. */
function swaps(trips: Trip[], trip: Trip): boolean {
  const isNear = (a: number, b: number) => Math.abs(a - b) < COINCIDENT;
  return trips.some((other) => {
    if (other.net === trip.net || other.from >= trip.to || other.to < trip.to) return false;
    const [top, bottom] = crossing(other, trip.to);
    return isNear(top, trip.end) && isNear(bottom, crossing(trip, trip.to)[0]) && !isNear(top, bottom);
  });
}

function arriveAlone(trip: Trip, slot: Slot, centre: number, most: number): void {
  const from = trip.lane ?? trip.start;
  const reach = slot.round ? 0 : Math.min(most, slot.across / 2 - MARGIN);
  trip.end = Math.abs(from - centre) <= reach ? from : centre;
}

function spreadOver(trips: Trip[], slot: Slot, centre: number): void {
  const room = slot.round ? (slot.across * 3) / 4 : slot.across - 2 * MARGIN;
  const trunk = trips.findIndex((trip) => trip.trunk);
  const half = (trips.length - 1) / 2;
  const even = Math.min(ARRIVAL_STEP, room / Math.max(slot.round ? 2 : 1, trips.length - 1));
  // the trunk in the middle, even if one side has more wires
  const uneven = Math.min(even, room / 2 / (half + Math.abs(trunk - half)));
  const keepsMiddle = trunk >= 0 && uneven >= Math.min(even, LEAST_ARRIVAL_STEP);
  const step = keepsMiddle ? uneven : even;
  const middle = keepsMiddle ? trunk : half;
  const places = trips.map((_, i) => centre + (i - middle) * step);
  const preferred = trips.map((trip) => trip.lane ?? trip.start);
  const sides: Room = { low: centre - room / 2, high: centre + room / 2, step };
  const ends = (slot.round ? null : aligned(preferred, sides, Math.min(step, LEAST_ARRIVAL_STEP))) ?? places;
  trips.forEach((trip, i) => {
    trip.end = ends[i] ?? centre;
  });
}
