/**
 * Fans: several branches between a fork and a join, as in Inception, ASPP, or query, key and value. No branch is the trunk,
 * so that the fork and the join are centred.
 */
import { BORDER } from "../../view/frame.js";
import { NO_DOMINATOR, nearestCommon } from "../layering/dominators.js";
import type { Plan, PlanWire } from "../plan.js";

/** Fewest branches. With two, such as a block and its shortcut, one is the main branch. */
const LEAST_BRANCHES = 3;

/** Remove the marks of trunk and spine from the ends of the branches of every fan. */
export function openFans(plan: Plan): void {
  const wires = plan.wires.filter(({ from, to, rail }) => !rail && from !== to);
  const { inputs, slots, outputs } = plan;
  const last = inputs + slots.length + outputs - 1;
  // input ports, items and output ports are numbered in this order
  const ends = wires.map(({ from, fromPort, to, toPort }) => ({
    source: from === BORDER ? fromPort : inputs + from,
    target: to === BORDER ? inputs + slots.length + toPort : inputs + to,
  }));
  const branches = slots.map(() => new Set<number>());
  for (const { source, target } of ends) branches[target - inputs]?.add(source);
  // most containers have none
  if (branches.every(({ size }) => size < LEAST_BRANCHES)) return;
  const forks = nearestCommon(last + 1, ends);
  const joins = nearestCommon(
    last + 1,
    ends.map(({ source, target }) => ({ source: last - target, target: last - source })),
  );
  slots.forEach((_, item) => {
    const join = inputs + item;
    const fork = forks[join] ?? NO_DOMINATOR;
    if (
      (branches[item]?.size ?? 0) < LEAST_BRANCHES ||
      fork === NO_DOMINATOR ||
      last - (joins[last - fork] ?? NO_DOMINATOR) !== join
    )
      return;
    wires.forEach((wire, i) => {
      if (ends[i]?.target === join || ends[i]?.source === fork) unmark(wire);
    });
  });
}

function unmark(wire: PlanWire): void {
  wire.trunk = false;
  wire.spine = false;
}
