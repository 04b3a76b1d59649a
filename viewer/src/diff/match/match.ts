/** Pairs the items of two graphs: from the roots down, then what moved. */
import { append } from "../../graph/append.js";
import { type DiffItem, inside, isLeaf, type Side } from "../items.js";
import { isNumbered, lastPart } from "../vocabulary.js";
import { align, type Pairs } from "./align.js";
import { pairsInAnyOrder } from "./any_order.js";
import { pairable } from "./dissolved.js";
import { addHashes, Interner, noHashes } from "./hashes.js";
import { type Uses, usesIn } from "./roles.js";
import { LEAST, Similarity } from "./similarity.js";

/** How many levels below a new container to search its former contents. */
const LEVELS = 3;
const MOST_MODULES = 64;
/** Classes that say nothing about their contents. */
const GENERAL = /^(Sequential|ModuleList|ModuleDict)$/;
/** Pairs with different classes and less similar ops are replaced as a whole. */
const ONE_THING = 0.55;

interface Aligned {
  pairs: Pairs;
  /** Positions in the first list whose pairs are certain. */
  sure: number[];
}

/** Whether an item is a layer with weights whose name is more than a number. */
function isNamedLayer(item: DiffItem): boolean {
  return isLeaf(item) && item.total > 0 && item.call === 1 && !isNumbered(item.name);
}

export class Matching {
  readonly after = new Map<DiffItem, DiffItem>();
  readonly before = new Map<DiffItem, DiffItem>();
  /** Replaced modules of the first graph: nothing inside them is paired. */
  readonly replaced = new Set<DiffItem>();
  readonly similarity: Similarity;
  readonly a: Side;
  readonly b: Side;
  /** Modules of the first graph that were distinguished from siblings by their use. */
  readonly sure = new Set<DiffItem>();
  readonly #named: Map<DiffItem, number>;
  readonly #uses: readonly [Uses, Uses];
  readonly #aligned = new Map<string, Aligned>();

  constructor(a: Side, b: Side) {
    this.a = a;
    this.b = b;
    const interner = new Interner();
    const uses = [usesIn(a, interner), usesIn(b, interner)] as const;
    const levels = uses.map(({ levels: [nearest = new Map()] }) => nearest) as [
      Map<DiffItem, number>,
      Map<DiffItem, number>,
    ];
    const hashes = noHashes();
    addHashes(hashes, a, interner, levels[0]);
    addHashes(hashes, b, interner, levels[1]);
    this.#uses = uses;
    this.#named = hashes.named;
    this.similarity = new Similarity(hashes, new Map([...levels[0], ...levels[1]]));
    this.#match(a.root, b.root);
    this.#recover((item) => this.similarity.exactly(item));
    this.#recover((item) => this.similarity.skeletonOf(item));
    this.#pairNeighbours();
  }

  /** Whether the values of a pair are made by the same ops and used alike. */
  isInSameContext(before: DiffItem, after: DiffItem): boolean {
    const [one, other] = this.#uses;
    return this.similarity.isUsedAlike(before, after) && one.origins(before) === other.origins(after);
  }

  /** Whether two items are paired with each other. */
  isPair(before: DiffItem | null, after: DiffItem | null): boolean {
    return before !== null && after !== null && this.after.get(before) === after;
  }

