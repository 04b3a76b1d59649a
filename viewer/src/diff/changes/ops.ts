/** Facts about the ops of modules in both graphs: the model's own code. */
import { append } from "../../graph/append.js";
import { isFixed, type Json } from "../../graph/graph.js";
import { compare, type DiffItem, isInside, isLeaf, own, type Side } from "../items.js";
import type { Matching } from "../match/match.js";
import { isPlumbing, isSameValue, patternOf } from "../vocabulary.js";
import { type Facts, NO_PLACE, type Place } from "./facts.js";
import type { Covered } from "./modules.js";

/** With at least this many different ops, a module's code counts as rewritten. */
const REWRITTEN = 5;
/** How many ops back to search the other branch of a residual. */
const FARTHEST = 400;
const DERIVED =
  /^(size|shape|sizes|split_size|split_size_or_sections|key|normalized_shape|end|start|length|steps|diagonal|chunks|repeats|index|dtype|other_shape|output_size|embed_dim_to_check|num_heads_dim)$/;
const MAKING = /^(arange|zeros|ones|full|empty|zeros_like|new_zeros|new_ones|linspace|meshgrid|roll)$/;
/** Ops that only turn a number into a tensor. */
const CONSTANT = /^(tensor|as_tensor|scalar_tensor)$/;
const ORDERED = /^(sub|div|matmul|cat|bmm|pow|scaled_dot_product_attention)$/;

/** The greatest numbers of float16, bfloat16, float32 and float64: infinity in masks. */
const LIMITS: ReadonlySet<number> = new Set([
  65504, 3.3895313892515355e38, 3.4028234663852886e38, 1.7976931348623157e308,
]);

/** The differences in the code of one module. */
interface Code {
  removed: DiffItem[];
  added: DiffItem[];
  replaced: [DiffItem, DiffItem][];
}

export function opFacts(matching: Matching, facts: Facts, covered: Covered): void {
  const codes = new Map<DiffItem, Code>();
  const codeOf = (x: DiffItem): Code => {
    const known = codes.get(x) ?? { removed: [], added: [], replaced: [] };
    codes.set(x, known);
    return known;
  };
  leftOver(matching.a.items, matching.after, covered).forEach((op) => {
    const holder = matching.holder(op, matching.after);
    if (holder !== null) codeOf(holder).removed.push(op);
  });
  leftOver(matching.b.items, matching.before, covered).forEach((op) => {
    const holder = matching.before.get(matching.holder(op, matching.before) ?? op);
    if (holder !== undefined) codeOf(holder).added.push(op);
  });
  const orders = facts.all().flatMap(({ id, places }) => (id === "reordered" ? places : []));
  for (const [x, y] of matching.after) {
    if (covered.has(x) || covered.has(y)) continue;
    const holder = matching.holder(x, matching.after);
    if (x.kind !== y.kind) opAndModule(facts, x, y);
    else if (x.kind === "op" && x.label !== y.label) holder === null || codeOf(holder).replaced.push([x, y]);
    else if (x.kind === "op") pairOfOps(matching, facts, [x, y], orders, covered);
  }
  for (const x of [...codes.keys()].sort((one, other) => one.position - other.position)) {
    code(facts, x, matching.after.get(x) as DiffItem, codeOf(x));
  }
}

function leftOver(items: readonly DiffItem[], pairs: ReadonlyMap<DiffItem, DiffItem>, covered: Covered): DiffItem[] {
  return items.filter(
    (item) => item.kind === "op" && !pairs.has(item) && !covered.has(item) && !isPairedModule(item, pairs),
  );
}

/** The op inside a module that is paired with an op. */
function isPairedModule({ parent }: DiffItem, pairs: ReadonlyMap<DiffItem, DiffItem>): boolean {
  return parent !== null && pairs.get(parent)?.kind === "op";
}

function opAndModule(facts: Facts, x: DiffItem, y: DiffItem): void {
  const [op, module, id] = x.kind === "op" ? ([x, y, "op-to-module"] as const) : ([y, x, "module-to-op"] as const);
  const isSame = module.children.some(({ label }) => label === op.label);
  if (isSame) facts.add(id, "", [x.label, y.label], [x, y]);
  else facts.add("replaced", "", [x.label, y.label], [x, y]);
}

/** Facts about two ops with one label. */
function pairOfOps(
  matching: Matching,
  facts: Facts,
  [x, y]: readonly [DiffItem, DiffItem],
  orders: readonly Place[],
  covered: Covered,
): void {
  // layers report their arguments themselves
  const isInAttributes = x.parent !== null && isLeaf(x.parent) && Object.keys(x.parent.attributes).length > 0;
  if (!isInAttributes) argumentsOf(facts, x, y);
  const isExplainedBySources = [x, y].every(({ sources }) => sources.some(({ from }) => covered.has(originOf(from))));
  if (!isExplainedBySources && !isReordered(orders, x, y) && isRewired(matching, x, y))
    facts.add("rewired", y.label, NO_PLACE, [x, y]);
}

