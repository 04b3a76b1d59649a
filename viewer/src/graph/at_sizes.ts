/** A graph at other sizes of its inputs: what a pass with such inputs would give, as far as expressions tell. */
import type { NamedSizes, Size } from "../../generated/format.js";
import { namesIn, parseExpression, type SizeValues, valueAt } from "../shared/expressions.js";
import { memoByKey } from "../shared/memo.js";
import { boundsOf } from "./bounds.js";
import { type Graph, type GraphIndex, type GraphNode, isGroup, ROOT, type TensorSpec } from "./graph.js";
import { withArguments } from "./size_names.js";

const COUNTS = { flops: "flops", memory: "activation_bytes" } as const;
type Measure = keyof typeof COUNTS;

/** The size of a dimension that changes without an expression. */
const UNKNOWN = "?";

/** The sizes of the pass that a graph shows, of which something is known at others. */
export function ownSizes(named: NamedSizes): Map<string, number> {
  const known = Object.entries(named.sizes).filter(([, size]) => !size.fixed && isKnown(named, size));
  return new Map(known.map(([name, { size }]) => [name, size]));
}

/** Whether expressions have it, those of its own places first; without any, nothing is known at other sizes. */
function isKnown({ tensors }: NamedSizes, { places = [] }: Size): boolean {
  return places.length === 0 || places.some(([tensor = "", dimension = 0]) => tensors?.[tensor]?.[dimension] != null);
}

/** Completes some sizes with those of the graph; of sizes that values decide, with the largest possible ones. */
export function completeSizes(named: NamedSizes, given: SizeValues): Map<string, number> {
  const all = ownSizes(named);
  for (const [name, size] of given) if (all.has(name)) all.set(name, Number(size));
  for (const [name, { bound }] of Object.entries(named.sizes))
    if (bound && all.has(name) && !given.has(name)) all.set(name, Math.floor(numberOf(bound, all)));
  return all;
}

/** The index of a graph at other sizes; at its own ones, the same. */
export function indexAtSizes(index: GraphIndex, given: SizeValues): GraphIndex {
  const { sizes: named } = index.graph;
  if (named == null) return index;
  const [own, sizes] = [ownSizes(named), completeSizes(named, given)];
  if ([...own].every(([name, size]) => sizes.get(name) === size)) return index;
  const graph = graphAt(index, named, own, sizes);
  return {
    ...index,
    graph,
    nodes: new Map(graph.nodes.map((node) => [node.id, node])),
    steps: graph.nodes.filter((node) => !isGroup(node)),
  };
}

function numberOf(text: string, sizes: SizeValues): number {
  return valueAt(parseExpression(text), sizes);
}

function graphAt(index: GraphIndex, named: NamedSizes, own: SizeValues, sizes: Map<string, number>): Graph {
  const { graph } = index;
  const number = memoByKey((text: string) => numberOf(text, sizes));
  const loops = Object.entries(named.times ?? {});
  const times = new Map(loops.map(([id, text]) => [id, number(text)]));
  const calls = new Map(loops.map(([id, text]) => [id, number(text) / numberOf(text, own)]));
  const sums = {
    flops: sumsOf(index, named, calls, sizes, "flops"),
    memory: sumsOf(index, named, calls, sizes, "memory"),
  };
  const signs = { flops: signsOf(index, sums.flops, "flops"), memory: signsOf(index, sums.memory, "memory") };
  const costed: Costed = (id, item) => {
    const [flops, bytes] = [sums.flops.get(id), sums.memory.get(id)];
    return { ...item, flops: wholeOf(flops), activation_bytes: wholeOf(bytes), time_ns: null };
  };
  return {
    ...graph,
    atSizes: { changed: changedIn(named, sizes), times, calls, signs },
    model: costed(ROOT, graph.model),
    nodes: graph.nodes.map((node) => nodeAt(node, named, number, costed)),
    functions: Object.fromEntries(Object.entries(graph.functions ?? {}).map(([id, call]) => [id, costed(id, call)])),
    tensors: new Map([...graph.tensors].map(([id, spec]) => [id, tensorAt(id, spec, named, number)])),
    sizes: { ...named, sizes: withValues(named.sizes, sizes) },
  };
}

/** The sizes that aren't those of the pass, without those that values decide. */
function changedIn({ sizes: known }: NamedSizes, sizes: ReadonlyMap<string, number>): Map<string, number> {
  return new Map([...sizes].filter(([name, size]) => known[name]?.size !== size && !known[name]?.counted));
}

function withValues(sizes: NamedSizes["sizes"], values: ReadonlyMap<string, number>): NamedSizes["sizes"] {
  return Object.fromEntries(
    Object.entries(sizes).map(([name, size]) => [name, { ...size, size: values.get(name) ?? size.size }]),
  );
}

type NumberOf = (text: string) => number;
/** An item with its costs. */
type Costed = <T>(id: string, item: T) => T;

