/**
 * The left-right order of a container while all of its items are closed. Opening an item keeps the order, so that nothing
 * changes sides for the reader. It depends on the model alone, so that equal states have equal pictures.
 */
import type { Frame } from "../../view/frame.js";
import type { Geometry, Ports } from "../coord/geometry.js";

/** Most items whose order is kept: a stack of 80 layers, all unrolled, would take a third longer. */
export const MOST_IN_ORDER = 48;

/** Ports of a container from left to right, in groups of arbitrary inner order. */
export interface PortOrder {
  inputs: number[][];
  outputs: number[][];
}

/** Order across the flow. */
export interface Order extends PortOrder {
  /** Items next to each other, from left to right. */
  rows: number[][];
  /** Item → its place. */
  places: number[];
  /** Number of crossings in this order while all items are closed. */
  crossings: number;
  /** Whether it must be kept, not only preferred. */
  isStrict: boolean;
  /** Whether the branches of forks are in the order of the source. */
  isSource: boolean;
}

/** The order of ports alone. */
export function ofPorts(ports: PortOrder | null): Order | null {
  return ports === null ? null : { ...ANY_ORDER, ...ports };
}

/** No order, to be extended. */
export const ANY_ORDER: Order = {
  ...{ rows: [], places: [], inputs: [], outputs: [] },
  ...{ crossings: 0, isStrict: false, isSource: false },
};

/** The order of items in a layout, with a given order of ports. */
export function orderOf(geometry: Geometry, frame: Frame, ports: PortOrder | null): Order {
  const { rows } = geometry;
  const places = [...acrossIn(geometry, frame).across];
  const ends = { inputs: ports?.inputs ?? [], outputs: ports?.outputs ?? [] };
  return { ...ANY_ORDER, rows, places, crossings: crossings(geometry, frame), ...ends };
}

/** Item → the order of its ports when open: that of its wires while it is closed. */
export function portOrders(frame: Frame, geometry: Geometry): (PortOrder | null)[] {
  return frame.items.map(({ frame: inside }, item) =>
    inside === null || inside.direction !== frame.direction
      ? null
      : { inputs: atSide(frame, geometry, item, "to"), outputs: atSide(frame, geometry, item, "from") },
  );
}

/** The ports on one side of an item; ports that lead to the same item form a group. */
function atSide(frame: Frame, geometry: Geometry, item: number, end: "from" | "to"): number[][] {
  const groups = new Map<string, { at: number; ports: Set<number> }>();
  frame.wires.forEach((wire, i) => {
    const port = end === "from" ? wire.fromPort : wire.toPort;
    if (wire[end] !== item || port < 0) return;
    const line = geometry.lines[i] ?? [];
    const point = (end === "from" ? line[0] : line[line.length - 1]) ?? [0, 0];
    const at = point[frame.direction === "TB" ? 0 : 1];
    const other = end === "from" ? `${wire.to} ${wire.toPort}` : `${wire.from}`;
    const known = groups.get(other) ?? { at, ports: new Set() };
    groups.set(other, known);
    known.ports.add(port);
  });
  return [...groups.values()].sort((a, b) => a.at - b.at).map(({ ports }) => [...ports]);
}

/** Positions of the middles of items, and of ports, across the flow. */
export interface Positions extends Ports {
  across: readonly number[];
}

export function acrossIn({ boxes, ports }: Geometry, { direction }: Frame): Positions {
  const across = boxes.map((box) => (direction === "TB" ? box.x + box.width / 2 : box.y + box.height / 2));
  return { across, ...ports };
}

/** The number of neighbours of an order that a layout violates. */
export function disagreement({ across, inputs, outputs }: Positions, order: Order): number {
  const kept = [
    ...order.rows.flatMap((row) => sorted(singletons(row), across)),
    ...sorted(order.inputs, inputs),
    ...sorted(order.outputs, outputs),
  ];
  return kept.filter((isKept) => !isKept).length;
}

/** Of neighbouring groups, whether they are in order. */
function sorted(groups: number[][], at: readonly number[]): boolean[] {
  return groups.slice(1).map((right, i) => {
    const end = Math.max(...(groups[i] ?? []).map((one) => at[one] ?? 0));
    return right.every((one) => end <= (at[one] ?? 0));
  });
}

/** Every item as a group. */
export function singletons(row: number[]): number[][] {
  return row.map((item) => [item]);
}

/** A part of a wire: where it is, and between which places it runs. */
interface Segment {
  net: string;
  at: number;
  low: number;
  high: number;
}

/** Number of crossings of wires with different tensors. */
export function crossings(geometry: Geometry, frame: Frame): number {
  const count = counted.get(geometry) ?? crossingsIn(geometry, frame);
  counted.set(geometry, count);
  return count;
}

/** Equal containers share a geometry. */
const counted = new WeakMap<Geometry, number>();

function crossingsIn({ lines }: Geometry, { wires }: Frame): number {
  const [level, upright]: [Segment[], Segment[]] = [[], []];
  lines.forEach((line, i) => {
    const net = `${wires[i]?.from} ${wires[i]?.source}`;
    line.slice(1).forEach(([x, y], k) => {
      const [x0, y0] = line[k] ?? [x, y];
      if (x0 !== x) level.push({ net, at: y, low: Math.min(x0, x), high: Math.max(x0, x) });
      else upright.push({ net, at: x, low: Math.min(y0, y), high: Math.max(y0, y) });
    });
  });
  upright.sort((a, b) => a.at - b.at);
  const places = upright.map(({ at }) => at);
  return level.reduce((sum, line) => sum + crossed(line, upright, places), 0);
}

/** Number of vertical segments, sorted by their places, that a horizontal one crosses. */
function crossed(line: Segment, upright: readonly Segment[], places: readonly number[]): number {
  let count = 0;
  for (let i = firstAfter(places, line.low); i < upright.length; i += 1) {
    const other = upright[i];
    if (other === undefined || other.at >= line.high) break;
    if (other.low < line.at && line.at < other.high && other.net !== line.net) count += 1;
  }
  return count;
}

/** Position of the first of sorted places after another. */
function firstAfter(places: readonly number[], place: number): number {
  let [low, high] = [0, places.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((places[middle] ?? 0) > place) high = middle;
    else low = middle + 1;
  }
  return low;
}
