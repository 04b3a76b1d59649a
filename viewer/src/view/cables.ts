/** Very many tensors between two boxes as one wire: `55 tensors`. */
import { append } from "../graph/append.js";
import type { Wire } from "./frame.js";

/** Wires between two boxes are one if there are more than these. */
const MOST_PARALLEL = 6;

/** Whether very many wires have one source: few frames have any, and strings of ends take their time. */
function hasParallels(wires: Wire[]): boolean {
  const leaving = new Map<number, number>();
  for (const { from } of wires) leaving.set(from, (leaving.get(from) ?? 0) + 1);
  return [...leaving.values()].some((count) => count > MOST_PARALLEL);
}

/** Merges very many wires between two boxes. */
export function withCables(wires: Wire[]): Wire[] {
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
