/** Facts about the cases, inputs and outputs of a model. */
import { append } from "../../graph/append.js";
import type { Json } from "../../graph/graph.js";
import type { DiffItem, Side, Source, TensorShape } from "../items.js";
import type { Matching } from "../match/match.js";
import { isRearranging, patternOf } from "../vocabulary.js";
import { type Facts, NO_PLACE } from "./facts.js";

interface Port {
  item: DiffItem;
  shape: TensorShape;
  dtype: string;
}

export function interfaceFacts(matching: Matching, facts: Facts): void {
  const { a, b } = matching;
  caseFacts(a, b, facts);
  const inputs = [ports(a, "input"), ports(b, "input")] as const;
  for (const [x, y] of ends("input", facts, inputs)) {
    if (x.dtype !== y.dtype) facts.add("input-dtype", x.item.path, [x.dtype, y.dtype], [x.item, y.item]);
    if (String(x.shape) !== String(y.shape)) addShapes("example-input", facts, x, y);
  }
  const outputs = [ports(a, "output"), ports(b, "output")] as const;
  const isOne = (x: Port, y: Port) => isOneValue(matching, x.item, y.item);
  for (const [x, y] of ends("output", facts, outputs, isOne)) {
    if (String(x.shape) !== String(y.shape)) addShapes("output-shape", facts, x, y);
    if (x.dtype !== y.dtype) facts.add("output-dtype", patternOf(x.item.path), [x.dtype, y.dtype], [x.item, y.item]);
  }
}

/** Cases that only one of the graphs has. Forced ones are named by lines, which move: what they found is compared. */
function caseFacts(a: Side, b: Side, facts: Facts): void {
  const named = ({ data }: Side) => (data.cases ?? []).filter(({ forced }) => !forced).map(({ name }) => name);
  const [before, after] = [named(a), named(b)];
  for (const name of before) if (!after.includes(name)) facts.add("case-removed", name, NO_PLACE, [a.root, null]);
  for (const name of after) if (!before.includes(name)) facts.add("case-added", name, NO_PLACE, [null, b.root]);
}

/** Whether two outputs are the same value: made by a pair, and at most rearranged or passed on. */
function isOneValue({ after, before }: Matching, x: DiffItem, y: DiffItem): boolean {
  const stemOf = ({ sources }: DiffItem, pairs: ReadonlyMap<DiffItem, DiffItem>): Source | undefined => {
    const [only, ...others] = sources;
    if (only === undefined || others.length > 0) return undefined;
    const isPassed = isRearranging(only.from.label) || !pairs.has(only.from);
    return (isPassed ? stemOf(only.from, pairs) : undefined) ?? only;
  };
  const [one, other] = [stemOf(x, after), stemOf(y, before)];
  return one !== undefined && other !== undefined && after.get(one.from) === other.from && one.output === other.output;
}

/** Reasons why a comparison of two graphs may report too little or too much. */
export function reasons(a: Side, b: Side): string[] {
  const found: string[] = [];
  const [before, after] = [a.data.status, b.data.status];
  if (before.mode !== after.mode) found.push(`the modes of the traces differ: ${before.mode} and ${after.mode}`);
  const inputs = ports(b, "input");
  for (const [name, { shape }] of ports(a, "input")) {
    const other = inputs.get(name);
    if (other === undefined || String(other.shape) === String(shape)) continue;
    found.push(`the example inputs differ: ${name} is ${size(shape)} and ${size(other.shape)}`);
  }
  return found;
}

function addShapes(id: "example-input" | "output-shape", facts: Facts, x: Port, y: Port): void {
  facts.add(id, patternOf(x.item.path), [x.shape as Json, y.shape as Json], [x.item, y.item]);
}

function size(shape: TensorShape): string {
  return shape === null ? "unknown" : shape.join("×");
}

