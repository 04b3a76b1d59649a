/** The lanes of returns: each is routed as a wire out of the frame and another one in. */
import { LABEL_GAP, labelWidth, type Plan } from "../plan.js";
import type { Trip } from "./ports.js";

/** Distance between the lanes and what is left of them. */
const BESIDE = 12;

/** The wires out and in again. */
export function halves({ returns }: Plan): Set<number> {
  return new Set(returns.flatMap((one) => [one.out, one.in]));
}

/** Gives each return a lane at the right, the shortest innermost. */
export function placeReturns(plan: Plan, rank: number[], trips: Trip[], across: number[]): void {
  const own = halves(plan);
  const others = trips
    .filter(({ wire }) => !own.has(wire))
    .flatMap(({ start, end, lane }) => [start, end, lane ?? end]);
  let lane = Math.max(...others, ...plan.slots.map((slot, i) => (across[i] ?? 0) + slot.high)) + BESIDE;
  const rankOf = (item = 0) => rank[item] ?? 0;
  const span = (one: Plan["returns"][number]) => rankOf(plan.wires[one.out]?.from) - rankOf(plan.wires[one.in]?.to);
  for (const one of [...plan.returns].sort((a, b) => span(a) - span(b) || a.out - b.out)) {
    const [out, back] = [trips[one.out], trips[one.in]];
    if (out === undefined || back === undefined) continue;
    out.end = lane;
    out.lane = lane;
    back.start = lane;
    back.lane = lane;
    lane += LABEL_GAP + labelWidth(one.label) + BESIDE;
  }
}
