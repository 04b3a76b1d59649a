/** Similarity of two items, from 0 to a little above 1. */

import { type DiffItem, isLeaf } from "../items.js";
import { areOfOneFamily, isNumbered, lastPart, shareWord } from "../vocabulary.js";
import { dice, type Hashes } from "./hashes.js";

/** Less similar items are not paired. */
export const LEAST = 0.3;

const MOST_HASHES = 2 ** 26;

export class Similarity {
  readonly #hashes: Hashes;
  readonly #uses: ReadonlyMap<DiffItem, number>;
  readonly #known = new Map<number, number>();

  constructor(hashes: Hashes, uses: ReadonlyMap<DiffItem, number>) {
    this.#hashes = hashes;
    this.#uses = uses;
  }

  /** Equal for equal items. */
  exactly(item: DiffItem): number | undefined {
    return this.#hashes.exact.get(item);
  }

  /** Equal for items that differ only in arguments and sizes. */
  skeletonOf(item: DiffItem): number | undefined {
    return this.#hashes.skeleton.get(item);
  }

  /** Whether two items differ only in arguments and sizes. */
  hasSameSkeleton(before: DiffItem, after: DiffItem): boolean {
    return this.skeletonOf(before) === this.skeletonOf(after);
  }

  isExact(before: DiffItem, after: DiffItem): boolean {
    return this.exactly(before) === this.exactly(after);
  }

  /** Whether the values of both are used alike. */
  isUsedAlike(before: DiffItem, after: DiffItem): boolean {
    return this.#uses.get(before) === this.#uses.get(after);
  }

  useOf(item: DiffItem): number | undefined {
    return this.#uses.get(item);
  }

  ops(item: DiffItem): ReadonlyMap<string, number> {
    return this.#hashes.ops.get(this.#hashes.skeleton.get(item) ?? -1) ?? new Map();
  }

  opsAlike(before: DiffItem, after: DiffItem): number {
    return dice(this.ops(before), this.ops(after));
  }

  /** Adds small amounts for names and uses, which decide between equals. */
  of(before: DiffItem, after: DiffItem): number {
    const structure = this.structure(before, after);
    const bothModules = before.kind === "module" && after.kind === "module";
    if (structure === 0) return bothModules && isSamePlace(before, after) ? LEAST + 0.03 : 0;
    if (bothModules && isOtherThing(before, after)) return 0.2;
    const isAlike = this.isUsedAlike(before, after);
    if (isNumbered(before.name) && isNumbered(after.name)) {
      return structure + (isAlike ? 0.08 : 0) + (numbersMatch(before, after) ? 0.1 : 0);
    }
    // names may be exchanged, so the use of a value says more
    return structure + (isAlike ? 0.2 : 0) + (before.name === after.name ? 0.12 : 0);
  }

  structure(before: DiffItem, after: DiffItem): number {
    if (before.kind === "op" && after.kind === "op") return this.#structure(before, after);
    const key = (this.#hashes.exact.get(before) ?? 0) * MOST_HASHES + (this.#hashes.exact.get(after) ?? 0);
    let found = this.#known.get(key);
    if (found === undefined) {
      found = this.#structure(before, after);
      this.#known.set(key, found);
    }
    return found;
  }

  #structure(before: DiffItem, after: DiffItem): number {
    if (before.kind !== after.kind) return this.#opAndModule(before, after);
    if (this.isExact(before, after)) return 1;
    if (before.kind === "module") return this.#modules(before, after);
    if (before.kind !== "op") return 0.5;
    if (before.label === after.label) return 0.75;
    return areOfOneFamily(before.label, after.label) ? 0.4 : 0;
  }

  /** A function may become an equivalent module. */
  #opAndModule(before: DiffItem, after: DiffItem): number {
    const [op, module] = before.kind === "op" ? [before, after] : [after, before];
    const ops = [...this.ops(module)];
    const [only] = ops;
    if (op.kind !== "op" || module.kind !== "module" || ops.length !== 1 || only?.[1] !== 1) return 0;
    if (only[0] === op.label) return 0.6;
    return areOfOneFamily(only[0], op.label) ? 0.42 : 0;
  }

  #modules(before: DiffItem, after: DiffItem): number {
    if (this.hasSameSkeleton(before, after)) return 0.9;
    const alike = this.opsAlike(before, after);
    if (before.label === after.label) return 0.5 + 0.38 * alike;
    const empty = [before, after].filter((item) => this.ops(item).size === 0).length;
    if (empty > 0) return empty === 2 ? 0.35 : 0;
    if (areOfOneFamily(before.label, after.label)) return Math.max(0.45, 0.25 + 0.6 * alike);
    return alike >= 0.5 ? 0.25 + 0.5 * alike : 0;
  }
}

/** Whether both have the same number in lists, regardless of their names. */
function numbersMatch(before: DiffItem, after: DiffItem): boolean {
  return before.name.match(/\d+$/)?.[0] === after.name.match(/\d+$/)?.[0];
}

/** Whether both have the same name, which is more than a number, but differ. */
function isSamePlace(before: DiffItem, after: DiffItem): boolean {
  const isEmpty = before.label === "Identity" || after.label === "Identity";
  return before.name === after.name && (isEmpty || !isNumbered(before.name));
}

/** Whether layers differ in name and size, such as `q_proj` and `router`. */
function isOtherThing(before: DiffItem, after: DiffItem): boolean {
  if (before.name === after.name || !isLeaf(before) || !isLeaf(after) || before.total === 0) return false;
  if (isNumbered(before.name) || isNumbered(after.name)) return false;
  return before.total !== after.total && !shareWord(lastPart(before.name), lastPart(after.name));
}
