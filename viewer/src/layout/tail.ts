/**
 * Frames that end in a chain, such as a stack of equal blocks after the embeddings. Only what is before needs dot, whose
 * time grows faster than the number of items.
 */
import { BORDER } from "../view/frame.js";
import { rankAsChain } from "./chain.js";
import type { Ranking } from "./dot.js";
import type { Plan, PlanWire } from "./plan.js";

/** Shorter tails save little. */
const LEAST_ITEMS = 3;

/** A ranking whose tail, if it is a chain, follows what `rank` makes of the rest. */
export function withTail(plan: Plan, rank: (head: Plan) => Ranking): Ranking {
  const start = tailStart(plan);
  if (plan.slots.length - start <= LEAST_ITEMS) return rank(plan);
  const tail = rankAsChain(tailFrom(plan, start));
  if (tail === null) return rank(plan);
  const head = rank(headTo(plan, start));
  const shift = (head.across[start] ?? 0) - (tail.across[0] ?? 0);
  const lowest = head.rank[start] ?? 0;
  return {
    rank: [...head.rank, ...tail.rank.slice(1).map((place) => lowest + place)],
    across: [...head.across, ...tail.across.slice(1).map((place) => place + shift)],
    inputs: head.inputs,
    outputs: tail.outputs.map((place) => place + shift),
  };
}

/** The first item of the chain at the end: all ways lead through it, and through each item after it. */
function tailStart({ slots, wires }: Plan): number {
  let start = slots.length - 1;
  const led = slots.map(() => false);
  const far = slots.map((_, item) => item);
  let [firstOut, lastIn] = [slots.length, 0];
  for (const { from, to, rail } of wires) {
    if (rail) continue;
    if (from === BORDER) lastIn = Math.max(lastIn, to);
    else if (to === BORDER) firstOut = Math.min(firstOut, from);
    else {
      led[from] = true;
      far[from] = Math.max(far[from] ?? 0, to);
    }
  }
  const farthest: number[] = [];
  for (const reach of far) farthest.push(Math.max(reach, farthest[farthest.length - 1] ?? 0));
  while (start > Math.max(1, lastIn) && farthest[start - 2] === start - 1) start -= 1;
  const isOpen = led.slice(0, start).every((leads) => leads) && firstOut >= start && lastIn <= start;
  return isOpen ? start : slots.length;
}

function tailFrom(plan: Plan, start: number): Plan {
  const move = (item: number) => (item === BORDER ? BORDER : item - start);
  const isInside = ({ from, to }: PlanWire) => from >= start && (to === BORDER || to >= start);
  const wires = plan.wires.filter(isInside).map((wire) => ({ ...wire, from: move(wire.from), to: move(wire.to) }));
  const apart = plan.apart.filter(([, below]) => below > start);
  return { ...plan, slots: plan.slots.slice(start), wires, inputs: 0, apart };
}

function headTo(plan: Plan, end: number): Plan {
  const { order } = plan;
  const isInside = (item: number) => item <= end;
  return {
    ...plan,
    slots: plan.slots.slice(0, end + 1),
    wires: plan.wires.filter(({ from, to }) => to !== BORDER && isInside(from) && isInside(to)),
    outputs: 0,
    order: order && {
      ...order,
      rows: order.rows.map((row) => row.filter(isInside)),
      places: order.places.slice(0, end + 1),
      outputs: [],
    },
  };
}
