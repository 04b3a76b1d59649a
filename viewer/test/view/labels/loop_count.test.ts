/** How often loops run, if sizes decide it. */
import { expect, it } from "vitest";
import { indexAtSizes } from "../../../src/graph/at_sizes.js";
import type { GraphData } from "../../../src/graph/graph.js";
import { index } from "../../../src/graph/indexing.js";
import { Costs } from "../../../src/session/costs.js";
import type { Frame } from "../../../src/view/frame.js";
import { timesText } from "../../../src/view/frame.js";
import { view } from "../../../src/view/view.js";
import { recurrent } from "../../fixtures.js";

/** A cell that runs as often as the text has tokens, three times in the pass. */
function looping(times: string): GraphData {
  const cells = recurrent.nodes.filter(({ kind }) => kind === "module").map(({ id }) => id);
  const ops = recurrent.nodes.filter(({ id, kind }) => kind === "op" && id.includes("pick")).map(({ id }) => id);
  return {
    ...recurrent,
    nodes: recurrent.nodes.map((node) => (node.kind === "op" ? { ...node, flops: 6 } : node)),
    model: { ...recurrent.model, flops: 54 },
    sizes: {
      sizes: { T: { size: 3 } },
      times: Object.fromEntries([...cells, ...ops].map((id) => [id, times])),
    },
  };
}

function counts({ items }: Frame): string[] {
  return items.flatMap((item) => [timesText(item), ...(item.frame === null ? [] : counts(item.frame))]).filter(Boolean);
}

function shown(graph: GraphData, sizes: Record<string, number>, numbers: boolean) {
  const traced = indexAtSizes(index(graph), new Map(Object.entries(sizes)));
  const state = { expanded: [], unrolled: [], direction: "TB", numbers } as const;
  return { traced, counts: counts(view(traced, { ...state, expanded: [], unrolled: [] }).root) };
}

it.each([
  [{}, false, "T", ["×T"]],
  [{}, true, "T", ["×3"]],
  [{ T: 32 }, false, "T", ["×T"]],
  [{ T: 32 }, true, "T", ["×32"]],
  // the loop has a fourth step, which is drawn by itself
  [{}, false, "T+1", ["×3"]],
  [{ T: 7 }, true, "T+1", ["≈ ×6"]],
])("at %j, with numbers: %s, a loop of %s steps has %j", (sizes, numbers, times, expected) => {
  expect(shown(looping(times), sizes, numbers).counts).toEqual(expected);
});

it("counts every step at other sizes", () => {
  const { traced } = shown(looping("T"), { T: 32 }, true);
  const costs = new Costs(traced);
  expect(costs.whole.flops).toBe(32 * 3 * 6);
  const calls = traced.graph.nodes.filter(({ kind }) => kind === "module").map(({ id }) => id);
  expect(costs.of(calls).flops).toBe(32 * 2 * 6);
  expect(costs.of(calls.slice(0, 1)).flops).toBeCloseTo((32 * 2 * 6) / 3);
});
