/** Facts about sizes with names, if both graphs have any: how costs grow with them, and shapes of equal numbers. */

import type { NamedSizes, Size } from "../../../generated/format.js";
import type { Json } from "../../graph/graph.js";
import { type Expression, namesIn, parseExpression } from "../../shared/expressions.js";
import { factorText, sizeText } from "../../view/labels/size_words.js";
import type { DiffItem, Side } from "../items.js";
import type { Matching } from "../match/match.js";
import type { Facts } from "./facts.js";

/** Name of a size → its highest power; null if a part of it is unknown. */
type Degrees = ReadonlyMap<string, number> | null;

const COSTS = { FLOPs: "flops", activations: "activation_bytes" } as const;

type Pair = readonly [DiffItem, DiffItem];

export function growthFacts(matching: Matching, facts: Facts): void {
  const [before, after] = [matching.a.data.sizes, matching.b.data.sizes];
  const names = before && after ? commonNames(before, after) : [];
  if (!before || !after || names.length === 0) return;
  const modules = [...matching.after].filter(([x, y]) => x.kind === "module" && y.kind === "module");
  const grown = new Map<Pair, Map<string, string[]>>();
  for (const [cost, field] of Object.entries(COSTS)) {
    const [degreesBefore, degreesAfter] = [degreesIn(matching.a, before, field), degreesIn(matching.b, after, field)];
    const found = modules.flatMap((pair): [Pair, string][] => {
      const [x, y] = [degreesBefore.get(pair[0]), degreesAfter.get(pair[1])];
      const changed = x && y ? names.filter((name) => (x.get(name) ?? 0) !== (y.get(name) ?? 0)) : [];
      const powers = (of: Degrees) => Object.fromEntries(changed.map((name) => [name, of?.get(name) ?? 0]));
      return changed.length === 0 ? [] : [[pair, JSON.stringify([powers(x ?? null), powers(y ?? null)])]];
    });
    for (const [pair, change] of found) {
      // the modules around grow with it
      if (found.some(([other, its]) => its === change && isWithin(other[0], pair[0]))) continue;
      const costs = grown.get(pair) ?? new Map<string, string[]>();
      grown.set(pair, costs.set(change, [...(costs.get(change) ?? []), cost]));
    }
  }
  for (const [pair, costs] of grown)
    for (const [change, of] of costs) facts.add("growth", of.join(" and "), JSON.parse(change) as [Json, Json], pair);
  shapeFacts(matching, facts, new Set(names));
}

/** Names of one size of the same inputs in both graphs. */
function commonNames(before: NamedSizes, after: NamedSizes): string[] {
  const places = ({ places = [] }: Size) => places.map(String);
  const others = new Map(Object.entries(after.sizes).filter(([, { fixed }]) => !fixed));
  const isShared = ([name, size]: [string, Size]) => {
    const other = others.get(name);
    return other !== undefined && !size.fixed && places(size).some((place) => places(other).includes(place));
  };
  return Object.entries(before.sizes)
    .filter(isShared)
    .map(([name]) => name);
}

function isWithin(inner: DiffItem, outer: DiffItem): boolean {
  return outer.position < inner.position && inner.position < outer.position + outer.size;
}

/** The degrees of a cost of all ops and modules that have it: the highest of what is inside, as no cost is negative. */
function degreesIn(
  { data, items }: Side,
  sizes: NamedSizes,
  cost: "flops" | "activation_bytes",
): Map<DiffItem, Degrees> {
  const nodes = new Map(data.nodes.map((node) => [node.id, node]));
  const found = new Map<DiffItem, Degrees>();
  for (const item of [...items].reverse()) {
    const node = nodes.get(item.id);
    const text = sizes[cost]?.[item.id];
    const parts = item.children.flatMap((child): Degrees[] => {
      const one = found.get(child);
      const times = sizes.times?.[child.id];
      if (one === undefined || times === undefined) return one === undefined ? [] : [one];
      return [merged(one, degreesOf(parseExpression(times)), (a, b) => a + b)];
    });
    if (text !== undefined) parts.push(degreesOf(parseExpression(text)));
    else if (node?.kind === "op" && node[cost] != null)
      parts.push(isUnnamed(sizes, [item.id, ...outputsOf(item)]) ? null : new Map());
    if (parts.length > 0)
      found.set(
        item,
        parts.reduce((a, b) => merged(a, b, Math.max)),
      );
  }
  return found;
}

function merged(a: Degrees, b: Degrees, by: (x: number, y: number) => number): Degrees {
  if (a === null || b === null) return null;
  return new Map([...a.keys(), ...b.keys()].map((name) => [name, by(a.get(name) ?? 0, b.get(name) ?? 0)]));
}

function degreesOf(expression: Expression): Map<string, number> {
  const found = new Map<string, number>();
  for (const [monomial] of expression) {
    const own = new Map<string, number>();
    for (const [factor, power] of monomial) {
      const inner = /^(?:ceil|floor)\((.*)\)$/.exec(factor)?.[1];
      const degrees = inner === undefined ? new Map([[factor, 1]]) : degreesOf(parseExpression(inner));
      for (const [name, degree] of degrees) own.set(name, (own.get(name) ?? 0) + power * degree);
    }
    for (const [name, degree] of own) found.set(name, Math.max(degree, found.get(name) ?? 0));
  }
  return found;
}

function outputsOf({ id, shapes }: DiffItem): string[] {
  return shapes.map((_, i) => `${id}:${i}`);
}

function isUnnamed({ unknown = {} }: NamedSizes, ids: readonly string[]): boolean {
  return ids.some((id) => Object.hasOwn(unknown, id));
}

/** Shapes that have the same numbers in both passes, and other expressions: once, at the op that makes the first. */
function shapeFacts({ a, b, after }: Matching, facts: Facts, names: ReadonlySet<string>): void {
  const sides = [a, b] as const;
  const textOf = (at: 0 | 1, item: DiffItem, output: number) => writtenShape(sides[at].data.sizes, item, output, names);
  for (const [x, y] of [...after].sort(([one], [other]) => one.position - other.position)) {
    if (x.kind !== "op" || y.kind !== "op" || String(x.shapes) !== String(y.shapes)) continue;
    const read = (item: DiffItem, at: 0 | 1) => item.sources.map(({ from, output }) => textOf(at, from, output));
    if (String(read(x, 0)) !== String(read(y, 1))) continue;
    for (const output of x.shapes.keys()) {
      const [before, later] = [textOf(0, x, output), textOf(1, y, output)];
      if (before !== null && later !== null && before !== later)
        facts.add("named-shape", y.label, [before, later], [x, y]);
    }
  }
}

/** `B×T×768`; null if it is not known in the names that both graphs have. */
function writtenShape(
  sizes: NamedSizes | null | undefined,
  { id, shapes }: DiffItem,
  output: number,
  names: ReadonlySet<string>,
): string | null {
  const tensor = `${id}:${output}`;
  const shape = shapes[output];
  if (!sizes || !shape || isUnnamed(sizes, [id, tensor])) return null;
  const expressions = sizes.tensors?.[tensor] ?? [];
  const isForeign = (text: string | null) =>
    text !== null && ![...namesIn(parseExpression(text))].every((name) => names.has(name));
  if (expressions.some(isForeign)) return null;
  return shape
    .map((size, i) =>
      expressions[i] ? factorText(sizeText({ ...sizes, letters: {} }, expressions[i] ?? "")) : `${size}`,
    )
    .join("×");
}
