/**
 * Finds the arms of a U: a chain goes down to its middle and up again, with a join for each tensor that skips what is
 * between, as in U-Net, the network of a diffusion model or an hourglass. Skips are nested like brackets.
 */
import type { Frame } from "../../../view/frame.js";
import { longestChain, NO_DOMINATOR, nearestCommon } from "../../layering/dominators.js";
import { areNested, areTelling, fusing, type Net, type NetList, skipsOver, wiringOf } from "./skips.js";

/** Items in execution order. */
export interface Arms {
  left: number[];
  /** The last item on the way down, and whether it is between both arms or at the bottom of the left one. */
  fold: number;
  isBetween: boolean;
  right: number[];
  /** The items on every path down and up. */
  chain: number[];
}

/** The owner of an item: neither of two open containers, the first, or the second. */
export const AROUND = -1;
const [FIRST, SECOND] = [0, 1];
/** Fewest items, and fewest blocks, of a U. */
const LEAST_ITEMS = 7;
const LEAST_BLOCKS = 3;
/** Most items after the last join that continue upwards, apart from outputs. */
const LONGEST_TAIL = 4;
/** Most middles that are tried. */
const TRIES = 6;

/** The arms of a frame; null if it is not a U. */
export function armsIn(frame: Frame, owners: readonly number[] = []): Arms | null {
  if (!hasBlocks(frame.items) || frame.wires.some(({ flow }) => flow === "return")) return null;
  const wiring = wiringOf(frame);
  for (const middle of middles(wiring)) {
    const arms = armsAround(frame, wiring, middle, owners);
    if (arms !== null) return arms;
  }
  return null;
}

/** Whether there is enough for both arms and the middle. Ops alone, such as those that sort tokens, are not a U. */
export function hasBlocks(items: Frame["items"]): boolean {
  const blocks = items.filter(({ kind, expandable }) => kind === "module" || kind === "group" || expandable);
  return items.length >= LEAST_ITEMS && blocks.length >= LEAST_BLOCKS;
}

/** The middles of stretches of items that more tensors skip than their neighbours, those with most skips first. */
function middles(wiring: NetList): number[] {
  const depends = dependence(wiring);
  const skipped = skippedBy(wiring, depends);
  const counts = [...new Set(skipped)].filter((over) => over > 1).sort((a, b) => b - a);
  const found: number[] = [];
  for (const least of counts) {
    const rows = rowsOf(skipped, least, depends).filter((row) => row.every((item) => skipped[item] === least));
    found.push(...rows.flatMap((row) => row[(row.length - 1) >> 1] ?? []));
    if (found.length >= TRIES) break;
  }
  return found.slice(0, TRIES);
}

/** Stretches of items that at least so many tensors skip. */
function rowsOf(skipped: number[], least: number, depends: (item: number, on: number) => boolean): number[][] {
  const rows: number[][] = [[]];
  for (const [item, over] of skipped.entries()) {
    const row = rows[rows.length - 1];
    if (over >= least) row?.push(item);
    // an item that depends on nothing in a stretch, such as a layer that embeds a time step, may be in it
    else if (depends(item, row?.[0] ?? NO_DOMINATOR)) rows.push([]);
  }
  return rows.filter(({ length }) => length > 0);
}

/** Item → the number of tensors that it depends on and that skip it; 0 if no join follows, as for the output of a level. */
function skippedBy(wiring: NetList, depends: (item: number, on: number) => boolean): number[] {
  const { count, nets } = wiring;
  const skipped = Array.from({ length: count }, () => 0);
  const joined = joinedLater(wiring);
  for (const { from, readers } of nets) {
    const last = Math.max(...readers);
    for (let item = from + 1; item < last; item += 1)
      if (joined[item] && depends(item, from)) skipped[item] = (skipped[item] ?? 0) + 1;
  }
  return skipped;
}

