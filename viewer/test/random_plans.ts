/** Plans of all shapes, for what must hold for whatever dot is asked. */
import type { Order } from "../src/layout/decross/order.js";
import type { Plan, PlanWire, Slot } from "../src/layout/plan.js";
import { BORDER } from "../src/view/frame.js";

/** Pseudorandom numbers below a limit. */
export function dice(seed: number): (below: number) => number {
  let state = seed * 7919 + 1;
  return (below) => {
    state = (state * 48271) % 2147483647;
    return state % below;
  };
}

type Roll = (below: number) => number;

function randomSlot(roll: Roll): Slot {
  const across = [0, 24, 80, 300, 4_000, 80_000][roll(roll(20) === 0 ? 6 : 4)] ?? 0;
  const offsets = (count: number) =>
    Array.from({ length: count }, () => roll(across + 1) - across / 2).sort((a, b) => a - b);
  const isExpanded = roll(3) === 0;
  return {
    across,
    along: 30,
    low: across / 2 + roll(3) * 20,
    high: across / 2 + roll(3) * 40,
    round: roll(5) === 0,
    terminal: roll(9) === 0,
    ports: isExpanded ? { inputs: offsets(roll(5)), outputs: offsets(roll(5)) } : null,
    exits: [],
    exitStep: 16,
    labelDepth: 0,
    lanes: 0,
  };
}

/** A wire from an earlier to a later item, or seldom backwards, to itself, or to a port that is not there. */
function randomWire(plan: Plan, roll: Roll): Omit<PlanWire, "net"> {
  const count = plan.slots.length;
  const reach = roll(4) === 0 ? count : Math.min(4, count);
  const from = plan.inputs > 0 && roll(6) === 0 ? BORDER : roll(count);
  const isLast = plan.outputs > 0 && roll(6) === 0;
  const next = from === BORDER ? roll(count) : roll(50) === 0 ? roll(count) : from + 1 + roll(reach);
  const to = isLast || next >= count ? (plan.outputs > 0 && from !== BORDER ? BORDER : roll(count)) : next;
  const port = (ports: number[] | undefined) =>
    ports === undefined ? -1 : roll(ports.length + (roll(40) > 0 ? 0 : 1));
  return {
    from,
    to,
    fromPort: from === BORDER ? roll(plan.inputs) : port(plan.slots[from]?.ports?.outputs),
    toPort: to === BORDER ? roll(plan.outputs) : port(plan.slots[to]?.ports?.inputs),
    trunk: roll(5) === 0,
    spine: roll(5) === 0,
    rail: roll(12) === 0,
  };
}

/** An order of some items in rows, and of ports in groups. */
function randomOrder({ slots, inputs, outputs }: Plan, roll: Roll): Order {
  const inGroups = (count: number, most: number): number[][] => {
    const groups: number[][] = [];
    for (let i = 0; i < count; i += 1) {
      const last = groups[groups.length - 1];
      if (last !== undefined && last.length < most && roll(2) > 0) last.push(i);
      else groups.push([i]);
    }
    return groups;
  };
  const places = slots.map(() => roll(1000));
  return {
    ...{ rows: inGroups(slots.length, 5), places, crossings: roll(3), isStrict: roll(3) > 0 },
    isSource: roll(2) > 0,
    ...{ inputs: inGroups(inputs, 2), outputs: inGroups(outputs, 2) },
  };
}

/** A plan of one to a thousand items; most are small. */
export function randomPlan(seed: number): Plan {
  const roll = dice(seed + 1);
  const most = [4, 12, 40, 150, 700][seed % 25 === 0 ? roll(5) : roll(3)] ?? 4;
  const plan: Plan = {
    vertical: roll(2) > 0,
    slots: [],
    wires: [],
    returns: [],
    apart: [],
    streams: [],
    places: [],
    dense: false,
    order: null,
    inputs: roll(5),
    outputs: roll(4),
  };
  for (let left = 1 + roll(most); left > 0; left -= 1) plan.slots.push(randomSlot(roll));
  // one tensor leaves each port, and may be read by several items
  const nets = new Map<string, number>();
  const density = roll(25) / 10;
  for (let left = Math.min(800, plan.slots.length * (0.5 + density) + 2); left > 0; left -= 1) {
    const wire = randomWire(plan, roll);
    const source = `${wire.from} ${wire.fromPort}`;
    nets.set(source, nets.get(source) ?? nets.size);
    plan.wires.push({ ...wire, net: nets.get(source) ?? 0 });
  }
  if (roll(3) === 0) plan.order = randomOrder(plan, roll);
  const last = plan.slots.length - 1;
  if (last > 0 && roll(4) === 0) plan.apart = [[roll(last), last]];
  return plan;
}
