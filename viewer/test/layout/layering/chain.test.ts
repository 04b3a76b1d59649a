import { expect, test } from "vitest";
import { rankAsChain } from "../../../src/layout/layering/chain.js";
import type { Plan, PlanWire, Slot } from "../../../src/layout/plan.js";
import { BORDER } from "../../../src/view/frame.js";
import { dice } from "../../random_plans.js";

const CLOSEST = 8;

/** A chain of open items: the ports of each, and which port beside the trunk leads from or to which port of which item. */
function chain(
  slots: [across: number, ports: Slot["ports"]][],
  beside: Partial<PlanWire>[],
  ports: [number, number],
): Plan {
  const trunk = Array.from({ length: slots.length + 1 }, (_, i) => ({
    ...{ from: i === 0 ? BORDER : i - 1, to: i === slots.length ? BORDER : i, fromPort: 0, toPort: 0, trunk: true },
  }));
  const sizes = { along: 40, round: false, labelDepth: 0, exitStep: 16, exits: [] };
  return {
    ...{ vertical: true, inputs: ports[0], outputs: ports[1], apart: [], order: null },
    slots: slots.map(([across, own]) => ({ ...sizes, across, low: across / 2, high: across / 2, ports: own })),
    wires: [...trunk, ...beside].map((wire) => ({ rail: false, trunk: false, net: 0, ...wire })),
  } as unknown as Plan;
}

/** The smallest distance between two ports at one end of a chain. */
function closest(places: number[] = []): number {
  const sorted = [...places].sort((a, b) => a - b);
  return Math.min(...sorted.slice(1).map((place, i) => place - (sorted[i] ?? 0)));
}

test("cosines and sines that pass a norm on their way to attention have ports of their own", () => {
  const norm: [number, Slot["ports"]] = [240, { inputs: [148], outputs: [148] }];
  const attention: [number, Slot["ports"]] = [1248, { inputs: [222, 111, 62], outputs: [935] }];
  const wires = [1, 2].map((port) => ({ from: BORDER, fromPort: port, to: 1, toPort: port }));
  expect(closest(rankAsChain(chain([norm, attention], wires, [3, 1]))?.inputs)).toBeGreaterThanOrEqual(CLOSEST);
});

test("what several items hand out beside the trunk doesn't meet what one hands out", () => {
  const [first, next]: [number, Slot["ports"]][] = [
    [408, { inputs: [180], outputs: [180, 248, 264] }],
    [432, { inputs: [204], outputs: [204, 344, 360] }],
  ];
  const wires = [
    { from: 0, fromPort: 2, to: BORDER, toPort: 2, rail: true },
    { from: 1, fromPort: 1, to: BORDER, toPort: 1 },
    { from: 1, fromPort: 2, to: BORDER, toPort: 2 },
  ];
  const plan = chain(
    [first, next, [272, { inputs: [128], outputs: [128] }]] as Parameters<typeof chain>[0],
    wires,
    [1, 3],
  );
  expect(closest(rankAsChain(plan)?.outputs)).toBeGreaterThanOrEqual(CLOSEST);
});

test("no two ports of a random chain look like one", () => {
  for (let seed = 1; seed <= 300; seed += 1) {
    const roll = dice(seed);
    const count = 2 + roll(4);
    const placed = () => {
      const steps = [0, 1, 2, 3].map(() => 12 + roll(60));
      return steps.map((_, i) => steps.slice(0, i + 1).reduce((sum, step) => sum + step, 0)).sort(() => roll(3) - 1);
    };
    const slots = Array.from({ length: count }, (): [number, Slot["ports"]] => [
      300 + 20 * roll(8),
      { inputs: placed(), outputs: placed() },
    ]);
    const wires = [1, 2, 3].flatMap((port) => [
      { from: BORDER, fromPort: port, to: roll(count), toPort: 1 + roll(3) },
      { from: roll(count), fromPort: 1 + roll(3), to: BORDER, toPort: port },
    ]);
    const ranking = rankAsChain(chain(slots, wires, [4, 4]));
    expect(closest(ranking?.inputs), `inputs of ${seed}`).toBeGreaterThanOrEqual(CLOSEST);
    expect(closest(ranking?.outputs), `outputs of ${seed}`).toBeGreaterThanOrEqual(CLOSEST);
  }
});