/** The op that made a value before it was rearranged. */
function originOf(item: DiffItem): DiffItem {
  let at = item;
  while (isPlumbing(at.label) && at.sources[0] !== undefined) at = at.sources[0].from;
  return at;
}

function argumentsOf(facts: Facts, x: DiffItem, y: DiffItem): void {
  if (isPlumbing(x.label) || MAKING.test(x.label)) return;
  for (const name of new Set([...Object.keys(x.arguments), ...Object.keys(y.arguments)])) {
    const [before, after] = [own(x.arguments, name), own(y.arguments, name)];
    if (isSameValue(before, after) || DERIVED.test(name) || isDerived(x, y, before, after)) continue;
    facts.add("op-argument", `${y.label} ${name}`, [before, after], [x, y]);
  }
}

/** Whether numbers are or follow from sizes, such as the scale of an attention. */
function isDerived(x: DiffItem, y: DiffItem, before: Json, after: Json): boolean {
  const sizes = (item: DiffItem) => item.sources.flatMap(({ from, output }) => from.shapes[output] ?? []);
  const isLimit = [before, after].every((value) => LIMITS.has(Math.abs(Number(value))));
  if (isLimit && x.dtypes.join() !== y.dtypes.join()) return true;
  if (sizes(x).join() === sizes(y).join()) return false;
  const isFraction = [before, after].every((value) => typeof value === "number" && !Number.isInteger(value));
  return isFraction || (sizes(x).some((size) => size === before) && sizes(y).some((size) => size === after));
}

/** Whether an op is in a module whose order is reported as changed, or reads from it. */
function isReordered(orders: readonly Place[], x: DiffItem, y: DiffItem): boolean {
  const isIn = (at: 0 | 1, item: DiffItem) => orders.some(({ [at]: end }) => end !== null && isInside(item, end));
  const areIn = (at: 0 | 1, item: DiffItem) => isIn(at, item) || item.sources.some(({ from }) => isIn(at, from));
  return orders.length > 0 && areIn(0, x) && areIn(1, y);
}

/** Outputs with exchanged names or places, or with another value under their name. Other facts, which may explain it, come first. */
export function outputFacts(matching: Matching, facts: Facts): void {
  const [before, now] = [outputsOf(matching.a), outputsOf(matching.b)];
  const renamed = new Set(
    facts.all().flatMap(({ id, places }) => (id === "output-renamed" ? places.map(([x]) => x) : [])),
  );
  const exchanged = exchangedOutputs(matching, before, now).filter(([x]) => !renamed.has(x));
  for (const [x, y] of exchanged) facts.add("output-rewired", "", [x.path, y.path], [x, y]);
  if (facts.has("added", "removed", "repeats", "moved", "wrapped", "unwrapped", "reordered")) return;
  const told = new Set(exchanged.flat());
  for (const x of before.values()) {
    const y = now.get(x.path);
    if (y === undefined || told.has(x) || told.has(y)) continue;
    if (patternOf(x.path) === x.path && isRewired(matching, x, y))
      facts.add("output-rewired", x.path, NO_PLACE, [x, y]);
  }
}

function outputsOf({ steps }: Side): Map<string, DiffItem> {
  return new Map(steps.flatMap((item) => (item.kind === "output" ? [[item.path, item]] : [])));
}

type Outputs = ReadonlyMap<string, DiffItem>;

/** Values that both graphs return, under names in both; in tuples, not those moved by an added or removed one. */
function exchangedOutputs({ after }: Matching, before: Outputs, now: Outputs): [DiffItem, DiffItem][] {
  const places = [...now.values()].map((item, at) => ({ item, at, ...item.sources[0] }));
  const kept = [...before.values()].flatMap((x) => {
    const [source] = x.sources;
    const from = source && after.get(source.from);
    const found = places.find((one) => from !== undefined && one.from === from && one.output === source?.output);
    if (found !== undefined) places.splice(places.indexOf(found), 1);
    return found === undefined ? [] : [{ x, y: found.item, at: found.at }];
  });
  const isPassed = (i: number, at: number) => kept.some((other, j) => (j < i ? other.at > at : j > i && other.at < at));
  const isMember = ({ path }: DiffItem) => patternOf(path) !== path;
  return kept.flatMap(({ x, y, at }, i): [DiffItem, DiffItem][] => {
    const isExchanged = isMember(x) && isMember(y) ? isPassed(i, at) : now.has(x.path) && before.has(y.path);
    return isExchanged && x.path !== y.path ? [[x, y]] : [];
  });
}