function ports({ steps }: Side, kind: "input" | "output"): Map<string, Port> {
  const found = new Map<string, Port>();
  for (const item of steps) {
    if (item.kind !== kind) continue;
    const source = item.sources[0];
    const [from, at] = kind === "input" || source === undefined ? [item, 0] : [source.from, source.output];
    found.set(item.path, { item, shape: from.shapes[at] ?? null, dtype: from.dtypes[at] ?? "" });
  }
  return found;
}

type Named = readonly [string, Port];

/** Names on both sides; reports those that one side lacks. */
function ends(
  kind: "input" | "output",
  facts: Facts,
  [before, after]: readonly [ReadonlyMap<string, Port>, ReadonlyMap<string, Port>],
  isOne: (x: Port, y: Port) => boolean = () => false,
): [Port, Port][] {
  const gone = [...before].filter(([name]) => !after.has(name));
  const come = [...after].filter(([name]) => !before.has(name));
  const renamed = renamedPorts(gone, come, kind === "output", isOne);
  for (const [names, x, y] of namedTogether(renamed)) facts.add(`${kind}-renamed`, "", names, [x.item, y.item]);
  const isIn = (one: Named) => renamed.some((pair) => pair.includes(one));
  for (const one of gone)
    if (!isIn(one)) facts.add(`${kind}-removed`, patternOf(one[0]), NO_PLACE, [one[1].item, null]);
  for (const one of come) if (!isIn(one)) facts.add(`${kind}-added`, patternOf(one[0]), NO_PLACE, [null, one[1].item]);
  const kept = [...before].flatMap(([name, x]) => {
    const y = after.get(name);
    return y === undefined ? [] : [[x, y] as [Port, Port]];
  });
  return [...kept, ...renamed.map(([[, x], [, y]]): [Port, Port] => [x, y])];
}

/** Pairs with their names: `cache[*] → layers[*].keys` if several members of a list have new ones. */
function namedTogether(renamed: readonly [Named, Named][]): [[string, string], Port, Port][] {
  const groups = new Map<string, [Named, Named][]>();
  for (const pair of renamed) append(groups, pair.map(([name]) => patternOf(name)).join(" "), pair);
  return [...groups.values()].flatMap((pairs) => {
    const names: [string, string] = [numbered(pairs.map(([[x]]) => x)), numbered(pairs.map(([, [y]]) => y))];
    return pairs.map(([[, x], [, y]]): [[string, string], Port, Port] => [names, x, y]);
  });
}

/** Names of one pattern as one, with `*` for differing numbers. */
function numbered(names: readonly string[]): string {
  const numbers = names.map((name) => name.match(/\d+/g) ?? []);
  let place = -1;
  return (names[0] ?? "").replace(/\d+/g, (number) => {
    place += 1;
    return numbers.every((one) => one[place] === number) ? number : "*";
  });
}

/** Ports that are certainly the same value; if equally many are left on both sides, in their order. */
function renamedPorts(
  gone: readonly Named[],
  come: readonly Named[],
  haveAnyShape: boolean,
  isOne: (x: Port, y: Port) => boolean,
): [Named, Named][] {
  const sure = gone.flatMap((one): [Named, Named][] => {
    const [other, ...more] = come.filter(([, port]) => isOne(one[1], port));
    return other === undefined || more.length > 0 ? [] : [[one, other]];
  });
  const isOpen = (one: Named) => !sure.some((pair) => pair.includes(one));
  const [before, after] = [gone.filter(isOpen), come.filter(isOpen)];
  if (before.length !== after.length || !(haveAnyShape || sameShapes(before, after))) return sure;
  const all = [...sure, ...before.map((one, i): [Named, Named] => [one, after[i] as Named])];
  return all.sort(([x], [y]) => gone.indexOf(x) - gone.indexOf(y));
}

function sameShapes(one: readonly Named[], other: readonly Named[]): boolean {
  return one.every(([, { shape }], i) => String(shape) === String(other[i]?.[1].shape));
}
