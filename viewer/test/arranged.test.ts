import { describe, expect, it } from "vitest";
import { arranged, reordered } from "../src/layout/arranged.js";
import type { Plan, PlanWire } from "../src/layout/plan.js";

const slot = { across: 40, along: 28, low: 20, high: 20, round: false, terminal: false, ports: null, exits: [] };
const rest = { exitStep: 0, labelDepth: 0, lanes: 0 };

/** So many boxes with wires between some of them. */
function plan(boxes: number, ...pairs: [number, number][]): Plan {
  const wires = pairs.map(
    ([from, to], net): PlanWire => ({
      from,
      to,
      fromPort: -1,
      toPort: -1,
      net,
      trunk: false,
      spine: false,
      rail: false,
    }),
  );
  return {
    ...{
      vertical: true,
      slots: Array.from({ length: boxes }, () => ({ ...slot, ...rest })),
      wires,
      inputs: 0,
      outputs: 0,
    },
    ...{ returns: [], order: null, apart: [], streams: [], dense: false, places: [] },
  };
}

const DIAMOND = plan(4, [0, 1], [0, 2], [1, 3], [2, 3]);

describe("arranged", () => {
  it("puts one below the other in a column", () => {
    expect(arranged(DIAMOND, { most: 1, lines: 0, order: [] }).rank).toEqual([0, 1, 2, 3]);
  });

  it("keeps an order as far as the flow allows it", () => {
    expect(arranged(DIAMOND, { most: 1, lines: 0, order: [3, 2, 1] }).rank).toEqual([0, 2, 1, 3]);
  });

  it("fills the rows of a grid", () => {
    const { rank, across } = arranged(plan(5), { most: 2, lines: 0, order: [] });
    expect(rank).toEqual([0, 0, 1, 1, 2]);
    expect(across[0]).toBeLessThan(across[1] ?? 0);
  });

  it("goes on where a loop leads back", () => {
    expect(arranged(plan(2, [0, 1], [1, 0]), { most: 1, lines: 0, order: [] }).rank).toEqual([0, 1]);
  });
});

describe("reordered", () => {
  const ranking = { rank: [0, 1, 1, 2], across: [0, -40, 40, 0], inputs: [], outputs: [] };

  it("exchanges what is beside each other", () => {
    const { across } = reordered(DIAMOND, ranking, { most: 0, lines: 0, order: [2, 1] });
    expect(across[2]).toBeLessThan(across[1] ?? 0);
  });

  it("leaves what is in order as it is", () => {
    expect(reordered(DIAMOND, ranking, { most: 0, lines: 0, order: [1, 2] })).toBe(ranking);
  });
});