/** Whether an op reads other values that are all in both graphs. */
function isRewired(matching: Matching, x: DiffItem, y: DiffItem): boolean {
  const before = x.sources
    .filter(({ from }) => !isFixed(from.kind))
    .map(({ from, output }) => [matching.after.get(from), output] as const);
  const after = y.sources.filter(({ from }) => !isFixed(from.kind)).map(({ from, output }) => [from, output] as const);
  if (before.length !== after.length || before.some(([item]) => item === undefined)) return false;
  if (after.some(([item]) => !matching.before.has(item))) return false;
  const texts = (found: readonly (readonly [DiffItem | undefined, number])[]) =>
    found.map(([item, output]) => `${item?.id} ${output}`);
  const [one, other] = [texts(before), texts(after)];
  if (!ORDERED.test(x.label)) [one, other].forEach((found) => void found.sort(compare));
  return one.join("\n") !== other.join("\n");
}

function code(facts: Facts, x: DiffItem, y: DiffItem, { removed, added, replaced }: Code): void {
  const residuals = [removed.filter(isResidual), added.filter(isResidual)] as const;
  const common = Math.min(residuals[0].length, residuals[1].length);
  const [lost, gained] = [residuals[0].slice(common), residuals[1].slice(common)];
  for (const op of lost) facts.add("residual-removed", x.label, NO_PLACE, [op, null]);
  for (const op of gained) facts.add("residual-added", y.label, NO_PLACE, [null, op]);
  const [gone, come] = different(
    removed.filter((op) => !lost.includes(op)),
    added.filter((op) => !gained.includes(op)),
  );
  const swaps = replaced.filter(([one, other]) => !isPlumbing(one.label) || !isPlumbing(other.label));
  if (gone.length + come.length + swaps.length >= REWRITTEN) {
    const before = [...gone, ...swaps.map(([one]) => one)].map(({ label }) => label).sort(compare);
    const after = [...come, ...swaps.map(([, other]) => other)].map(({ label }) => label).sort(compare);
    facts.add("rewritten", y.label, [before, after], [x, y]);
    return;
  }
  for (const [one, other] of swaps) facts.add("op-replaced", "", [one.label, other.label], [one, other]);
  for (const op of gone) facts.add("op-removed", op.label, NO_PLACE, [op, null]);
  for (const op of come) facts.add("op-added", op.label, NO_PLACE, [null, op]);
  const isOnlyOrder = gone.length + come.length + swaps.length + lost.length + gained.length === 0;
  if (isOnlyOrder && removed.length + added.length + replaced.length > 0) {
    // an activation before a product isn't one after it
    const isInOrder = ![...removed, ...added].some(isComputing) || computing(x) === computing(y);
    facts.add(isInOrder ? "rearranged" : "op-order", y.label, NO_PLACE, [x, y]);
  }
}

/** Labels of the ops that compute in a module, in order. */
function computing({ children }: DiffItem): string {
  return children
    .filter(isComputing)
    .map(({ label }) => label)
    .join("\n");
}

function isComputing({ label }: DiffItem): boolean {
  return !isPlumbing(label) && !CONSTANT.test(label);
}

/** The ops of each list that the other lacks, without rearrangements. */
function different(removed: readonly DiffItem[], added: readonly DiffItem[]): [DiffItem[], DiffItem[]] {
  const [gone, come] = [byLabel(removed), byLabel(added)];
  const more = (one: Map<string, DiffItem[]>, other: Map<string, DiffItem[]>) =>
    [...one].flatMap(([label, ops]) => ops.slice(other.get(label)?.length ?? 0));
  return [more(gone, come), more(come, gone)];
}

function byLabel(ops: readonly DiffItem[]): Map<string, DiffItem[]> {
  const found = new Map<string, DiffItem[]>();
  for (const op of ops) if (isComputing(op)) append(found, op.label, op);
  return found;
}

/** Whether an op adds a value to something computed from it. */
function isResidual({ label, sources, shapes }: DiffItem): boolean {
  const [one, other] = sources.filter(({ from }) => from.kind === "op" || from.kind === "input");
  if (label !== "add" || one === undefined || other === undefined || one.from === other.from) return false;
  const isOfSize = [one, other].every(({ from, output }) => String(from.shapes[output]) === String(shapes[0]));
  return isOfSize && (isMadeFrom(one.from, other.from) || isMadeFrom(other.from, one.from));
}

function isMadeFrom(item: DiffItem, origin: DiffItem): boolean {
  const seen = new Set<DiffItem>();
  const waiting = [item];
  for (let at = waiting.pop(); at !== undefined && seen.size < FARTHEST; at = waiting.pop()) {
    if (at === origin) return true;
    if (seen.has(at)) continue;
    seen.add(at);
    for (const { from } of at.sources) waiting.push(from);
  }
  return false;
}
