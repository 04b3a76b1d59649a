/** Third step of routing: in every channel between rows, a track for each tensor that turns there. */
import { crossing, type Trip } from "./ports.js";

/** A tensor's way through a channel: where it enters and leaves, and the track on which it turns. */
export interface Turn {
  net: number;
  low: number;
  high: number;
  tops: number[];
  bottoms: number[];
  track: number;
  /** Its second half on a lower track, if it was split to break a cycle; starts where the first half ends. */
  rest: Turn | null;
}

export interface Channel {
  turns: Map<number, Turn>;
  tracks: number;
}

/** Largest offset that needs no track. */
const STRAIGHT = 1.5;
/** Smallest distance between lines. */
const APART = 6;

/** Channel `c` lies between rows `c - 1` and `c`; there is one more than there are rows. */
export function assignTracks(trips: Trip[], rows: number): Channel[] {
  const passing: Trip[][] = Array.from({ length: rows + 1 }, () => []);
  for (const trip of trips) for (let c = trip.from + 1; c <= trip.to; c += 1) passing[c]?.push(trip);
  return passing.map((through, channel) => {
    const all = turnsIn(through, channel);
    const turns = all.filter((turn) => turn.high - turn.low > STRAIGHT);
    const placed = turns.length === 0 ? [] : placeOnTracks(turns, all);
    const tracks = placed.reduce((most, turn) => Math.max(most, turn.track + 1), 0);
    return { turns: new Map(turns.map((turn) => [turn.net, turn])), tracks };
  });
}

/** The corners of a turn, each with its track. */
export function corners(turn: Turn, top: number, bottom: number): (readonly [across: number, track: number])[] {
  const { track, rest } = turn;
  const way = (from: number, to: number, at: number) => [[from, at] as const, [to, at] as const];
  const [via = top] = rest?.tops ?? [];
  return rest === null ? way(top, bottom, track) : [...way(top, via, track), ...way(via, bottom, rest.track)];
}

function turnsIn(trips: Trip[], channel: number): Turn[] {
  const ends = new Map<number, [tops: number[], bottoms: number[]]>();
  for (const trip of trips) {
    const [top, bottom] = crossing(trip, channel);
    const [tops, bottoms] = ends.get(trip.net) ?? [[], []];
    ends.set(trip.net, [tops, bottoms]);
    // hundreds of trips of one tensor may share a position
    if (tops[tops.length - 1] !== top) tops.push(top);
    if (bottoms[bottoms.length - 1] !== bottom) bottoms.push(bottom);
  }
  return [...ends].map(([net, [tops, bottoms]]) => turnOf(net, tops, bottoms));
}

function turnOf(net: number, tops: number[], bottoms: number[]): Turn {
  const low = Math.min(...tops, ...bottoms);
  return { net, low, high: Math.max(...tops, ...bottoms), tops, bottoms, track: 0, rest: null };
}

/** Assign tracks in the order with fewest crossings, each the first that is free and below those that must be above. */
function placeOnTracks(turns: Turn[], all: Turn[]): Turn[] {
  const waiting = [...turns].sort(fewestCrossings);
  const columns = new Map(all.map(({ net, tops, bottoms }) => [net, [...tops, ...bottoms]]));
  const placed: Turn[] = [];
  const blocker = (turn: Turn) => waiting.find((other) => other.net !== turn.net && mustBeAbove(other, turn));
  while (waiting.length > 0) {
    const free = waiting.findIndex((turn) => blocker(turn) === undefined);
    const [turn] = waiting.splice(free < 0 ? inCycle(waiting, blocker) : free, 1);
    if (turn === undefined) break;
    if (free < 0) waiting.push(split(turn, columns));
    turn.track = placed.reduce((track, other) => {
      const below = mustBeAbove(other, turn) || overlap(other, turn);
      return below ? Math.max(track, other.track + 1) : track;
    }, 0);
    placed.push(turn);
  }
  return placed;
}

/** Position of a turn on a cycle of turns that must be above each other. */
function inCycle(waiting: Turn[], blocker: (turn: Turn) => Turn | undefined): number {
  const seen = new Set<Turn | undefined>();
  let [at] = waiting;
  while (at !== undefined && !seen.has(at)) {
    seen.add(at);
    at = blocker(at);
  }
  return at === undefined ? 0 : waiting.indexOf(at);
}

/** Split a turn at a free position; shortens it to the upper half and returns the lower. */
function split(turn: Turn, columns: Map<number, number[]>): Turn {
  const taken = [...columns].flatMap(([net, places]) => (net === turn.net ? [] : places));
  const isFree = (at: number) => taken.every((other) => Math.abs(at - other) >= APART);
  const [start = 0] = turn.tops;
  const choices = [start, ...taken.flatMap((at) => [at - APART, at + APART])].filter(isFree);
  const detour = (at: number) => Math.max(turn.low - at, 0, at - turn.high);
  choices.sort((a, b) => detour(a) - detour(b) || Math.abs(a - start) - Math.abs(b - start) || a - b);
  const via = choices[0] ?? start;
  const rest = turnOf(turn.net, [via], turn.bottoms);
  Object.assign(turn, turnOf(turn.net, turn.tops, [via]), { rest });
  columns.get(turn.net)?.push(via);
  return rest;
}

/** Whether `upper` enters where `lower` leaves, so that they would overlap with `lower` above. */
function mustBeAbove(upper: Turn, lower: Turn): boolean {
  return upper.tops.some((top) => lower.bottoms.some((bottom) => Math.abs(top - bottom) < APART));
}

function overlap(a: Turn, b: Turn): boolean {
  return a.low < b.high + APART && b.low < a.high + APART;
}

/** Of the turns to the right, the one that starts rightmost comes first; of those to the left, the leftmost. */
function fewestCrossings(a: Turn, b: Turn): number {
  const rightA = heading(a) >= 0;
  const rightB = heading(b) >= 0;
  if (rightA !== rightB) return rightA ? -1 : 1;
  const first = rightA ? startOf(b) - startOf(a) : startOf(a) - startOf(b);
  return first !== 0 ? first : a.net - b.net;
}

function startOf(turn: Turn): number {
  return turn.tops[0] ?? 0;
}

function heading(turn: Turn): number {
  const top = turn.tops[0] ?? 0;
  return turn.high - top - (top - turn.low);
}
