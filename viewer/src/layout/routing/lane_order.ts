/** The order in which wires get their lanes: the first are the innermost. */
import type { Plan } from "../plan.js";
import type { Trip } from "./ports.js";

/** The trunk first, then short trips, so that longer ones run outside. */
export function inLaneOrder(plan: Plan, trips: Trip[]): Trip[] {
  const reach = reachOf(plan, trips);
  const length = ({ from, to }: Trip) => (plan.dense ? from - to : to - from);
  return [...trips].sort(
    (a, b) =>
      Number(b.trunk) - Number(a.trunk) ||
      (reach.get(a.net) ?? 0) - (reach.get(b.net) ?? 0) ||
      length(a) - length(b) ||
      Number(a.rail) - Number(b.rail) ||
      a.wire - b.wire,
  );
}

/** Arc → the length of the longest with its tensor: all of these have one lane, outside of those of shorter ones. */
function reachOf({ dense }: Plan, trips: Trip[]): Map<number, number> {
  const longest = new Map<number, number>();
  if (dense) for (const { net, from, to } of trips) longest.set(net, Math.max(longest.get(net) ?? 0, to - from));
  return longest;
}
