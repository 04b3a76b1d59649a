/**
 * Ranks frames that end in a chain, such as a stack of equal blocks after embeddings. Only what precedes the chain needs
 * dot, whose time grows faster than the number of items.
 */
import type { Steps } from "../../shared/slices.js";
import { BORDER } from "../../view/frame.js";
import type { Plan, PlanWire } from "../plan.js";
import { rankAsChain } from "./chain.js";
import type { Ranking } from "./dot.js";

/** Shorter tails save little. */
const LEAST_ITEMS = 3;

/** Rank the tail, if it is a chain, after what `rank` makes of the rest. */
export function* withTail(plan: Plan, rank: (head: Plan) => Steps<Ranking>): Steps<Ranking> {
  const start = tailStart(plan);
  if (plan.slots.length - start <= LEAST_ITEMS) return yield* rank(plan);
  const tail = rankAsChain(tailFrom(plan, start));
  if (tail === null) return yield* rank(plan);
  const head = yield* rank(headTo(plan, start));
  const shift = (head.across[start] ?? 0) - (tail.across[0] ?? 0);
  const lowest = head.rank[start] ?? 0;
  return {
    rank: [...head.rank, ...tail.rank.slice(1).map((place) => lowest + place)],
    across: [...head.across, ...tail.across.slice(1).map((place) => place + shift)],
    inputs: head.inputs,
    outputs: tail.outputs.map((place) => place + shift),
  };
}

/** The first item of the chain at the end: all paths lead through it and through each item after it. */
function tailStart({ slots, wires }: Plan): number {
  const onwards = wires.filter(({ rail }) => !rail);
  const isPassed = (item: number) => onwards.some(({ from, to }) => from < item && (to > item || to === BORDER));
  let start = slots.length - 1;
  while (start > 1 && !isPassed(start - 1)) start -= 1;
  const leading = new Set(onwards.map(({ from }) => from));
  const hasEnds = slots.some((_, item) => item < start && !leading.has(item));
  return isPassed(start) || hasEnds ? slots.length : start;
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