  #match(before: DiffItem, after: DiffItem): void {
    const waiting: [DiffItem, DiffItem][] = [[before, after]];
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const [x, y] = next;
      if (this.after.has(x) || this.before.has(y)) continue;
      const wrapped = this.#wrapped(x, y);
      if (wrapped !== undefined) waiting.push(wrapped);
      else waiting.push(...this.#pair(x, y));
    }
  }

  /** The actual pair if one of the two contains something like the other. */
  #wrapped(x: DiffItem, y: DiffItem): [DiffItem, DiffItem] | undefined {
    if (x.kind !== "module" || y.kind !== "module" || x.label === y.label) return undefined;
    const inner = this.#likeInside(x, y);
    if (inner !== undefined && !this.before.has(inner)) return [x, inner];
    const outer = this.#likeInside(y, x);
    return outer !== undefined && !this.after.has(outer) ? [outer, y] : undefined;
  }

  #likeInside(item: DiffItem, container: DiffItem): DiffItem | undefined {
    if (this.similarity.ops(item).size === 0) return undefined;
    let level = container.children;
    for (let depth = 0; depth < LEVELS && level.length <= MOST_MODULES; depth += 1) {
      const modules = level.filter(({ kind }) => kind === "module");
      const found = modules.find((inner) => this.#isLike(item, inner, container));
      if (found !== undefined) return found;
      level = modules.flatMap(({ children }) => children);
    }
    return undefined;
  }

  /** A layer isn't in a container that has a smaller layer of its class among others: that factors it. */
  #isLike(item: DiffItem, other: DiffItem, container: DiffItem): boolean {
    if (item.label !== other.label) return false;
    if (isLeaf(item) && item.total !== other.total && other.total !== container.total) return false;
    return (
      this.similarity.hasSameSkeleton(item, other) ||
      (item.size > 3 && this.similarity.opsAlike(item, other) > (GENERAL.test(item.label) ? 0.9 : 0.6))
    );
  }

  #pair(x: DiffItem, y: DiffItem): [DiffItem, DiffItem][] {
    this.after.set(x, y);
    this.before.set(y, x);
    if (x.children.length === 0 || y.children.length === 0) return [];
    const [before, after] = pairable(x.children, y.children);
    const aligned = this.#align(x, y, before, after);
    for (const i of aligned.sure) this.sure.add(before[i] as DiffItem);
    const pairs = aligned.pairs.map(([i, j]) => [before[i] as DiffItem, after[j] as DiffItem] as const);
    if (this.#isReplacement(x, y, pairs)) {
      this.replaced.add(x);
      return [];
    }
    return pairs.map(([i, j]) => [i, j]);
  }

  #isReplacement(x: DiffItem, y: DiffItem, pairs: readonly (readonly [DiffItem, DiffItem])[]): boolean {
    if (x.label === y.label || x.kind !== y.kind || x.parent === null || y.parent === null) return false;
    if (isLeaf(x) !== isLeaf(y)) return true;
    if (this.similarity.opsAlike(x, y) >= ONE_THING) return false;
    const hasWeights = (item: DiffItem) => item.kind === "module" && item.total > 0;
    return !pairs.some(([i, j]) => hasWeights(i) && hasWeights(j) && this.similarity.structure(i, j) >= 0.5);
  }

  /** Positions of children that pair. Equal containers, names included, are aligned once. */
  #align(x: DiffItem, y: DiffItem, before: readonly DiffItem[], after: readonly DiffItem[]): Aligned {
    const key = `${this.#named.get(x)} ${this.#named.get(y)}`;
    let found = this.#aligned.get(key);
    if (found === undefined) {
      found = this.#alignNow(before, after);
      this.#aligned.set(key, found);
    }
    return found;
  }

  #alignNow(before: readonly DiffItem[], after: readonly DiffItem[]): Aligned {
    const rest = [new Set(before.keys()), new Set(after.keys())] as const;
    const pairs = this.#byUse(before, after, rest);
    const sure = pairs.map(([i]) => i);
    const open = [[...rest[0]], [...rest[1]]] as const;
    const [x, y] = [open[0].map((i) => before[i] as DiffItem), open[1].map((j) => after[j] as DiffItem)];
    for (const [i, j] of this.#inOrder(x, y)) {
      const pair = [open[0][i] as number, open[1][j] as number] as const;
      pairs.push(pair);
      rest[0].delete(pair[0]);
      rest[1].delete(pair[1]);
    }
    pairs.push(...pairsInAnyOrder(before, after, rest, this.similarity));
    return { pairs, sure };
  }

  /** Pairs layers of one size that are unique among siblings by their sources and uses: the next ops, or fewer. */
  #byUse(before: readonly DiffItem[], after: readonly DiffItem[], rest: readonly [Set<number>, Set<number>]): Pairs {
    const pairs: Pairs = [];
    for (const level of [0, 1, 2]) {
      const places = [before, after].map((items, side) => {
        const found = new Map<string, number[]>();
        for (const at of rest[side as 0 | 1]) {
          const item = items[at] as DiffItem;
          if (!isNamedLayer(item)) continue;
          const { levels, origins } = this.#uses[side as 0 | 1];
          append(found, `${item.label} ${item.total} ${levels[level]?.get(item)} ${origins(item)}`, at);
        }
        return found;
      });
      for (const [key, [i, ...more]] of places[0] ?? []) {
        const [j, ...others] = places[1]?.get(key) ?? [];
        if (i === undefined || j === undefined || more.length + others.length > 0) continue;
        pairs.push([i, j]);
        rest[0].delete(i);
        rest[1].delete(j);
      }
    }
    return pairs;
  }

  #inOrder(before: readonly DiffItem[], after: readonly DiffItem[]): Pairs {
    const key = (item: DiffItem) => `${this.#named.get(item)} ${item.name}`;
    return align(before, after, { key, score: (x, y) => this.similarity.of(x, y), least: LEAST });
  }

  /** Pairs unpaired modules with equal hashes anywhere, the largest first. */
  #recover(hash: (item: DiffItem) => number | undefined): void {
    const left = this.#leftOver(this.a, this.after, this.replaced);
    const inReplaced = new Set([...this.replaced].flatMap((item) => this.after.get(item) ?? []));
    const candidates = new Map<number | undefined, DiffItem[]>();
    for (const item of this.#leftOver(this.b, this.before, inReplaced)) append(candidates, hash(item), item);
    for (const item of left.sort((x, y) => y.size - x.size || x.position - y.position)) {
      if (this.after.has(item)) continue;
      const best = this.#nearest(item, candidates.get(hash(item)) ?? []);
      if (best !== undefined && this.#isPlausible(item, best)) this.#match(item, best);
    }
  }

  /** The nearest unpaired candidate for an item. */
  #nearest(item: DiffItem, candidates: readonly DiffItem[]): DiffItem | undefined {
    let [nearest, least]: [DiffItem | undefined, number] = [undefined, Number.POSITIVE_INFINITY];
    for (const other of candidates) {
      const far = this.before.has(other) ? least : this.#distance(item, other);
      if (far < least) [nearest, least] = [other, far];
      if (least === 0) break;
    }
    return nearest;
  }

  #leftOver(of: Side, pairs: ReadonlyMap<DiffItem, DiffItem>, closed: ReadonlySet<DiffItem>): DiffItem[] {
    const hidden = new Set([...closed].flatMap((item) => inside(of, item)));
    return of.items.filter(
      (item) =>
        item.kind === "module" &&
        !pairs.has(item) &&
        !hidden.has(item) &&
        (item.total > 0 || this.similarity.ops(item).size > 1),
    );
  }

  /** The distance of two items: first in the tree, then in name and use. */
  #distance(before: DiffItem, after: DiffItem): number {
    return (
      (this.#isNear(before, after) ? 0 : 8) +
      (before.name === after.name ? 0 : 4) +
      (lastPart(before.name) === lastPart(after.name) ? 0 : 2) +
      (this.similarity.isUsedAlike(before, after) ? 0 : 1)
    );
  }

  /** Whether the parents of both are paired. */
  #isNear(before: DiffItem, after: DiffItem): boolean {
    return this.isPair(this.holder(before, this.after), this.holder(after, this.before));
  }

  /** Items that are equal only in skeleton, far away and under another name are different. */
  #isPlausible(before: DiffItem, after: DiffItem): boolean {
    return this.similarity.isExact(before, after) || before.name === after.name || this.#isNear(before, after);
  }

  /** The innermost paired container. */
  holder(item: DiffItem, pairs: ReadonlyMap<DiffItem, DiffItem>): DiffItem | null {
    let at = item.parent;
    while (at !== null && !pairs.has(at)) at = at.parent;
    return at;
  }

  /** Pairs small items that moved with their neighbours. */
  #pairNeighbours(): void {
    const moved = new Map<string, [DiffItem, DiffItem]>();
    for (const [x, y] of this.after) {
      if (x.parent === null || y.parent === null || this.isPair(x.parent, y.parent)) continue;
      moved.set(`${x.parent.position} ${y.parent.position}`, [x.parent, y.parent]);
    }
    for (const [x, y] of moved.values()) {
      const before = x.children.filter((child) => !this.after.has(child));
      const after = y.children.filter((child) => !this.before.has(child));
      for (const [i, j] of this.#inOrder(before, after)) {
        const [one, other] = [before[i] as DiffItem, after[j] as DiffItem];
        if (this.similarity.structure(one, other) >= 0.6) this.#match(one, other);
      }
    }
  }
}
