/** Facts about what a model takes and returns. */
import type { Json } from "../graph/graph.js";
import { type Facts, NONE } from "./facts.js";
import type { Item, Shape, Side } from "./items.js";
import { patternOf } from "./words.js";

interface Port {
  item: Item;
  shape: Shape;
  dtype: string;
}

export function interfaceFacts(a: Side, b: Side, facts: Facts): void {
  const inputs = [ports(a, "input"), ports(b, "input")] as const;
  for (const [x, y] of ends("input", facts, ...inputs)) {
    if (x.dtype !== y.dtype) facts.add("input-dtype", x.item.path, [x.dtype, y.dtype], [x.item, y.item]);
    if (String(x.shape) !== String(y.shape)) addShapes("example-input", facts, x, y);
  }
  const outputs = [ports(a, "output"), ports(b, "output")] as const;
  for (const [x, y] of ends("output", facts, ...outputs)) {
    if (String(x.shape) !== String(y.shape)) addShapes("output-shape", facts, x, y);
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
    found.set(item.path, { item, shape: from.shapes[at] ?? null, dtype: from.dtypes[at] ?? "" });
  }
  return found;
}

/** Those that both sides have; says what one of them lacks. */
function ends(
  kind: "input" | "output",
  facts: Facts,
  before: ReadonlyMap<string, Port>,
  after: ReadonlyMap<string, Port>,
): [Port, Port][] {
  const gone = [...before].filter(([name]) => !after.has(name));
  const come = [...after].filter(([name]) => !before.has(name));
  const isRenaming = gone.length === come.length && (kind === "output" || sameShapes(gone, come));
  const pairs = [...before].flatMap(([name, x]) => {
    const y = after.get(name);
    return y === undefined ? [] : [[x, y] as [Port, Port]];
  });
  gone.forEach(([name, x], i) => {
    const [other, y] = come[i] ?? [];
    if (!isRenaming || other === undefined || y === undefined)
      facts.add(`${kind}-removed`, patternOf(name), NONE, [x.item, null]);
    else {
      facts.add(`${kind}-renamed`, "", [name, other], [x.item, y.item]);
      pairs.push([x, y]);
    }
  });
  if (!isRenaming) for (const [name, { item }] of come) facts.add(`${kind}-added`, patternOf(name), NONE, [null, item]);
  return pairs;
}

function sameShapes(one: readonly [string, Port][], other: readonly [string, Port][]): boolean {
  return one.every(([, { shape }], i) => String(shape) === String(other[i]?.[1].shape));
}
