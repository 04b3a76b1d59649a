import { BORDER, type Frame, type Wire } from "../../view/frame.js";

/**
 * Towers: chains that depend on different inputs until an item reads both, such as the two encoders of CLIP, the branches of
 * a siamese network, or the encoder and the decoder of T5.
 */

/** Items in columns next to each other, in the order of their inputs. */
export interface Towers {
  columns: number[][];
  /** The item below all columns; null if the last column goes on to the end, as a decoder does. */
  join: number | null;
}

interface Sides {
  sources: ReadonlySet<number>[];
  readers: number[][];
  /** Item → the wires into it, without returns. */
  arriving: Wire[][];
}

/** Most items of a frame that is searched: time grows with their square, and with more no reader sees columns. */
const MOST_ITEMS = 400;

/** The towers of a frame; null if there are none. */
export function towersIn(frame: Frame): Towers | null {
  if (inputsOf(frame) < 2 || frame.items.length > MOST_ITEMS) return null;
  const sides: Sides = { sources: sourcesOf(frame), readers: readersOf(frame), arriving: arrivingAt(frame) };
  for (const [item] of frame.items.entries()) {
    const found = towersAt(frame, sides, item);
    if (found !== null) return found;
  }
  return null;
}

function arrivingAt({ items, wires }: Frame): Wire[][] {
  const arriving: Wire[][] = items.map(() => []);
  for (const wire of wires) if (wire.flow !== "return" && wire.from !== wire.to) arriving[wire.to]?.push(wire);
  return arriving;
}

function inputsOf({ inputs, items }: Frame): number {
  return inputs.length + items.filter(({ kind }) => kind === "input").length;
}

/** The towers that meet at an item. */
function towersAt(frame: Frame, sides: Sides, item: number): Towers | null {
  const meeting = meetingAt(sides, item);
  if (meeting.length < 2) return null;
  const columns = meeting.map((sources) => above(frame, sides, sources, item));
  const [encoder, ...stacks] = columns.filter((column) => column.some((one) => frame.items[one]?.stack));
  if (encoder !== undefined && stacks.length === 0 && leadsToStack(frame, sides, item)) {
    const decoder = beside(frame, sides, encoder);
    if (isDecoder(frame, decoder, item)) return { columns: [encoder, decoder], join: null };
  }
  const large = columns.filter((column) => isLarge(frame, column));
  return large.length > 1 ? { columns: large, join: item } : null;
}

/** Whether an item is a stack or leads to one, as the op that merges image parts into tokens. */
function leadsToStack({ items }: Frame, { readers }: Sides, item: number): boolean {
  const reached = new Set([item]);
  // readers come later
  for (const one of reached) {
    if (items[one]?.stack) return true;
    for (const reader of readers[one] ?? []) reached.add(reader);
  }
  return false;
}

/** Whether a stack starts from its own input or from what a module makes of it, not from position numbers. */
function isDecoder({ items }: Frame, column: number[], stack: number): boolean {
  const before = column.flatMap((i) => (i < stack && items[i]?.kind !== "input" ? [items[i]?.kind] : []));
  return before.length === 0 || before.some((kind) => kind === "module" || kind === "group");
}

/** All items except these and except what both read. */
function beside({ items }: Frame, { readers }: Sides, column: number[]): number[] {
  const shared = new Set(column);
  for (let item = items.length - 1; item >= 0; item -= 1) {
    if (readers[item]?.some((reader) => shared.has(reader))) shared.add(item);
  }
  return items.flatMap((_, i) => (shared.has(i) ? [] : [i]));
}

/** The inputs on which the tensors that an item reads depend, as disjoint sets. */
function meetingAt({ sources, arriving }: Sides, item: number): Set<number>[] {
  let sets: Set<number>[] = [];
  for (const { from, fromPort } of arriving[item] ?? []) {
    const read = from === BORDER ? new Set([fromPort]) : (sources[from] ?? new Set());
    if (read.size === 0) continue;
    const common = sets.filter((set) => [...read].some((one) => set.has(one)));
    sets = [...sets.filter((set) => !common.includes(set)), new Set([...read, ...common.flatMap((set) => [...set])])];
  }
  return sets.sort((a, b) => Math.min(...a) - Math.min(...b));
}

/** The items that depend only on these inputs, with the parameters that only they read. */
function above({ items }: Frame, { sources, readers }: Sides, inputs: Set<number>, join: number): number[] {
  const own = new Set<number>();
  for (let item = items.length - 1; item >= 0; item -= 1) {
    const from = [...(sources[item] ?? [])];
    const to = readers[item] ?? [];
    const isOwn =
      from.length > 0 ? from.every((one) => inputs.has(one)) : to.length > 0 && to.every((one) => own.has(one));
    if (isOwn && item !== join) own.add(item);
  }
  return [...own].reverse();
}

/** Whether items form a tower: a module with an inside, or several modules. */
function isLarge({ items }: Frame, column: number[]): boolean {
  const modules = column.flatMap((i) => items[i] ?? []).filter(({ kind }) => kind === "module" || kind === "group");
  return modules.length > 1 || modules.some(({ expandable, frame }) => expandable || frame !== null);
}

/** Which inputs each item of a frame depends on. */

/** Item → the inputs it depends on: ports of the frame are 0, 1, …, and input items come after them. */
export function sourcesOf({ items, wires, inputs }: Frame): ReadonlySet<number>[] {
  const sources = items.map(({ kind }, i) => new Set(kind === "input" ? [inputs.length + i] : []));
  const onwards = wires.filter(({ from, to, flow }) => flow !== "return" && to !== BORDER && from !== to);
  // items are in execution order
  for (const { from, fromPort, to } of onwards.sort((a, b) => a.to - b.to)) {
    const before = from === BORDER ? [fromPort] : (sources[from] ?? []);
    for (const source of before) sources[to]?.add(source);
  }
  return sources;
}

/** Item → the items that read it; returns don't count. */
export function readersOf({ items, wires }: Frame): number[][] {
  const readers: number[][] = items.map(() => []);
  for (const { from, to, flow } of wires) if (flow !== "return" && to !== BORDER) readers[from]?.push(to);
  return readers;
}
