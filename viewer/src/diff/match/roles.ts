/** The roles of values: they distinguish twins, such as the projections of an attention, regardless of names. */
import { append } from "../../graph/append.js";
import { isWeight, type Json } from "../../graph/graph.js";
import { compare, type DiffItem, type Reader, type Side } from "../items.js";
import { isPermuting, isPlumbing, isReshaping, repeatedValue } from "../vocabulary.js";
import type { Interner } from "./hashes.js";

/** Ops that return their input. */
const PASSING = /^(contiguous|clone|detach|identity|Identity|alias|dropout)$/;
const COMMUTATIVE = /^(add|mul)$/;
/** Ops for which `2` and `[2, 2]` are the same argument. */
const SIZED = /conv|pool|fold|dropout/;
/** Arguments without effect on results. */
const IMMATERIAL = new Set(["inplace", "training"]);
const LEVELS = 3;

/** The whole computation before and after each value, as numbers that are equal for equal computations on both sides. */
export class Roles {
  readonly #before = new Map<DiffItem, number>();
  /** The use of a value, without ops that pass it on. */
  readonly #after = new Map<DiffItem, string[]>();
  readonly #steps = new Map<DiffItem, number>();
  readonly #facts = new Map<DiffItem, string>();
  readonly #side: Side;
  readonly #interner: Interner;
  readonly #outputs: DiffItem[];

  constructor(side: Side, interner: Interner) {
    this.#side = side;
    this.#interner = interner;
    this.#outputs = side.steps.filter(({ kind }) => kind === "output");
    const numbers = new Map<string, number>();
    for (const item of side.steps) {
      const number = numbers.get(item.kind) ?? 0;
      numbers.set(item.kind, number + 1);
      if (item.kind !== "module") this.#before.set(item, this.#beforeOf(item, number));
    }
    for (const item of [...side.steps].reverse()) {
      if (item.kind !== "module") this.#after.set(item, this.#readersOf(item));
    }
  }

  /** The computation of each output, in order. */
  outputs(): string {
    return this.#outputs.map((item) => this.#before.get(item)).join();
  }

  /** Name of a weight → the computation before and after it. No entry if it is unused. */
  ofWeights(): Map<string, string> {
    const uses = new Map<string, string[]>();
    for (const item of this.#side.steps) {
      if (isWeight(item.kind)) {
        for (const { argument, to } of item.readers) append(uses, item.path, this.#use(argument, to));
      }
      for (const [argument, name] of Object.entries(item.weights)) append(uses, name, this.#use(argument, item));
    }
    return new Map([...uses].map(([name, found]) => [name, found.sort(compare).join(";")]));
  }

  #use(argument: string, by: DiffItem): string {
    return `${argument} ${this.#before.get(by)} ${this.#step(argument, by)}`;
  }

  #beforeOf(item: DiffItem, number: number): number {
    if (isPassing(item)) return this.#value(item, 0);
    const sources = item.sources.map(({ argument }, i) => [argument, this.#value(item, i)] as const);
    const parts = COMMUTATIVE.test(item.label)
      ? sources.map(([, value]) => value).sort((a, b) => a - b)
      : sources.map(([argument, value]) => `${portOf(argument)} ${value}`);
    return this.#interner.of(`b${labelOf(item)} ${this.#factsOf(item, number)} ${parts.join()}`);
  }

  /** The label of an item; for inputs, also its number. */
  #factsOf(item: DiffItem, number: number): string {
    if (item.kind === "output") return "";
    if (item.kind === "input") return `${number} ${JSON.stringify([item.shapes, item.dtypes])}`;
    let facts = this.#facts.get(item);
    if (facts === undefined) {
      facts = this.#read(item);
      this.#facts.set(item, facts);
    }
    return facts;
  }

  #read(item: DiffItem): string {
    if (isPermuting(item.label)) return `${permuted(item)} ${item.shapes}`;
    const given = isReshaping(item.label) ? [] : Object.entries(item.arguments);
    const kept = given.flatMap(([name, value]) =>
      value === null || IMMATERIAL.has(name) ? [] : [[name, SIZED.test(item.label) ? repeatedValue(value) : value]],
    );
    const weights = Object.entries(item.weights).map(([name, weight]) => [name, this.#shapeOf(weight)]);
    return JSON.stringify([kept, weights, item.shapes]);
  }

  #shapeOf(weight: string): readonly unknown[] | null {
    return this.#side.parameters.get(weight)?.shape ?? null;
  }

  #value(item: DiffItem, index: number): number {
    const source = item.sources[index];
    const before = source === undefined ? -1 : (this.#before.get(source.from) ?? -1);
    return source === undefined || source.output === 0 ? before : this.#interner.of(`v${before} ${source.output}`);
  }

  #readersOf(item: DiffItem): string[] {
    const found = item.readers.flatMap(({ to, argument, output }) => {
      if (isPassing(to)) return this.#after.get(to) ?? [];
      if (to.kind === "output") return [`output ${this.#outputs.indexOf(to)}`];
      return [`${output} ${this.#step(argument, to)}`];
    });
    return found.sort(compare);
  }

