import { expect, test } from "vitest";
import { type Plan, planKey } from "../src/layout/plan.js";

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
