/** Left to right, open containers break into lines like text. */
import { expect, it } from "vitest";
import type { GraphData } from "../src/graph/graph.js";
import { index } from "../src/graph/indexing.js";
import { type Layout, layout, layoutCache, type Placed } from "../src/layout/layout.js";
import { view } from "../src/view/view.js";
import albert from "./graphs/albert.json";
import cnn from "./graphs/cnn.json";
import translator from "./graphs/translator.json";
import { sketch } from "./sketch.js";
import { strippedInstance } from "./stripped_viz.js";
import { NO_FAULTS, validate } from "./validate.js";

const viz = await strippedInstance();

/** Broader pictures have labels of less than 9 px in a page of 740 px. */
const BROADEST = 740 / 0.9;

/** Blocks with a residual in a model inside the model, and a state that each hands out. */
const nested = sketch(
  [
    "x > model.embed/embedding > model.block.0/norm > model.block.0/attention > model.block.0/add",
    "model.embed/embedding > model.block.0/add",
    "model.block.0/add > model.block.0/second_norm > model.block.0/linear > model.block.0/second_add",
    "model.block.0/add > model.block.0/second_add > model.norm/norm > model.norm/scale > head/linear > logits",
    "model.block.0/attention > states",
  ].join("\n"),
  { model: "Model", "model.embed": "Embedding", "model.block.0": "Block", "model.norm": "Norm", head: "Head" },
);

const MODELS: Record<string, GraphData> = {
  nested,
  albert: albert as unknown as GraphData,
  cnn: cnn as unknown as GraphData,
  translator: translator as unknown as GraphData,
};

function opened(graph: GraphData): Layout {
  const traced = index(graph);
  const shown = { expanded: [...traced.contents.keys()], unrolled: [], direction: "LR" as const };
  return layout(view(traced, shown), viz, layoutCache());
}

it.each(Object.entries(MODELS))("%s, all open, is legible in a page, and nothing overlaps", (_, graph) => {
  const made = opened(graph);
  expect(made.width).toBeLessThanOrEqual(BROADEST);
  expect(validate(made)).toMatchObject({ ...NO_FAULTS, shared: 0 });
  // at the very edge, half of a line would be cut
  const places = made.root.geometry.lines.flat();
  const [left, right] = [Math.min(...places.map(([x]) => x)), Math.max(...places.map(([x]) => x))];
  expect(Math.min(left, made.width - right)).toBeGreaterThan(1);
});

function find(placed: Placed, id: string): Placed | undefined {
  if (placed.frame.id === id) return placed;
  return placed.inner.flatMap((inner) => (inner === null ? [] : (find(inner, id) ?? [])))[0];
}

it("enters an open container at the top left and leaves it at the bottom right", () => {
  const block = find(opened(nested).root, "model.block.0");
  if (block === undefined) throw new Error("the block is not open");
  const { frame, geometry } = block;
  const tops = new Set(geometry.boxes.map(({ y, height }) => y + height / 2));
  expect(tops.size).toBeGreaterThan(1);
  const lowest = Math.max(...geometry.boxes.map(({ y, height }) => y + height));
  const leaving = frame.wires.flatMap(({ to }, i) => (to === -1 ? [geometry.lines[i]?.at(-1)] : []));
  expect(leaving).toHaveLength(2);
  for (const end of leaving) {
    expect(end?.[0]).toBe(geometry.width);
    expect(end?.[1]).toBeGreaterThan(lowest);
  }
});
