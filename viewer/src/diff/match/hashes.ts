import type { GraphData } from "../../graph/graph.js";
import { compare, type DiffItem, type Side, type Source, side } from "../items.js";
import { isPlumbing } from "../vocabulary.js";

/** Hashes of items, bottom-up: numbers that are equal for equal items on both sides of a comparison. */

/** A number for each text. */
export class Interner {
  readonly #numbers = new Map<string, number>();

  of(text: string): number {
    let number = this.#numbers.get(text);
    if (number === undefined) {
      number = this.#numbers.size;
      this.#numbers.set(text, number);
    }
    return number;
  }
}

export interface Hashes {
  /** Hash of labels and of the wiring of the ops inside. */
  skeleton: Map<DiffItem, number>;
  /** The same with arguments and sizes. */
  exact: Map<DiffItem, number>;
  /** The same with the names inside. */
  named: Map<DiffItem, number>;
  /** Skeleton → how often each op occurs inside, without rearranging ones. */
  ops: Map<number, ReadonlyMap<string, number>>;
}

export function noHashes(): Hashes {
  return { skeleton: new Map(), exact: new Map(), named: new Map(), ops: new Map() };
}

/** Adds the hashes of one side. `uses` distinguishes equal leaves, so that their pairs can be cached by hash. */
export function addHashes(hashes: Hashes, side: Side, interner: Interner, uses: ReadonlyMap<DiffItem, number>): void {
  const wires = wiresIn(side);
  for (let i = side.items.length - 1; i >= 0; i -= 1) {
    const item = side.items[i] as DiffItem;
    const inner = (wires.get(item) ?? []).sort(compare).join();
    const list = (hash: Map<DiffItem, number>) => item.children.map((child) => hash.get(child)).join();
    const facts = JSON.stringify([item.attributes, item.arguments, item.shapes, item.dtypes, item.own]);
    const skeleton = interner.of(`s${item.kind} ${item.label} ${list(hashes.skeleton)} ${inner}`);
    const exact = interner.of(`e${item.kind} ${item.label} ${facts} ${list(hashes.exact)} ${inner}`);
    const names = item.children.map((child) => `${child.name} ${hashes.named.get(child)}`).join();
    hashes.skeleton.set(item, skeleton);
    hashes.exact.set(item, exact);
    hashes.named.set(item, interner.of(`n${exact} ${uses.get(item) ?? ""} ${names}`));
    if (!hashes.ops.has(skeleton)) hashes.ops.set(skeleton, opsIn(item, hashes));
  }
}

function opsIn(item: DiffItem, { ops, skeleton }: Hashes): Map<string, number> {
  const found = new Map<string, number>();
  const add = (label: string, count: number) => found.set(label, (found.get(label) ?? 0) + count);
  if (item.kind === "op" && !isPlumbing(item.label)) add(item.label, 1);
  for (const child of item.children) {
    for (const [label, count] of ops.get(skeleton.get(child) ?? -1) ?? []) add(label, count);
  }
  return found;
}

/** Container → its inner edges, by places relative to it. */
function wiresIn({ items }: Side): Map<DiffItem, string[]> {
  const found = new Map<DiffItem, string[]>();
  for (const item of items) {
    for (const { to, argument } of item.readers) {
      const [holder, start, end] = holderOf(item, to);
      const place = [start.position - holder.position, item.position - start.position];
      place.push(end.position - holder.position, to.position - end.position);
      const known = found.get(holder);
      const wire = `${place.join(" ")} ${argument}`;
      if (known === undefined) found.set(holder, [wire]);
      else known.push(wire);
    }
  }
  return found;
}

/** The innermost container of two items, and its children that hold them. */
function holderOf(from: DiffItem, to: DiffItem): [DiffItem, DiffItem, DiffItem] {
  let [start, end] = [from, to];
  while (start.parent !== end.parent) {
    // the one that begins later is deeper or a sibling: a parent begins before its contents
    if ((start.parent?.position ?? -1) > (end.parent?.position ?? -1)) start = start.parent as DiffItem;
    else end = end.parent as DiffItem;
  }
  return [start.parent as DiffItem, start, end];
}

/** Similarity of two bags of ops, from 0 to 1. */
export function dice(a: ReadonlyMap<string, number>, b: ReadonlyMap<string, number>): number {
  const sum = (bag: ReadonlyMap<string, number>) => [...bag.values()].reduce((total, count) => total + count, 0);
  const total = sum(a) + sum(b);
  let common = 0;
  for (const [label, count] of a) common += Math.min(count, b.get(label) ?? 0);
  return total === 0 ? 1 : (2 * common) / total;
}

/** A normal form for ops that can be written in several ways. */

/** The normal form of a graph. */
export function normalised(data: GraphData): Side {
  const found = side(data);
  for (const item of found.steps) {
    if (item.label === "scaled_dot_product_attention") writeScale(item);
    if (item.label === "cat") leaveOutEmpty(item);
  }
  return found;
}

/** A scale that equals the default counts as omitted. */
function writeScale(item: DiffItem): void {
  const query = item.sources.find(({ argument }) => argument === "query");
  const width = Number(query?.from.shapes[query.output]?.at(-1));
  if (!Number.isNaN(width)) item.arguments = { ...item.arguments, scale: item.arguments.scale ?? width ** -0.5 };
}

/** Concatenation with nothing, such as an empty cache, is dropped. */
function leaveOutEmpty(item: DiffItem): void {
  const isEmpty = ({ from, output }: Source) => from.shapes[output]?.includes(0) ?? false;
  const empty = item.sources.filter(isEmpty);
  if (empty.length === 0) return;
  for (const { from, output } of empty) {
    from.readers = from.readers.filter((reader) => reader.to !== item || reader.output !== output);
  }
  const full = item.sources.filter((source) => !isEmpty(source));
  item.sources = full;
  if (full.length === 1) item.label = "identity";
}