/** Item → whether it leads to an item that also reads others. */
function joinedLater({ count, sources, readers }: NetList): boolean[] {
  const joined: boolean[] = [];
  for (let item = count - 1; item >= 0; item -= 1)
    joined[item] = (readers[item] ?? []).some((reader) => joined[reader] || new Set(sources[reader]).size > 1);
  return joined;
}

/** Makes a test whether an item is or depends on another one. */
function dependence({ count, sources }: NetList): (item: number, on: number) => boolean {
  const words = Math.ceil(count / 32);
  const bits = new Uint32Array(count * words);
  for (let item = 0; item < count; item += 1) {
    const at = item * words;
    for (const source of sources[item] ?? [])
      for (let i = 0; i < words; i += 1) bits[at + i] = (bits[at + i] ?? 0) | (bits[source * words + i] ?? 0);
    bits[at + (item >> 5)] = (bits[at + (item >> 5)] ?? 0) | (1 << (item & 31));
  }
  return (item, on) => on >= 0 && (((bits[item * words + (on >> 5)] ?? 0) >>> (on & 31)) & 1) === 1;
}

function armsAround(frame: Frame, wiring: NetList, middle: number, owners: readonly number[]): Arms | null {
  const [down, up] = [chainTo(wiring, middle), chainFrom(wiring, middle)];
  const [first = middle] = down;
  const main = reached(wiring, first);
  const chain = [...down, ...up.slice(1)];
  const over = skipsOver(wiring, chain, middle);
  if (over === null) return null;
  const [skips, laterals] = over;
  // a join of branches of several levels is not on the way up
  if (!areNested(skips, new Set(down), laterals.size === 0) || !areTelling(frame, chain, skips)) return null;
  const [start, end] = [
    Math.max(...skips.map(({ from }) => from)),
    Math.min(...skips.flatMap(({ readers }) => readers)),
  ];
  const bottom = chain.filter((item) => item > start && item < end);
  const fold =
    middleOf(
      frame,
      bottom.filter((item) => (owners[item] ?? AROUND) === AROUND),
    ) ?? lastOf(bottom, owners);
  if (fold === undefined) return null;
  const steps = [...main].filter((item) => frame.items[item]?.kind !== "output");
  const last = Math.max(...skips.flatMap(({ readers }) => readers));
  const fused = fusing(wiring, chain, fold, last);
  const isFan = fused < wiring.count;
  // what reads the levels of a container goes below it
  const isAround = (item: number) => isFan && item > last && owners[item] === AROUND && owners.includes(SECOND);
  const tail = isFan ? fused : tailAfter(wiring, up, steps, last);
  const sides = sidesOf(wiring, main, fold, (item) =>
    laterals.has(item) ? "right" : item >= tail || isAround(item) ? "outside" : null,
  );
  const at = (side: Side) => sides.flatMap((one, item) => (one === side ? [item] : []));
  const [left, right] = [at("left"), at("right")];
  if (!areUpright(frame, right) || !isSplit(wiring, sides, skips)) return null;
  return {
    left,
    fold,
    isBetween: (owners[fold] ?? AROUND) === AROUND && isBetween(frame, sides, fold),
    right,
    chain,
  };
}

/** The last item of an encoder. */
function lastOf(items: number[], owners: readonly number[]): number | undefined {
  return items.filter((item) => owners[item] === FIRST).pop();
}

/** The middle item; of two, the one with an inside: a block rather than a downsampling op. */
function middleOf({ items }: Frame, bottom: number[]): number | undefined {
  const [first, second] = [bottom[(bottom.length - 1) >> 1], bottom[bottom.length >> 1]];
  const isBlock = (item = NO_DOMINATOR) => items[item]?.expandable === true || (items[item]?.frame ?? null) !== null;
  return isBlock(second) && !isBlock(first) ? second : first;
}

