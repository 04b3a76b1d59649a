/** Links between the nodes of a container → wires between the items of its frame. */
import { append } from "../graph/append.js";
import type { GraphIndex, Link, TensorSpec } from "../graph/graph.js";
import { addStrongest } from "../graph/indexing.js";
import { withNumbers } from "../graph/size_names.js";
import { memoByObject } from "../shared/memo.js";
import { BORDER, type Frame, type Wire } from "./frame.js";
import { sizesOf, tensorLabel, withFormer } from "./labels/labels.js";

export function wiresOf(index: GraphIndex, links: Link[], frame: Frame, positions: Map<string, number>): Wire[] {
  const wires = new Map<string, Wire>();
  for (const link of links) {
    const from = link.from === null ? BORDER : positions.get(link.from);
    const to = link.to === null ? BORDER : positions.get(link.to);
    if (from === undefined || to === undefined) continue;
    const fromPort = portOf(from === BORDER ? frame.inputs : frame.items[from]?.frame?.outputs, link.fromPort);
    const toPort = portOf(to === BORDER ? frame.outputs : frame.items[to]?.frame?.inputs, link.toPort);
    // a collapsed block that reads a tensor twice has one wire
    const ends = `${from} ${to} ${fromPort} ${toPort} ${link.fromPort}`;
    const { tensor, fromPort: source, flow } = link;
    const wire: Wire = {
      from,
      to,
      fromPort,
      toPort,
      tensor,
      count: 1,
      source,
      flow,
      label: tensorLabel(index, tensor),
      ...placesOf(index, link),
    };
    addStrongest(wires, ends, withFormer(index, wire));
  }
  return withCables([...wires.values()]);
}

/** In which graphs or cases a wire is, if not in all. */
function placesOf(index: GraphIndex, { only, cases, tensor }: Link): Pick<Wire, "only" | "cases" | "sizes"> {
  const sizes = sizesOf(index, tensor);
  return { ...(only && { only }), ...(cases && { cases }), ...(sizes && { sizes }) };
}

function portOf(ports: string[] | undefined, tensor: string): number {
  return ports === undefined ? -1 : ports.indexOf(tensor);
}

// -- very many tensors between two boxes -------------------------------------------------------------------------------

/** Very many tensors between two boxes as one wire: `55 tensors`. */

/** More wires than this between two boxes become one. */
const MOST_PARALLEL = 6;

/** Whether very many wires leave one item. Few frames have any, and comparing ends takes time. */
function hasParallels(wires: Wire[]): boolean {
  const leaving = new Map<number, number>();
  for (const { from } of wires) leaving.set(from, (leaving.get(from) ?? 0) + 1);
  return [...leaving.values()].some((count) => count > MOST_PARALLEL);
}

/** Merges very many wires between two boxes: `55 tensors`. */
function withCables(wires: Wire[]): Wire[] {
  if (wires.length <= MOST_PARALLEL || !hasParallels(wires)) return wires;
  const parallel = new Map<string, Wire[]>();
  const ends = ({ from, fromPort, to, toPort }: Wire) => `${from} ${fromPort} ${to} ${toPort}`;
  for (const wire of wires) append(parallel, ends(wire), wire);
  return wires.flatMap((wire) => {
    const same = parallel.get(ends(wire)) ?? [];
    if (same.length <= MOST_PARALLEL) return [wire];
    const { flow } = same.find((one) => one.flow === "data") ?? wire;
    const only = same.every((one) => one.only === wire.only) ? wire.only : undefined;
    const cable = { ...wire, flow, only, count: same.length, source: `to ${wire.to}`, label: `${same.length} tensors` };
    return wire === same[0] ? [cable] : [];
  });
}

// -- width by the size of tensors --------------------------------------------------------------------------------------

/** How thick edges are where they follow the size of their tensors. */

/** Steps of thickness; style.ts has a rule for each but the first. */
const STEPS = 4;

/** The step of a tensor, from 1, in equal ratios between the smallest and the largest tensor of the graph. */
export function edgeWidth(index: GraphIndex, tensor: string): number {
  const [least, most] = rangeOf(index);
  const bytes = bytesOf(index.graph.tensors.get(tensor));
  if (bytes === 0 || most === least) return 1;
  return Math.min(STEPS, 1 + Math.floor((STEPS * (Math.log2(bytes) - least)) / (most - least)));
}

/** Logarithms of the least and the most bytes of a tensor. */
const rangeOf = memoByObject((index: GraphIndex): readonly [least: number, most: number] => {
  let [least, most] = [Number.POSITIVE_INFINITY, 0];
  for (const edges of index.graph.adjacency.values()) {
    for (const { tensor } of edges) {
      const bytes = bytesOf(index.graph.tensors.get(tensor));
      if (bytes === 0) continue;
      least = Math.min(least, Math.log2(bytes));
      most = Math.max(most, Math.log2(bytes));
    }
  }
  return [least, most];
});

/** 0 where a size is not known. */
function bytesOf(spec: TensorSpec | undefined): number {
  if (spec?.shape == null) return 0;
  // a type without a number of bits is `bool`
  const bits = Number(/\d+/.exec(spec.dtype)?.[0] ?? 8);
  const elements = spec.shape.reduce<number>((product, size) => product * (typeof size === "number" ? size : 0), 1);
  return (elements * bits) / 8;
}

// -- changes of shape --------------------------------------------------------------------------------------------------

/** Where shapes change: most steps of a model keep the shape, and readers look for those that don't. */

/** Marks wires behind an item by whether its shape, in numbers, is one of those that enter the item. */
export function markChanges(index: GraphIndex, { items, wires }: Frame): void {
  const numbers = withNumbers(index);
  const shapeOf = ({ count, label, tensor }: Wire) => (count > 1 ? label : tensorLabel(numbers, tensor));
  const entering = items.map(() => new Set<string>());
  for (const wire of wires)
    if (wire.to !== BORDER && wire.flow === "data" && wire.label !== "") entering[wire.to]?.add(shapeOf(wire));
  for (const wire of wires) {
    const before = wire.from === BORDER ? undefined : entering[wire.from];
    if (before === undefined || before.size === 0 || wire.flow !== "data" || wire.label === "") continue;
    wire.shape = before.has(shapeOf(wire)) ? "same-shape" : "new-shape";
  }
}