function tensorAt(id: string, spec: TensorSpec, { tensors, unknown }: NamedSizes, number: NumberOf): TensorSpec {
  const [texts, isUnknown] = [tensors?.[id], unknown?.[id] !== undefined];
  if (spec.shape === null || (texts === undefined && !isUnknown)) return spec;
  const shape = spec.shape.map((size, i) => {
    const text = texts?.[i];
    if (text == null) return isUnknown ? UNKNOWN : size;
    const found = number(text);
    return Number.isInteger(found) && found >= 0 ? found : UNKNOWN;
  });
  return { ...spec, shape };
}

function nodeAt(node: GraphNode, named: NamedSizes, number: NumberOf, costed: Costed): GraphNode {
  if (node.kind === "module" || node.kind === "function") return costed(node.id, node);
  if (node.kind !== "op") return node;
  const places = named.arguments?.[node.id];
  return costed(node.id, places ? { ...node, arguments: withArguments(node, places, number) } : node);
}

// -- costs ------------------------------------------------------------------------------------------------------------

/** A cost, and what stands before it. */
interface Sum {
  /** Undefined if nothing in it was counted. */
  amount: number | undefined;
  /** Each once. */
  signs: string;
  /** Whether it rests on named sizes that values decide. */
  isCounted?: boolean;
}

/** Id of an op, module call or function call → the cost of one call; `ROOT` is the model. */
function sumsOf(
  index: GraphIndex,
  named: NamedSizes,
  calls: ReadonlyMap<string, number>,
  sizes: SizeValues,
  measure: Measure,
): Map<string, Sum> {
  const { nodes, hierarchy } = index.graph;
  const functions = new Map(Object.entries(index.graph.functions ?? {}));
  const found = new Map<string, Sum>();
  const costAt = memoByKey((text: string) => ({
    amount: numberOf(text, sizes),
    signs: countedSigns(text, named, sizes),
    isCounted: [...namesIn(parseExpression(text))].some((name) => named.sizes[name]?.counted),
  }));
  // from the inside to the outside
  for (const node of [...nodes].reverse()) {
    if (node.kind === "op") found.set(node.id, costOf(node, named, measure, costAt));
    const { amount, signs = "", isCounted = false } = found.get(node.id) ?? {};
    const cost = { amount: amount && amount * (calls.get(node.id) ?? 1), signs, isCounted };
    add(found, hierarchy.get(node.id) ?? ROOT, cost);
    const scope = "scope" in node ? functions.get(node.scope ?? "") : undefined;
    for (let call = scope; call !== undefined; call = functions.get(call.parent ?? "")) add(found, call.id, cost);
  }
  return found;
}

function add(sums: Map<string, Sum>, id: string, { amount, signs, isCounted = false }: Sum): void {
  const before = sums.get(id) ?? { amount: undefined, signs: "" };
  const both = amount === undefined ? before.amount : amount + (before.amount ?? 0);
  sums.set(id, {
    amount: both,
    signs: signs === "" ? before.signs : together(signs, before.signs),
    isCounted: isCounted || before.isCounted === true,
  });
}

function costOf(
  op: Extract<GraphNode, { kind: "op" }>,
  named: NamedSizes,
  measure: Measure,
  costAt: (text: string) => Sum,
): Sum {
  const [text, own] = [named[COUNTS[measure]]?.[op.id], op[COUNTS[measure]]];
  if (text !== undefined) return costAt(text);
  if (own == null) return { amount: undefined, signs: "" };
  const isKnown = [op.id, ...(op.outputs ?? [])].every((id) => named.unknown?.[id] === undefined);
  return isKnown ? { amount: own, signs: "" } : { amount: 0, signs: "≥" };
}

/** The signs of what rests on sizes that values decide, which are assumed unless someone sets them. */
function countedSigns(text: string, { sizes: known }: NamedSizes, sizes: SizeValues): string {
  const signs = [...namesIn(parseExpression(text))].flatMap((name) => {
    const { counted = "", bound = "", size = 0 } = known[name] ?? {};
    if (counted === "" || sizes.get(name) !== (bound === "" ? size : Math.floor(numberOf(bound, sizes)))) return [];
    return [bound === "" ? "≈" : "≤"];
  });
  return together(...signs);
}

function together(...signs: readonly string[]): string {
  return [...new Set(signs.join(""))].join("");
}

/** Whether arithmetic with fractions gave a whole number. */
function isWhole(amount: number): boolean {
  return Math.abs(amount - Math.round(amount)) <= 1e-9 * Math.max(1, amount);
}

function wholeOf(sum: Sum | undefined): number | null {
  return sum?.amount === undefined ? null : Math.round(sum.amount);
}

/** One sign for each cost that has some. */
function signsOf(index: GraphIndex, sums: ReadonlyMap<string, Sum>, measure: Measure): Map<string, string> {
  const { costSign, [measure]: assumed } = boundsOf(index);
  return new Map(
    [...sums].flatMap(([id, { amount = 0, signs, isCounted }]) => {
      const isNamed = isCounted || signs.includes("≥"); // what is assumed has names, or is not in the sum
      const all = together(signs, assumed.has(id) && !isNamed ? costSign.trim() : "", isWhole(amount) ? "" : "≈");
      return all === "" ? [] : [[id, `${all.length > 1 ? "≈" : all} `] as const];
    }),
  );
}
