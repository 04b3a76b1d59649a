/** The skips of a U: tensors from its left arm to its right one. */
import { BORDER, type Frame } from "../../../view/frame.js";

/** A tensor and the items that read it; the border counts as the item after all others. */
export interface Net {
  from: number;
  readers: number[];
  label: string;
}

export interface NetList {
  count: number;
  nets: Net[];
  /** Item → the items that it reads, and that read it. */
  sources: number[][];
  readers: number[][];
}

/** From this number on, all skips may have one shape. */
const LEAST_ALIKE = 3;

export function wiringOf({ items, wires }: Frame): NetList {
  const nets = new Map<string, Net>();
  const [sources, readers]: [number[][], number[][]] = [items.map(() => []), items.map(() => [])];
  for (const { from, to, source, label } of wires) {
    const reader = to === BORDER ? items.length : to;
    if (from === BORDER) continue;
    const key = `${from} ${source}`;
    const net = nets.get(key) ?? { from, readers: [], label };
    nets.set(key, net);
    net.readers.push(reader);
    sources[reader]?.push(from);
    readers[from]?.push(reader);
  }
  return { count: items.length, nets: [...nets.values()], sources, readers };
}

/**
 * The tensors from the chain above an item to the chain below it, each with its readers there, and the items between:
 * laterals, such as the 1×1 convolutions of a feature pyramid. Null if one of them also leads elsewhere.
 */
export function skipsOver(
  { nets, sources, readers }: NetList,
  chain: readonly number[],
  middle: number,
): [skips: Net[], laterals: Set<number>] | null {
  const above = new Set(chain.filter((item) => item < middle));
  const below = new Set(chain.filter((item) => item > middle));
  const laterals = new Set<number>();
  const endOf = (reader: number): number => {
    const [next, ...others] = new Set(readers[reader]);
    const isAlone = !chain.includes(reader) && new Set(sources[reader]).size === 1 && others.length === 0;
    const end = isAlone && next !== undefined ? endOf(next) : reader;
    if (end !== reader && below.has(end)) laterals.add(reader);
    return below.has(end) ? end : reader;
  };
  const isJoin = (reader: number) => below.has(reader) || new Set(sources[reader]).size !== 1;
  const over = nets
    .filter(({ from }) => above.has(from))
    .map((net) => ({ ...net, readers: net.readers.map(endOf).filter((reader) => reader > middle) }))
    .sort((a, b) => a.from - b.from);
  const skips = over.filter(({ readers: ends }) => ends.some(isJoin));
  const last = Math.max(...skips.map(({ from }) => from));
  const isWhole = over.every(({ from, readers: ends }) => from > last || ends.every(isJoin));
  return isWhole ? [skips, laterals] : null;
}

/** Whether the tensors are read in the opposite order to that in which they leave the chain, perhaps by one item. */
export function areNested(skips: Net[], chain: ReadonlySet<number>, mayMeet: boolean): boolean {
  const levels = new Map<number, number[]>();
  for (const { from, readers } of skips) levels.set(from, [...(levels.get(from) ?? []), ...readers]);
  const read = [...levels.values()];
  const isInside = (inner: number[], i: number) =>
    Math.max(...inner) <= Math.min(...(read[i] ?? [])) - (mayMeet ? 0 : 1);
  return skips.every(({ from }) => chain.has(from)) && read.slice(1).every(isInside);
}

/** Whether something is computed before at least two levels of different shapes, or before more levels. */
export function areTelling({ items }: Frame, chain: readonly number[], skips: Net[]): boolean {
  const isComputing = (item: number) => items[item]?.kind === "module" || items[item]?.family !== "other";
  const first = Math.min(...chain.filter(isComputing));
  const made = skips.filter(({ from }) => from >= first);
  const levels = new Map(made.map(({ from, label }) => [from, label]));
  return levels.size >= LEAST_ALIKE || (levels.size > 1 && new Set(levels.values()).size > 1);
}

/**
 * The first item that reads several levels of the right arm, such as the concatenation of the outputs of a feature pyramid;
 * the border if there is none.
 */
export function fusing({ count, sources }: NetList, chain: readonly number[], fold: number, last: number): number {
  const levels = new Map<number, number>();
  for (let item = fold; item < count; item += 1) {
    const own = new Set(sources[item]?.flatMap((source) => levels.get(source) ?? []));
    const [level] = chain.includes(item) && item <= last ? [item] : own;
    if (level !== item && own.size > 1) return item;
    if (level !== undefined) levels.set(item, level);
  }
  return count;
}
