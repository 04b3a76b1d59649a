/** The lanes of returns: each is routed as a wire out of the frame and another one into it. */
import { laneRoom, type Plan } from "../plan.js";
import type { Trip } from "./ports.js";

/** The wires out and in again. */
export function halves({ returns }: Plan): Set<number> {
  return new Set(returns.flatMap((one) => [one.out, one.in]));
}

/** Gives each return a lane: next to its item if it leads back there, else on the far right, the shortest innermost. */
export function placeReturns(plan: Plan, rank: number[], trips: Trip[], across: number[]): void {
  const own = halves(plan);
  const others = trips
    .filter(({ wire }) => !own.has(wire))
    .flatMap(({ start, end, lane }) => [start, end, lane ?? end]);
  const beside = plan.slots.map((slot, i) => (across[i] ?? 0) + slot.high - slot.lanes);
  let outside = Math.max(...others, ...plan.slots.map((slot, i) => (across[i] ?? 0) + slot.high));
  for (const { item, returns } of inOrder(plan, rank)) {
    const lengths = returns.map(({ label }) => laneRoom(plan.vertical, label));
    const [before, after] = [
      Math.max(...lengths.map((room) => room.before)),
      Math.max(...lengths.map((room) => room.after)),
    ];
    const lane = (item === undefined ? outside : (beside[item] ?? 0)) + before;
    if (item === undefined) outside = lane + after;
    else beside[item] = lane + after;
    for (const one of returns) take(lane, item !== undefined, trips[one.out], trips[one.in]);
  }
}

/** Returns with a common lane, and the item that they lead around, if any. */
interface Group {
  item: number | undefined;
  returns: Plan["returns"];
}

/** The returns of each tensor, the shortest first. */
function inOrder(plan: Plan, rank: number[]): Group[] {
  const groups = new Map<number, Group & { span: number }>();
  for (const one of plan.returns) {
    const [out, back] = [plan.wires[one.out], plan.wires[one.in]];
    if (out === undefined || back === undefined) continue;
    const span = (rank[out.from] ?? 0) - (rank[back.to] ?? 0);
    const known = groups.get(out.net) ?? { item: one.isAround ? out.from : undefined, returns: [], span };
    known.returns.push(one);
    known.span = Math.max(known.span, span);
    groups.set(out.net, known);
  }
  return [...groups.values()].sort((a, b) => a.span - b.span);
}

function take(lane: number, isAround: boolean, out?: Trip, back?: Trip): void {
  if (out === undefined || back === undefined) return;
  Object.assign(out, { end: lane, lane, ...(isAround && { to: out.from + 1 }) });
  Object.assign(back, { start: lane, lane, ...(isAround && { from: back.to - 1 }) });
}
