import { expect, test } from "vitest";
import { mirrored } from "../../src/layout/decross/mirror.js";
import { rankPlainly } from "../../src/layout/layering/fallback.js";
import { type Plan, planKey } from "../../src/layout/plan.js";
import { rowsOf } from "../../src/layout/routing/route.js";
import { randomPlan } from "../random_plans.js";

/** A plan with one labelled exit. */
function labelled(label: string): Plan {
  const exits = [{ net: 0, label }];
  const slot = { across: 120, along: 40, low: 60, high: 60, round: false, labelDepth: 16, exitStep: 0, ports: null };
  return {
    vertical: true,
    inputs: 0,
    outputs: 0,
    wires: [],
    returns: [],
    apart: [],
    streams: [],
    places: [],
    dense: false,
    order: null,
    slots: [{ ...slot, exits }],
  } as unknown as Plan;
}

test("planKey differs for labels of different width", () => {
  expect(planKey(labelled("1×16×64"))).toBe(planKey(labelled("1×64×16")));
  expect(planKey(labelled("1×4"))).not.toBe(planKey(labelled("1×16×768×64")));
});

test("planKey differs where width is scarce: dot is asked for other ranks there", () => {
  const plan = labelled("1×4");
  expect(planKey({ ...plan, isNarrow: true })).not.toBe(planKey(plan));
});

test.each([rankPlainly, (plan: Plan) => mirrored(rankPlainly(plan))])(
  "ranks without dot leave room for labels, mirrored too: %#",
  (rank) => {
    for (let seed = 1; seed <= 200; seed += 1) {
      const plan = randomPlan(seed);
      const ranking = rank(plan);
      for (const row of rowsOf(plan, ranking)) {
        const ends = row.map((i) => (ranking.across[i] ?? 0) + (plan.slots[i]?.high ?? 0));
        const starts = row.map((i) => (ranking.across[i] ?? 0) - (plan.slots[i]?.low ?? 0));
        for (const [i, start] of starts.slice(1).entries()) expect(start).toBeGreaterThan(ends[i] ?? 0);
      }
    }
  },
);

test("ranks without dot put an item below all that it reads, also if that comes later in the code", () => {
  const [slot] = labelled("").slots;
  const wires = [
    [2, 0],
    [1, 2],
    [0, 3],
    [1, 3],
  ].map(([from, to]) => ({ from, to, fromPort: 0, toPort: 0, net: 0 }));
  const plan = { ...labelled(""), slots: [slot, slot, slot, slot], wires } as unknown as Plan;
  expect(rankPlainly(plan).rank).toEqual([2, 0, 1, 3]);
});
