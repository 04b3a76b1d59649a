/** Facts about modules: added, removed, repeated, renamed, moved, wrapped, replaced, reordered. */

import { familyMatch } from "../../view/labels/family_words.js";
import { type DiffItem, inside, isLeaf } from "../items.js";
import type { Matching } from "../match/match.js";
import { areOfOneFamily, isNumbered, patternOf, stemOf } from "../vocabulary.js";
import { sizesAndArguments } from "./arguments.js";
import { type Facts, NO_PLACE, type Place } from "./facts.js";
import { type Merged, mergedLayers } from "./merged.js";

/** Items reported as a whole: nothing inside is reported again. */
export type Covered = Set<DiffItem>;

export function moduleFacts(matching: Matching, facts: Facts): Covered {
  const covered: Covered = new Set();
  for (const merged of mergedLayers(matching)) mergedFacts(facts, covered, merged);
  const pairs = [...matching.after].filter(([x, y]) => x.kind === "module" && y.kind === "module");
  const sharing = sharingIn(pairs);
  for (const [x, y] of pairs.sort(([, x], [, y]) => x.position - y.position)) {
    if (covered.has(x)) continue;
    placeFacts(matching, facts, sharing, [x, y]);
    const isReplaced = replacement(matching, facts, covered, x, y);
    if (!covered.has(x) || isReplaced) sizesAndArguments(facts, x, y);
  }
  for (const isBefore of [true, false]) unmatched(matching, facts, covered, isBefore);
  reordered(matching, facts);
  renumbered(pairs, matching, facts);
  return covered;
}

function mergedFacts(facts: Facts, covered: Covered, { id, parts, whole, places, items }: Merged): void {
  const names = [parts.map(({ name }) => patternOf(name)), patternOf(whole.name)] as const;
  const values = id === "merged" ? names : ([names[1], names[0]] as const);
  for (const place of places) facts.add(id, whole.label, values, place);
  for (const item of items) covered.add(item);
}

function placeFacts(matching: Matching, facts: Facts, sharing: Sharing, [x, y]: readonly [DiffItem, DiffItem]): void {
  if (x.parent === null || y.parent === null) return;
  const found = sharing(x, y);
  if (found !== null) {
    // the contents of a shared module are shared with it
    const [outer, other] = [matching.holder(x, matching.after), matching.holder(y, matching.before)];
    if (outer === null || other === null || sharing(outer, other) !== found) sharingFact(facts, found, x, y);
  } else if (matching.isPair(x.parent, y.parent)) {
    if (x.name !== y.name && !isShifted(x, y)) facts.add("renamed", "", [patternOf(x.name), patternOf(y.name)], [x, y]);
  } else if (!matching.isPair(matching.holder(x, matching.after), matching.holder(y, matching.before))) {
    if (!matching.isPair(x.parent, y.parent))
      facts.add("moved", x.label, [patternOf(x.path), patternOf(y.path)], [x, y]);
  }
}

/** Once per module: later calls share with the first. */
function sharingFact(facts: Facts, id: "shared" | "unshared", x: DiffItem, y: DiffItem): void {
  const [own, one] = id === "shared" ? [x, y] : [y, x];
  if (own.call === 1) facts.add(id, one.label, NO_PLACE, [x, y]);
}

/** Whether a pair is a module on one side and a call of a module with another counterpart on the other. */
type Sharing = (x: DiffItem, y: DiffItem) => "shared" | "unshared" | null;

function sharingIn(pairs: readonly (readonly [DiffItem, DiffItem])[]): Sharing {
  const [before, after] = [new Map<string, string>(), new Map<string, string>()];
  for (const [x, y] of [...pairs].sort(([, one], [, other]) => one.call - other.call)) {
    if (!after.has(y.path)) after.set(y.path, x.path);
  }
  for (const [x, y] of [...pairs].sort(([one], [other]) => one.call - other.call)) {
    if (!before.has(x.path)) before.set(x.path, y.path);
  }
  return (x, y) => {
    const [isOfX, isOfY] = [before.get(x.path) === y.path, after.get(y.path) === x.path];
    return isOfX === isOfY ? null : isOfX ? "shared" : "unshared";
  };
}

/** Whether two names are members of one list with different numbers. */
function isShifted(x: DiffItem, y: DiffItem): boolean {
  return isNumbered(x.name) && isNumbered(y.name) && stemOf(x.name) === stemOf(y.name);
}

function replacement(matching: Matching, facts: Facts, covered: Covered, x: DiffItem, y: DiffItem): boolean {
  if (x.label === y.label) return false;
  const isWhole = matching.replaced.has(x) || (isLayer(x, y) && !computeAlike(matching, x, y));
  if (!isWhole) {
    facts.add("class", "", [x.label, y.label], [x, y]);
    return false;
  }
  facts.add("replaced", "", [x.label, y.label], [x, y]);
  for (const item of [x, ...inside(matching.a, x)]) covered.add(item);
  for (const item of [y, ...inside(matching.b, y)]) covered.add(item);
  return true;
}

