/** Very many tensors between two boxes as one wire: `55 tensors`. */
import { append } from "../graph/append.js";
import type { Wire } from "./frame.js";

/** Wires between two boxes are one if there are more than these. */
const MOST_PARALLEL = 6;

/** Merges very many wires between two boxes. */
export function withCables(wires: Wire[]): Wire[] {
  if (wires.length <= MOST_PARALLEL) return wires;
  const parallel = new Map<string, Wire[]>();
  const ends = ({ from, fromPort, to, toPort }: Wire) => `${from} ${fromPort} ${to} ${toPort}`;
  for (const wire of wires) append(parallel, ends(wire), wire);
  return wires.flatMap((wire) => {
    const same = parallel.get(ends(wire)) ?? [];
    if (same.length <= MOST_PARALLEL) return [wire];
    const { flow } = same.find((one) => one.flow === "data") ?? wire;
    const cable = { ...wire, flow, count: same.length, source: `to ${wire.to}`, label: `${same.length} tensors` };
    return wire === same[0] ? [cable] : [];
  });
}
