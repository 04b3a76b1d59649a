/** Third step of routing: in every channel between two rows, one track along the row for each tensor that turns there. */
import { crossing, type Trip } from "./ends.js";

/** One tensor's crossing of a channel: where it comes in, where it goes out, and the track it turns on. */
export interface Turn {
  net: number;
  low: number;
  high: number;
  tops: number[];
  bottoms: number[];
  track: number;
}

export interface Channel {
  turns: Map<number, Turn>;
  tracks: number;
}

/** Straight enough to need no track. */
const STRAIGHT = 1.5;
/** Lines closer than this would touch. */
const APART = 6;

/** Channel `c` lies between rows `c - 1` and `c`; there is one more than there are rows. */
export function assignTracks(trips: Trip[], rows: number): Channel[] {
  return Array.from({ length: rows + 1 }, (_, channel) => {
    const turns = turnsIn(trips, channel);
    placeOnTracks(turns);
    const tracks = turns.reduce((most, turn) => Math.max(most, turn.track + 1), 0);
    return { turns: new Map(turns.map((turn) => [turn.net, turn])), tracks };
  });
}

function turnsIn(trips: Trip[], channel: number): Turn[] {
  const turns = new Map<number, Turn>();
  for (const trip of trips) {
    if (channel <= trip.from || channel > trip.to) continue;
    const [top, bottom] = crossing(trip, channel);
    const turn = turns.get(trip.net) ?? { net: trip.net, low: top, high: top, tops: [], bottoms: [], track: 0 };
    turns.set(trip.net, turn);
    turn.low = Math.min(turn.low, top, bottom);
    turn.high = Math.max(turn.high, top, bottom);
    turn.tops.push(top);
    turn.bottoms.push(bottom);
  }
  return [...turns.values()].filter((turn) => turn.high - turn.low > STRAIGHT);
}

/** First the order that avoids crossings, then the first free track that also keeps what must be above above. */
function placeOnTracks(turns: Turn[]): void {
  const waiting = [...turns].sort(fewestCrossings);
  const placed: Turn[] = [];
  while (waiting.length > 0) {
    const free = waiting.findIndex((turn) => !waiting.some((other) => other !== turn && mustBeAbove(other, turn)));
    // two that want to be above each other: one of them gives way
    const [turn] = waiting.splice(Math.max(0, free), 1);
    if (turn === undefined) return;
    turn.track = placed.reduce((track, other) => {
      const below = mustBeAbove(other, turn) || overlap(other, turn);
      return below ? Math.max(track, other.track + 1) : track;
    }, 0);
    placed.push(turn);
  }
}

/** `upper` comes in where `lower` goes out: with `lower` above, they would run over each other in between. */
function mustBeAbove(upper: Turn, lower: Turn): boolean {
  return upper.tops.some((top) => lower.bottoms.some((bottom) => Math.abs(top - bottom) < APART));
}

function overlap(a: Turn, b: Turn): boolean {
  return a.low < b.high + APART && b.low < a.high + APART;
}

/** Of those going right, the one that starts farther right turns first; of those going left, farther left. */
function fewestCrossings(a: Turn, b: Turn): number {
  const rightA = heading(a) >= 0;
  const rightB = heading(b) >= 0;
  if (rightA !== rightB) return rightA ? -1 : 1;
  const first = rightA ? first0(b) - first0(a) : first0(a) - first0(b);
  return first !== 0 ? first : a.net - b.net;
}

function first0(turn: Turn): number {
  return turn.tops[0] ?? 0;
}

function heading(turn: Turn): number {
  const top = turn.tops[0] ?? 0;
  return turn.high - top - (top - turn.low);
}
