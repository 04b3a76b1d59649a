/** Pairs the members of two lists in order, for the greatest sum of similarities. */
import { append } from "../../graph/append.js";

export type Pairs = (readonly [number, number])[];

/** Above it, the members that are unique on both sides come first. */
const MOST_CELLS = 90_000;

interface PairingRule<T> {
  /** Equal members under one name. At both ends of the lists they are paired at once. */
  key: (item: T) => string;
  score: (before: T, after: T) => number;
  least: number;
}

export function align<T>(before: readonly T[], after: readonly T[], alike: PairingRule<T>): Pairs {
  const keys = [before.map(alike.key), after.map(alike.key)] as const;
  const ends = Math.min(before.length, after.length);
  let start = 0;
  while (start < ends && keys[0][start] === keys[1][start]) start += 1;
  let end = 0;
  while (end < ends - start && keys[0].at(-1 - end) === keys[1].at(-1 - end)) end += 1;
  const pairs: Pairs = Array.from({ length: start }, (_, i) => [i, i] as const);
  const rest = [before.slice(start, before.length - end), after.slice(start, after.length - end)] as const;
  const inner = rest[0].length * rest[1].length > MOST_CELLS ? byAnchors(...rest, alike) : best(...rest, alike);
  for (const [i, j] of inner) pairs.push([start + i, start + j]);
  for (let i = end; i > 0; i -= 1) pairs.push([before.length - i, after.length - i]);
  return pairs;
}

function best<T>(before: readonly T[], after: readonly T[], { score, least }: PairingRule<T>): Pairs {
  const width = after.length + 1;
  const scores = before.map((x) => Float64Array.from(after, (y) => score(x, y)));
  const sums = new Float64Array((before.length + 1) * width);
  const sum = (i: number, j: number) => sums[i * width + j] ?? 0;
  const paired = (i: number, j: number) => {
    const here = scores[i]?.[j] ?? 0;
    return here < least ? -1 : here + sum(i + 1, j + 1);
  };
  for (let i = before.length - 1; i >= 0; i -= 1) {
    for (let j = after.length - 1; j >= 0; j -= 1) {
      sums[i * width + j] = Math.max(sum(i + 1, j), sum(i, j + 1), paired(i, j));
    }
  }
  const pairs: Pairs = [];
  for (let i = 0, j = 0; i < before.length && j < after.length; ) {
    if (paired(i, j) === sum(i, j)) {
      pairs.push([i, j]);
      i += 1;
      j += 1;
    } else if (sum(i + 1, j) >= sum(i, j + 1)) i += 1;
    else j += 1;
  }
  return pairs;
}

/** Long lists: members that are unique on both sides pair first, and the stretches between are aligned separately. */
function byAnchors<T>(before: readonly T[], after: readonly T[], alike: PairingRule<T>): Pairs {
  const anchors = increasing(uniquePairs(before.map(alike.key), after.map(alike.key)));
  if (anchors.length === 0) return inSteps(before, after, alike);
  const pairs: Pairs = [];
  let [i, j] = [0, 0];
  for (const [a, b] of [...anchors, [before.length, after.length] as const]) {
    for (const [k, l] of align(before.slice(i, a), after.slice(j, b), alike)) pairs.push([i + k, j + l]);
    if (a < before.length) pairs.push([a, b]);
    [i, j] = [a + 1, b + 1];
  }
  return pairs;
}

const STEP = 250;

/** Without unique members, only members at similar positions can pair. */
function inSteps<T>(before: readonly T[], after: readonly T[], alike: PairingRule<T>): Pairs {
  const pairs: Pairs = [];
  for (let at = 0; at < Math.min(before.length, after.length); at += STEP) {
    const inner = best(before.slice(at, at + STEP), after.slice(at, at + STEP), alike);
    for (const [i, j] of inner) pairs.push([at + i, at + j]);
  }
  return pairs;
}

function uniquePairs(before: readonly string[], after: readonly string[]): Pairs {
  const places = [new Map<string, number[]>(), new Map<string, number[]>()] as const;
  [before, after].forEach((keys, side) => {
    keys.forEach((key, i) => {
      append(places[side as 0 | 1], key, i);
    });
  });
  return [...places[0]].flatMap(([key, found]) => {
    const others = places[1].get(key) ?? [];
    const [i] = found;
    const [j] = others;
    return found.length === 1 && others.length === 1 && i !== undefined && j !== undefined ? [[i, j] as const] : [];
  });
}

/** The longest run of pairs in which both sides increase. */
function increasing(pairs: Pairs): Pairs {
  const ends: number[] = [];
  const before: number[] = [];
  pairs.forEach(([, j], index) => {
    let low = 0;
    for (let high = ends.length; low < high; ) {
      const middle = (low + high) >> 1;
      if ((pairs[ends[middle] ?? 0]?.[1] ?? 0) < j) low = middle + 1;
      else high = middle;
    }
    before[index] = ends[low - 1] ?? -1;
    ends[low] = index;
  });
  const found: Pairs = [];
  for (let at = ends.at(-1) ?? -1; at >= 0; at = before[at] ?? -1) found.push(pairs[at] ?? [0, 0]);
  return found.reverse();
}