function isLayer(x: DiffItem, y: DiffItem): boolean {
  const isKnown = /activation|normalisation/.test(familyMatch(x.label).family) && areOfOneFamily(x.label, y.label);
  return isKnown || (isLeaf(x) && isLeaf(y));
}

function computeAlike({ similarity }: Matching, x: DiffItem, y: DiffItem): boolean {
  const isOne = x.children.length === 1 && y.children.length === 1;
  return isOne ? x.children[0]?.label === y.children[0]?.label : similarity.opsAlike(x, y) === 1;
}

function unmatched(matching: Matching, facts: Facts, covered: Covered, isBefore: boolean): void {
  const [of, pairs] = isBefore ? [matching.a, matching.after] : [matching.b, matching.before];
  for (const item of of.items) {
    if (item.kind !== "module" || pairs.has(item) || covered.has(item)) continue;
    const within = inside(of, item);
    const isAround = within.some((inner) => inner.kind === "module" && pairs.has(inner));
    if (isAround) facts.add(isBefore ? "unwrapped" : "wrapped", item.label, NO_PLACE, placeOf(item, isBefore));
    else {
      for (const inner of [item, ...within]) covered.add(inner);
      addWithoutCounterpart(matching, facts, item, isBefore);
    }
  }
}

function addWithoutCounterpart(matching: Matching, facts: Facts, item: DiffItem, isBefore: boolean): void {
  if (repeat(matching, facts, item, isBefore)) return;
  facts.add(isBefore ? "removed" : "added", item.label, names(item, isBefore), placeOf(item, isBefore));
}

function placeOf(item: DiffItem, isBefore: boolean): Place {
  return isBefore ? [item, null] : [null, item];
}

function names(item: DiffItem, isBefore: boolean): [string | null, string | null] {
  const name = patternOf(item.name);
  return isBefore ? [name, null] : [null, name];
}

/** If a module without a counterpart is another repeat of several, adds that; whether it is. */
function repeat(matching: Matching, facts: Facts, item: DiffItem, isBefore: boolean): boolean {
  const pairs = isBefore ? matching.after : matching.before;
  const other = item.parent === null ? undefined : pairs.get(item.parent);
  if (item.parent === null || other === undefined) return false;
  const isCall = item.call > 1 || item.parent.children.some((one) => one.path === item.path && pairs.has(one));
  const isMember = isCall ? sameModule(item) : sameList(item);
  const own = item.parent.children.filter(isMember);
  const paired = own.flatMap((member) => pairs.get(member) ?? []).filter(({ parent }) => parent === other);
  const labels = new Set([item.label, ...paired.map(({ label }) => label)]);
  // the list may have another name on the other side
  const lists = paired.map(isCall ? sameModule : (member) => sameList(member, labels));
  const others = other.children.filter((one) => lists.some((isIn) => isIn(one)));
  const alike = paired.some((member) => matching.similarity.opsAlike(member, item) >= 0.75);
  if (!alike || others.length === 0 || own.length <= others.length || (!isCall && item.size < 3)) return false;
  const counts: [number, number] = isBefore ? [own.length, others.length] : [others.length, own.length];
  facts.add(isCall ? "calls" : "repeats", item.label, counts, placeOf(item, isBefore));
  return true;
}

function sameModule({ path }: DiffItem): (item: DiffItem) => boolean {
  return (item) => item.kind === "module" && item.path === path;
}

function sameList(
  { name, label }: DiffItem,
  labels: ReadonlySet<string> = new Set([label]),
): (item: DiffItem) => boolean {
  const stem = stemOf(name);
  return (item) => isNumbered(name) && isNumbered(item.name) && stemOf(item.name) === stem && labels.has(item.label);
}

function reordered(matching: Matching, facts: Facts): void {
  for (const [x, y] of matching.after) {
    const kept = y.children.filter((child) => {
      const pair = matching.before.get(child);
      return child.kind === "module" && child.call === 1 && pair?.parent === x && pair.kind === "module";
    });
    const before = kept.map((child) => matching.before.get(child) as DiffItem);
    const sorted = [...before].sort((one, other) => one.position - other.position);
    if (before.every((item, i) => item === sorted[i])) continue;
    const say = (items: DiffItem[]) => items.map(({ name, label }) => (isNumbered(name) ? label : name));
    facts.add("reordered", y.label, [say(sorted), say(before)], [x, y]);
  }
}

/** Changed numbers in a list that no added, removed or moved member explains. */
function renumbered(pairs: readonly [DiffItem, DiffItem][], matching: Matching, facts: Facts): void {
  if (facts.has("added", "removed", "repeats", "moved", "wrapped", "unwrapped", "reordered")) return;
  for (const [x, y] of pairs) {
    if (matching.isPair(x.parent, y.parent) && x.name !== y.name && isShifted(x, y) && x.call === y.call) {
      facts.add("renamed", "", [x.name, y.name], [x, y]);
    }
  }
}