/** The longest chain of items on every path to one. */
function chainTo({ readers }: NetList, end: number): number[] {
  const leads: boolean[] = [];
  leads[end] = true;
  const wires: { source: number; target: number }[] = [];
  for (let item = end - 1; item >= 0; item -= 1) {
    const onwards = (readers[item] ?? []).filter((reader) => leads[reader]);
    leads[item] = onwards.length > 0;
    for (const reader of onwards) wires.push({ source: end - reader, target: end - item });
  }
  return longestChain(nearestCommon(end + 1, wires))
    .map((place) => end - place)
    .reverse();
}

/** The longest chain of items on every path from one. */
function chainFrom({ count, sources }: NetList, start: number): number[] {
  const follows: boolean[] = [];
  follows[start] = true;
  const wires: { source: number; target: number }[] = [];
  for (let item = start + 1; item < count; item += 1) {
    const before = (sources[item] ?? []).filter((source) => follows[source]);
    follows[item] = before.length > 0;
    for (const source of before) wires.push({ source: source - start, target: item - start });
  }
  return longestChain(nearestCommon(count - start, wires)).map((place) => place + start);
}

/** An item and all items that depend on it. */
function reached({ readers }: NetList, start: number): Set<number> {
  const found = new Set([start]);
  for (const item of found) for (const reader of readers[item] ?? []) found.add(reader);
  return found;
}

/** The first item after the last join that doesn't belong to the right arm; all do if they are few. */
function tailAfter({ count }: NetList, up: readonly number[], steps: readonly number[], last: number): number {
  const [join = count, next = count, start = count] = up.filter((item) => item >= last);
  return steps.filter((item) => item > Math.max(join, last)).length > LONGEST_TAIL ? Math.max(start, next) : count;
}

type Side = "left" | "centre" | "right" | "outside";

/** Item → its arm, unless `known`. Items that both arms read, such as a time embedding, and a long tail are outside. */
function sidesOf(
  { count, readers }: NetList,
  main: ReadonlySet<number>,
  fold: number,
  known: (item: number) => Side | null,
): Side[] {
  const sides: Side[] = [];
  for (let item = count - 1; item >= 0; item -= 1) {
    const at = new Set(readers[item]?.map((reader) => sides[reader] ?? "outside"));
    const [only = "outside"] = at;
    const own = item === fold ? "centre" : item < fold ? "left" : "right";
    const shared = at.size === 1 && only !== "centre" ? only : "outside";
    sides[item] = main.has(item) ? (known(item) ?? own) : shared;
  }
  return sides;
}

/** Whether only skips and the chain lead from one arm to the other, and nothing leads back from outside. */
function isSplit({ nets }: NetList, sides: Side[], skips: Net[]): boolean {
  const skipping = new Set(skips.map(({ from }) => from));
  return nets.every(({ from, readers }) => {
    const to = new Set(readers.map((reader) => sides[reader] ?? "outside"));
    if (sides[from] === "left") return !to.has("outside") && (!to.has("right") || skipping.has(from));
    return sides[from] !== "centre" || !to.has("outside");
  });
}

/** Whether an item has one wire in and one out, so that it fits between the arms. */
function isBetween({ wires }: Frame, sides: Side[], item: number): boolean {
  const [into, out] = [wires.filter(({ to }) => to === item), wires.filter(({ from }) => from === item)];
  const isOne = (ends: typeof wires) => ends.length === 1;
  return (
    isOne(into) &&
    isOne(out) &&
    sides[into[0]?.from ?? NO_DOMINATOR] === "left" &&
    sides[out[0]?.to ?? NO_DOMINATOR] === "right"
  );
}

/** Whether all open items run top to bottom, so that they can be drawn bottom to top. */
function areUpright({ items }: Frame, inside: readonly number[]): boolean {
  return inside.every((item) => {
    const frame = items[item]?.frame ?? null;
    return (
      frame === null ||
      (frame.direction === "TB" &&
        areUpright(
          frame,
          frame.items.map((_, i) => i),
        ))
    );
  });
}
