import { describe, expect, it } from "vitest";
import type { Plan, PlanWire } from "../../../src/layout/plan.js";
import { route } from "../../../src/layout/routing/route.js";
import { arranged, reordered } from "../../../src/layout/structures/arranged.js";
import type { Alignment } from "../../../src/view/frame.js";

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

describe("with edges in line", () => {
  const sizes = [
    { across: 40, along: 28, low: 20, high: 40 },
    { across: 80, along: 100, low: 40, high: 40 },
    { across: 60, along: 28, low: 30, high: 30 },
  ];
  const uneven = (align: Alignment): Plan => {
    const bare = plan(3);
    return { ...bare, align, slots: bare.slots.map((one, i) => ({ ...one, ...sizes[i] })) };
  };
  /** Start, middle and end of each box, across or along. */
  const edges = (places: number[], side: "across" | "along") =>
    places.map((at, i) => {
      const size = sizes[i]?.[side] ?? 0;
      const start = side === "across" ? at - size / 2 : at;
      return { start, center: start + size / 2, end: start + size };
    });

  it.each(["start", "center", "end"] as const)("puts one below the other: %s", (align) => {
    const { across } = arranged(uneven(align), { most: 1, lines: 0, order: [], align });
    expect(new Set(edges(across, "across").map((box) => box[align])).size).toBe(1);
  });

  it.each(["start", "center", "end"] as const)("puts one beside the other: %s", (align) => {
    const row = uneven(align);
    const { places } = route(row, arranged(row, { most: 3, lines: 0, order: [], align }));
    const tops = places.map(([, along]) => along);
    expect(new Set(edges(tops, "along").map((box) => box[align])).size).toBe(1);
  });

  it("starts the rows of a grid where the first does", () => {
    const { across } = arranged(uneven("start"), { most: 2, lines: 0, order: [], align: "start" });
    const [first, , third] = edges(across, "across");
    expect(third?.start).toBe(first?.start);
  });

  it("leads straight to what is narrower", () => {
    const bare = uneven("start");
    const chain = { ...bare, wires: plan(3, [0, 1], [1, 2]).wires };
    const { lines } = route(chain, arranged(chain, { most: 1, lines: 0, order: [], align: "start" }));
    for (const line of lines) expect(new Set(line.map(([across]) => across)).size).toBe(1);
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
