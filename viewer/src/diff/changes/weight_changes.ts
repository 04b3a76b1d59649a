/** Facts about parameters and buffers that no change of a module covers: new ones, shapes, ties, dtypes, trainability. */

import type { Json } from "../../graph/graph.js";
import type { Checkpoints, WeightMap } from "../checkpoints.js";
import type { DiffItem, Side } from "../items.js";
import type { Matching } from "../match/match.js";
import { holders, lastPart, patternOf } from "../vocabulary.js";
import { type Facts, NO_PLACE, type Place } from "./facts.js";
import type { Covered } from "./modules.js";

export function weightFacts(
  matching: Matching,
  facts: Facts,
  covered: Covered,
  { checkpoints, pairs }: WeightMap,
): void {
  const { a, b } = matching;
  addWithoutCounterpart({ of: a, pairs: matching.after, isBefore: true, keys: checkpoints.gone }, facts, covered);
  addWithoutCounterpart({ of: b, pairs: matching.before, isBefore: false, keys: checkpoints.new }, facts, covered);
  reshaped(matching, facts, covered, checkpoints);
  for (const [key, other] of pairs) kept(matching, facts, key, other);
  ties(matching, facts, pairs);
}

/** The properties of a weight apart from its values. */
function kept({ a, b }: Matching, facts: Facts, key: string, other: string): void {
  const [x, y] = [a.parameters.get(key), b.parameters.get(other)];
  if (x === undefined || y === undefined) return;
  const place = [ownerOf(a, key), ownerOf(b, other)] as const;
  if (x.dtype !== y.dtype) facts.add("dtype", "", [x.dtype, y.dtype], place);
  const [kind, now] = [x.kind ?? "parameter", y.kind ?? "parameter"];
  if (kind !== now) facts.add("weight-kind", lastPart(key), [kind, now], place);
  else if (kind === "parameter" && x.trainable !== y.trainable) {
    facts.add(x.trainable === false ? "unfrozen" : "frozen", "", NO_PLACE, place);
  }
}

function ownerOf(of: Side, key: string): DiffItem {
  return of.byId.get(of.parameters.get(key)?.owner ?? "") ?? of.root;
}

interface WithoutCounterpart {
  of: Side;
  pairs: ReadonlyMap<DiffItem, DiffItem>;
  isBefore: boolean;
  keys: readonly string[];
}

/** Weights without a counterpart in modules that have one, unless a change of the module explains them. */
function addWithoutCounterpart(
  { of, pairs, isBefore, keys }: WithoutCounterpart,
  facts: Facts,
  covered: Covered,
): void {
  const running = holders(of.items.map(({ path }) => path));
  const unused = new Set<string>();
  const say = (name: string, item: DiffItem) => {
    facts.add(isBefore ? "weight-removed" : "weight-added", name, NO_PLACE, isBefore ? [item, null] : [null, item]);
  };
  for (const key of keys) {
    const { owner = "", kind = "parameter" } = of.parameters.get(key) ?? {};
    if (isUnder(of, key, covered)) continue;
    const item = of.byId.get(owner);
    // weights of modules that never run are reported at the outermost of them
    if (item === undefined) unused.add([...holders([owner])].reverse().find((path) => !running.has(path)) ?? owner);
    else if (pairs.has(item) && !isReportedOfModule(facts, item, isBefore)) say(`${kind} ${lastPart(key)}`, item);
  }
  for (const path of unused) say(`${patternOf(path)} (not used)`, of.root);
}

/** Whether a change of its module already explains that a weight was added or removed. */
function isReportedOfModule(facts: Facts, item: DiffItem, isBefore: boolean): boolean {
  const at = isBefore ? 0 : 1;
  if (facts.isReported(["argument", "replaced"], at, item.path)) return true;
  return [...holders([item.path])].some((path) => facts.isReported(["shared", "unshared"], at, path));
}

/** Whether a change reports a module around a weight as a whole. */
function isUnder({ byId, parameters }: Side, key: string, covered: Covered): boolean {
  const parts = (parameters.get(key)?.owner ?? "").split(".");
  return parts.some((_, i) => {
    const item = byId.get(parts.slice(0, i + 1).join("."));
    return item !== undefined && covered.has(item);
  });
}

function reshaped({ a, b }: Matching, facts: Facts, covered: Covered, { reshaped: found }: Checkpoints): void {
  const layers = new Set(
    facts
      .all()
      .flatMap(({ id, places }) => (/^(size|argument|replaced)$/.test(id) ? places.map(([x]) => x?.path) : [])),
  );
  for (const { before, after } of found) {
    const [owner, other] = [ownerOf(a, before), ownerOf(b, after)];
    // sizes of layers are their arguments or follow from their inputs
    const isOfLayer = Object.keys(owner.attributes).length > 0 && owner.parent !== null;
    if (layers.has(owner.path) || isOfLayer || isUnder(a, before, covered)) continue;
    const shapes = [a.parameters.get(before)?.shape ?? [], b.parameters.get(after)?.shape ?? []] as const;
    shapeFacts(facts, lastPart(after), shapes, [owner, other]);
  }
}

function shapeFacts(facts: Facts, name: string, [x, y]: readonly [Json[], Json[]], place: Place): void {
  if (x.length !== y.length) facts.add("weight-shape", name, [x, y], place);
  else x.forEach((size, i) => void (size !== y[i] && facts.add("size", name, [size, y[i] ?? null], place)));
}

function ties({ a, b }: Matching, facts: Facts, pairs: ReadonlyMap<string, string>): void {
  const sets = (of: Side, named: (key: string) => string) => {
    const found = new Map<string, string[]>();
    for (const [key, { tied = [] }] of of.parameters) {
      const names = [...new Set([key, ...tied].map(named))].sort();
      if (names.length > 1) found.set(names.join("\n"), names);
    }
    return found;
  };
  const before = sets(a, (key) => pairs.get(key) ?? key);
  const after = sets(b, (key) => key);
  const shared = facts
    .all()
    .filter(({ id }) => /shared|replaced/.test(id))
    .flatMap(({ places }) => places.flat());
  const isShared = (key: string) => shared.some((item) => item !== null && key.startsWith(`${item.path}.`));
  const say = (id: "tied" | "untied", one: typeof before, other: typeof before) => {
    for (const [text, names] of one) {
      if (other.has(text) || names.some(isShared)) continue;
      const owner = ({ byId, parameters }: Side) => byId.get(parameters.get(names[0] ?? "")?.owner ?? "") ?? null;
      facts.add(id, names.join(" = "), NO_PLACE, [owner(a), owner(b)]);
    }
  };
  say("tied", after, before);
  say("untied", before, after);
}
