import { BORDER } from "../../view/frame.js";
import type { Plan, PlanWire, Slot } from "../plan.js";

/** Marks the wires to draw straight: the trunk of a frame, and the spine of each branch. */

/** Mark the heaviest path through the frame by the weights of its items, which are in execution order. */
export function markTrunk(plan: Plan, weights: readonly number[]): void {
  const incoming = incomingWires(plan);
  const best: number[] = [];
  const via: number[] = [];
  plan.slots.forEach((_, i) => {
    const wires = incoming[i] ?? [];
    const values = wires.map((wire) => headValue(plan, best, wire));
    const weight = Math.max(0, ...values);
    const tied = wires.filter((_, k) => values[k] === weight).sort((a, b) => sourceOf(plan, a) - sourceOf(plan, b));
    // of equal branches the middle one, so that query and value surround the key
    via.push(tied[(tied.length - 1) >> 1] ?? -1);
    best.push(weight + (weights[i] ?? 0));
  });
  markSpines(plan, via, weights);
  let at = trunkEnd(plan, best);
  while (at >= 0) {
    const wire = plan.wires[at];
    if (wire === undefined) return;
    wire.trunk = true;
    at = wire.from === BORDER ? -1 : (via[wire.from] ?? -1);
  }
}

/** Mark the heaviest path of each branch; `via` is the heaviest wire into each item. */
function markSpines(plan: Plan, via: number[], weights: readonly number[]): void {
  const ahead = [...weights];
  const onwards = new Map<number, number>();
  const reach = ({ to }: PlanWire) => (to === BORDER ? 0 : (ahead[to] ?? 0));
  const outgoing = outgoingWires(plan);
  for (let item = plan.slots.length - 1; item >= 0; item -= 1) {
    let most = 0;
    for (const i of outgoing[item] ?? []) {
      const wire = plan.wires[i];
      if (wire !== undefined) most = Math.max(most, reach(wire));
    }
    ahead[item] = (ahead[item] ?? 0) + most;
  }
  plan.wires.forEach((wire, i) => {
    if (wire.to !== BORDER && via[wire.to] !== i) return;
    const source = wire.from === BORDER ? -1 - wire.fromPort : wire.from;
    const known = plan.wires[onwards.get(source) ?? -1];
    if (known === undefined || reach(wire) > reach(known)) onwards.set(source, i);
  });
  for (const i of onwards.values()) {
    const wire = plan.wires[i];
    if (wire !== undefined) wire.spine = true;
  }
}

function sourceOf(plan: Plan, wire: number): number {
  return plan.wires[wire]?.from ?? BORDER;
}

/** Heavier than any inner path: a trunk starts at an input, not at a constant table added later. */
const FROM_OUTSIDE = 1e6;
const FIRST_USED = 0.125;

/** Weight of the heaviest path up to a wire. */
function headValue(plan: Plan, best: number[], wire: number): number {
  const from = sourceOf(plan, wire);
  if (from !== BORDER) return best[from] ?? 0;
  // of equal paths, prefer the input used first: the decoder's states, not the encoder's
  return FROM_OUTSIDE - FIRST_USED * (plan.wires[wire]?.fromPort ?? 0);
}

/** The last wire of the trunk: the heaviest that leaves the frame, else the last into the heaviest item. */
function trunkEnd(plan: Plan, best: number[]): number {
  let end = -1;
  let weight = -1;
  const leaving = plan.wires.some((wire) => wire.to === BORDER);
  plan.wires.forEach((wire, i) => {
    if (leaving && wire.to !== BORDER) return;
    const value = wire.to === BORDER ? (best[wire.from] ?? 0) : (best[wire.to] ?? 0) + (best[wire.from] ?? 0) / 1e9;
    if (value > weight) {
      weight = value;
      end = i;
    }
  });
  return end;
}

/** Weight of a slot, by size: large blocks contain most of the computation. */
export function slotWeight(slot: Pick<Slot, "round" | "along" | "ports">): number {
  return 16 + (slot.round ? 0 : slot.along) + (slot.ports === null ? 0 : slot.along);
}

function incomingWires(plan: Plan): number[][] {
  const incoming: number[][] = plan.slots.map(() => []);
  plan.wires.forEach((wire, i) => {
    if (wire.to !== BORDER) incoming[wire.to]?.push(i);
  });
  return incoming;
}

function outgoingWires(plan: Plan): number[][] {
  const outgoing: number[][] = plan.slots.map(() => []);
  plan.wires.forEach((wire, i) => {
    if (wire.from !== BORDER) outgoing[wire.from]?.push(i);
  });
  return outgoing;
}

// -- wires beside a longer path ----------------------------------------------------------------------------------------

/** Rails are wires that bypass a longer path between the same ends. */

/**
 * Mark the rails. Only the router draws them: residuals read best beside the skipped items, and dot may not terminate with
 * two tensors fanned out to eighty layers.
 */
export function markRails(plan: Plan): void {
  const { vertices, successors } = vertexGraph(plan);
  const words = Math.ceil(vertices / 32);
  const reach = new Uint32Array(vertices * words);
  for (let vertex = vertices - 1; vertex >= 0; vertex -= 1) {
    const next = (successors[vertex] ?? []).sort((a, b) => a.to - b.to);
    let implied = false;
    next.forEach(({ to, wire }, i) => {
      // either all or none of the parallel wires between two vertices are rails
      if (to !== next[i - 1]?.to) implied = (((reach[vertex * words + (to >> 5)] ?? 0) >>> (to & 31)) & 1) === 1;
      const planned = plan.wires[wire];
      if (implied && planned !== undefined && !planned.trunk) planned.rail = true;
      join(reach, words, vertex, to);
    });
  }
}

function join(reach: Uint32Array, words: number, vertex: number, to: number): void {
  const at = vertex * words + (to >> 5);
  reach[at] = (reach[at] ?? 0) | (1 << (to & 31));
  for (let i = 0; i < words; i += 1) {
    reach[vertex * words + i] = (reach[vertex * words + i] ?? 0) | (reach[to * words + i] ?? 0);
  }
}

/** Vertices are input ports, items and output ports, in this order, so that wires lead to larger numbers. */
function vertexGraph(plan: Plan): { vertices: number; successors: { to: number; wire: number }[][] } {
  const vertices = plan.inputs + plan.slots.length + plan.outputs;
  const successors: { to: number; wire: number }[][] = Array.from({ length: vertices }, () => []);
  plan.wires.forEach((wire, i) => {
    const from = wire.from === BORDER ? wire.fromPort : plan.inputs + wire.from;
    const to = wire.to === BORDER ? plan.inputs + plan.slots.length + wire.toPort : plan.inputs + wire.to;
    if (to > from) successors[from]?.push({ to, wire: i });
  });
  return { vertices, successors };
}
