/** Whether the pair of a module is certain: no other module could be its counterpart. */
import { type DiffItem, isInside } from "../items.js";
import { isNumbered, lastPart } from "../vocabulary.js";
import type { Matching } from "./match.js";

/** With more equal siblings, only names and uses distinguish them. */
const MOST_RIVALS = 64;

export class Certainty {
  readonly #matching: Matching;
  readonly #known = new Map<DiffItem, boolean>();
  readonly #chains = new Map<string, boolean>();
  readonly #beside = new Map<string, readonly DiffItem[]>();

  /** Number of modules of each label and size. */
  #counts: readonly [ReadonlyMap<string, number>, ReadonlyMap<string, number>] | undefined;

  constructor(matching: Matching) {
    this.#matching = matching;
  }

  /** For a paired module of the first graph. Without recursion, as models nest deeply. */
  isCertain(module: DiffItem): boolean {
    const asked: DiffItem[] = [];
    let answer = true;
    for (let x: DiffItem | null = module; x !== null; x = this.#matching.holder(x, this.#matching.after)) {
      const known = this.#known.get(x);
      if (known !== undefined) {
        answer = known;
        break;
      }
      asked.push(x);
    }
    for (const x of asked.reverse()) {
      answer &&= this.#isAlone(x);
      this.#known.set(x, answer);
    }
    return answer;
  }

  /** Whether nothing else in the container could be the counterpart. */
  #isAlone(item: DiffItem): boolean {
    const { after, before, sure } = this.#matching;
    const pair = after.get(item);
    if (pair === undefined) return false;
    if (item.parent === null || pair.parent === null || sure.has(item)) return true;
    const [x, y] = [outermost(item, after), outermost(pair, before)];
    if (x.parent === null || y.parent === null) return true;
    if (!this.#matching.isPair(x.parent, y.parent)) return this.#isOnly(item, pair);
    if (isSameMember(x, y) || this.#isInDissolved(item, pair, [x, y])) return true;
    const rivals = [this.#like(item, x, "a"), this.#like(pair, y, "b")] as const;
    if (rivals[0].length === 1 && rivals[1].length === 1) return true;
    // names may be exchanged, so they only count among modules with equal uses
    if (item.name === pair.name && this.#matching.isInSameContext(item, pair)) return true;
    return this.#areInOneOrder(item, pair, rivals);
  }

  /** Whether both have one number in lists of equal length, one of them in a container that the other side lacks. */
  #isInDissolved(item: DiffItem, pair: DiffItem, [x, y]: readonly [DiffItem, DiffItem]): boolean {
    const isOnlyList = (member: DiffItem, outer: DiffItem, side: string) =>
      member === outer || this.#like(member, outer, side).length === 1;
    return (
      isSameMember(item, pair) &&
      membersBeside(item) === membersBeside(pair) &&
      isOnlyList(item, x, "a") &&
      isOnlyList(pair, y, "b")
    );
  }

  /** Siblings that are, or contain, something that could be taken for an item. */
  #like(item: DiffItem, { parent }: DiffItem, side: string): readonly DiffItem[] {
    const key = `${side} ${parent?.position} ${item.label} ${item.total}`;
    let found = this.#beside.get(key);
    if (found === undefined) {
      found = (parent?.children ?? []).filter((other) => other.kind === "module" && holdsLike(item, other));
      this.#beside.set(key, found);
    }
    return found;
  }

  /** A moved module is certain if neither graph has another of its kind and size. */
  #isOnly(item: DiffItem, pair: DiffItem): boolean {
    const { a, b } = this.#matching;
    this.#counts ??= [counts(a.items), counts(b.items)];
    return this.#counts[0].get(kindOf(item)) === 1 && this.#counts[1].get(kindOf(pair)) === 1;
  }

  /** Equal modules, each computed from the one before, equally many on both sides. */
  #areInOneOrder(
    item: DiffItem,
    pair: DiffItem,
    [one, other]: readonly [readonly DiffItem[], readonly DiffItem[]],
  ): boolean {
    if (one.length !== other.length || one.length > MOST_RIVALS) return false;
    const at = one.findIndex((x) => isInside(item, x));
    if (at !== other.findIndex((y) => isInside(pair, y))) return false;
    return this.#isChain(one, "a", item) && this.#isChain(other, "b", pair);
  }

  #isChain(modules: readonly DiffItem[], side: string, of: DiffItem): boolean {
    const key = `${side} ${modules[0]?.position} ${of.label} ${of.total}`;
    let found = this.#chains.get(key);
    if (found === undefined) {
      found = modules.slice(1).every((next, i) => feeds(modules[i] as DiffItem, next));
      this.#chains.set(key, found);
    }
    return found;
  }
}

/** The module itself, or its ancestor directly inside the innermost paired container. */
function outermost(item: DiffItem, pairs: ReadonlyMap<DiffItem, DiffItem>): DiffItem {
  let at = item;
  while (at.parent !== null && !pairs.has(at.parent)) at = at.parent;
  return at;
}

function holdsLike(item: DiffItem, other: DiffItem): boolean {
  const waiting = [other];
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    if (isLike(item, at)) return true;
    if (at.total >= item.total) waiting.push(...at.children.filter(({ kind }) => kind === "module"));
  }
  return false;
}

function counts(items: readonly DiffItem[]): Map<string, number> {
  const found = new Map<string, number>();
  for (const item of items) {
    if (item.kind === "module" && item.call === 1) found.set(kindOf(item), (found.get(kindOf(item)) ?? 0) + 1);
  }
  return found;
}

function kindOf({ label, total }: DiffItem): string {
  return `${label} ${total}`;
}

function isLike(item: DiffItem, { kind, label, total, call }: DiffItem): boolean {
  return kind === "module" && label === item.label && total === item.total && call === 1;
}

/** Whether both have the same number in a list, regardless of its name. */
function isSameMember(x: DiffItem, y: DiffItem): boolean {
  const number = ({ name }: DiffItem) => /\d+$/.exec(lastPart(name))?.[0];
  return isNumbered(x.name) && isNumbered(y.name) && number(x) === number(y);
}

function membersBeside({ parent, label }: DiffItem): number {
  return (parent?.children ?? []).filter((item) => item.kind === "module" && item.label === label).length;
}

/** Whether a module is computed from another one. */
function feeds(from: DiffItem, to: DiffItem): boolean {
  const end = to.position + to.size;
  const seen = new Set<DiffItem>();
  const waiting = [from, ...descendants(from)];
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    for (const { to: reader } of at.readers) {
      if (isInside(reader, to)) return true;
      if (seen.has(reader) || reader.position >= end) continue;
      seen.add(reader);
      waiting.push(reader);
    }
  }
  return false;
}

function descendants(item: DiffItem): DiffItem[] {
  const found: DiffItem[] = [];
  const waiting = [...item.children];
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    found.push(at);
    waiting.push(...at.children);
  }
  return found;
}
