/** Facts about what a model takes and returns. */
import type { Json } from "../graph/graph.js";
import { type Facts, NONE } from "./facts.js";
import type { Item, Shape, Side } from "./items.js";
import type { Matching } from "./match.js";
import { patternOf } from "./words.js";

interface Port {
  item: Item;
  /** What an output is made by. */
  from: Item | null;
  shape: Shape;
  dtype: string;
}

export function interfaceFacts({ a, b, after }: Matching, facts: Facts): void {
  const inputs = [ports(a, "input"), ports(b, "input")] as const;
  for (const [x, y] of ends("input", facts, inputs)) {
    if (x.dtype !== y.dtype) facts.add("input-dtype", x.item.path, [x.dtype, y.dtype], [x.item, y.item]);
    if (String(x.shape) !== String(y.shape)) addShapes("example-input", facts, x, y);
  }
  const outputs = [ports(a, "output"), ports(b, "output")] as const;
  const isOne = (x: Port, y: Port) => x.from !== null && after.get(x.from) === y.from;
  for (const [x, y] of ends("output", facts, outputs, isOne)) {
    if (String(x.shape) !== String(y.shape)) addShapes("output-shape", facts, x, y);
    if (x.dtype !== y.dtype) facts.add("output-dtype", patternOf(x.item.path), [x.dtype, y.dtype], [x.item, y.item]);
  }
}

/** Reasons why a comparison of two graphs may say too little or too much. */
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

function size(shape: Shape): string {
  return shape === null ? "unknown" : shape.join("×");
}

function ports({ steps }: Side, kind: "input" | "output"): Map<string, Port> {
  const found = new Map<string, Port>();
  for (const item of steps) {
    if (item.kind !== kind) continue;
    const source = item.sources[0];
    const [from, at] = kind === "input" || source === undefined ? [item, 0] : [source.from, source.output];
    const what = kind === "input" ? null : from;
    found.set(item.path, { item, from: what, shape: from.shapes[at] ?? null, dtype: from.dtypes[at] ?? "" });
  }
  return found;
}

type Named = readonly [string, Port];

/** Those that both sides have; says what one of them lacks. */
function ends(
  kind: "input" | "output",
  facts: Facts,
  [before, after]: readonly [ReadonlyMap<string, Port>, ReadonlyMap<string, Port>],
  isOne: (x: Port, y: Port) => boolean = () => false,
): [Port, Port][] {
  const gone = [...before].filter(([name]) => !after.has(name));
  const come = [...after].filter(([name]) => !before.has(name));
  const renamed = renamedPorts(gone, come, kind === "output", isOne);
  for (const [[name, x], [other, y]] of renamed) facts.add(`${kind}-renamed`, "", [name, other], [x.item, y.item]);
  const isIn = (one: Named) => renamed.some((pair) => pair.includes(one));
  for (const one of gone) if (!isIn(one)) facts.add(`${kind}-removed`, patternOf(one[0]), NONE, [one[1].item, null]);
  for (const one of come) if (!isIn(one)) facts.add(`${kind}-added`, patternOf(one[0]), NONE, [null, one[1].item]);
  const kept = [...before].flatMap(([name, x]) => {
    const y = after.get(name);
    return y === undefined ? [] : [[x, y] as [Port, Port]];
  });
  return [...kept, ...renamed.map(([[, x], [, y]]): [Port, Port] => [x, y])];
}

/** As many on both sides are the same in their order; else those that are surely the same value. */
function renamedPorts(
  gone: readonly Named[],
  come: readonly Named[],
  haveAnyShape: boolean,
  isOne: (x: Port, y: Port) => boolean,
): [Named, Named][] {
  if (gone.length === come.length && (haveAnyShape || sameShapes(gone, come)))
    return gone.map((one, i) => [one, come[i] as Named]);
  return gone.flatMap((one): [Named, Named][] => {
    const other = come.find(([, port]) => isOne(one[1], port));
    return other === undefined ? [] : [[one, other]];
  });
}

function sameShapes(one: readonly Named[], other: readonly Named[]): boolean {
  return one.every(([, { shape }], i) => String(shape) === String(other[i]?.[1].shape));
}