  #step(argument: string, by: DiffItem): string {
    const port = COMMUTATIVE.test(by.label) ? "" : portOf(argument);
    // an op is a step in the use of each value that it reads
    let number = this.#steps.get(by);
    if (number === undefined) {
      const after = (this.#after.get(by) ?? []).join(";");
      number = this.#interner.of(`a${labelOf(by)} ${this.#factsOf(by, 0)} ${after}`);
      this.#steps.set(by, number);
    }
    return `${port} ${number}`;
  }
}

function isPassing({ kind, label, sources, shapes }: DiffItem): boolean {
  const [only, ...others] = sources;
  if (kind !== "op" || only === undefined || others.length > 0) return false;
  return PASSING.test(label) || (isReshaping(label) && String(only.from.shapes[only.output]) === String(shapes[0]));
}

/** One label for one op, however it is called. */
function labelOf({ label }: DiffItem): string {
  return isReshaping(label) ? "reshape" : isPermuting(label) ? "permute" : label;
}

/** Methods and functions name the first argument differently. */
function portOf(argument: string): string {
  return argument === "input" ? "self" : argument;
}

/** For each axis of the output, the axis of the input. */
function permuted({ label, arguments: given, shapes }: DiffItem): string {
  const rank = shapes[0]?.length ?? 0;
  const axis = (value: Json | undefined) => (Number(value) + rank) % rank;
  if (Array.isArray(given.dims)) return given.dims.map(axis).join();
  const [one, other] = [axis(given.dim0 ?? given.axis0), axis(given.dim1 ?? given.axis1)];
  if (Number.isNaN(one) || Number.isNaN(other)) return `${label} ${JSON.stringify(given)}`;
  return Array.from({ length: rank }, (_, i) => (i === one ? other : i === other ? one : i)).join();
}

export interface Uses {
  /** Item → its use in the next three ops, the next two, and the next. */
  levels: readonly Map<DiffItem, number>[];
  /** Module → the ops that made what it reads. */
  origins: (module: DiffItem) => string;
}

/** Op → the use of its value in the next few ops, without rearrangements: alike in similar blocks. */
export function usesIn({ items, steps }: Side, interner: Interner): Uses {
  const readers = directReaders(steps);
  const levels: Map<DiffItem, number>[] = [];
  let uses = new Map<DiffItem, number>();
  for (let level = 0; level < LEVELS; level += 1) {
    const next = new Map<DiffItem, number>();
    for (const [item, found] of readers) {
      const texts = found.map(({ argument, to }) => `${argument} ${to.label} ${uses.get(to) ?? ""}`);
      next.set(item, interner.of(`u${[...new Set(texts)].sort(compare).join()}`));
    }
    uses = next;
    levels.unshift(ofModules(items, uses));
  }
  return { levels, origins: originsOf };
}

/** The ops before a layer, looking through ops that only rearrange. */
function originsOf(module: DiffItem): string {
  const found: string[] = [];
  const waiting = [module, ...module.children].flatMap(({ sources }) => sources);
  for (let at = waiting.pop(); at !== undefined && found.length < MOST_READERS; at = waiting.pop()) {
    const { from } = at;
    if (from.parent === module || isWeight(from.kind)) continue;
    if (passesOn(from)) waiting.push(...from.sources.slice(0, 1));
    else found.push(from.label);
  }
  return [...new Set(found)].sort(compare).join();
}

/** Whether an op returns what it reads, at most in another shape. */
function passesOn({ kind, label }: DiffItem): boolean {
  return kind === "op" && (isPlumbing(label) || PASSING.test(label));
}

/** The use of a module is that of its last value. */
function ofModules(items: readonly DiffItem[], uses: Map<DiffItem, number>): Map<DiffItem, number> {
  const found = new Map(uses);
  for (let i = items.length - 1; i >= 0; i -= 1) {
    const item = items[i] as DiffItem;
    const last = item.kind === "module" ? item.children.at(-1) : undefined;
    const use = last === undefined ? undefined : found.get(last);
    if (use !== undefined) found.set(item, use);
  }
  return found;
}

const MOST_READERS = 12;

/** The ops that compute with a value, looking through ops that only rearrange. */
function directReaders(steps: readonly DiffItem[]): Map<DiffItem, Reader[]> {
  const found = new Map<DiffItem, Reader[]>();
  for (const item of [...steps].reverse()) {
    if (item.kind === "module" || item.kind === "output") continue;
    const readers = item.readers.flatMap((reader) => (passesOn(reader.to) ? (found.get(reader.to) ?? []) : [reader]));
    found.set(item, readers.slice(0, MOST_READERS));
  }
  return found;
}
