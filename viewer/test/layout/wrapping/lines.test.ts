/** Left to right, open containers break into lines like text. */
import { expect, it } from "vitest";
import type { GraphData } from "../../../src/graph/graph.js";
import { index } from "../../../src/graph/indexing.js";
import { type Layout, layout, layoutCache, type Placed } from "../../../src/layout/layout.js";
import { view } from "../../../src/view/view.js";
import albert from "../../graphs/albert.json";
import cnn from "../../graphs/cnn.json";
import translator from "../../graphs/translator.json";
import { sketch } from "../../sketch.js";
import { strippedInstance } from "../../stripped_viz.js";
import { NO_FAULTS, validate } from "../../validate.js";

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

/** Attention in a layer in a block in a decoder, which hands out a bias and states, as in T5. */
const layer = "decoder.block.0.layer.0";
const deep = sketch(
  [
    `x > decoder.embed_tokens/embedding > ${layer}.layer_norm/norm > ${layer}.EncoderDecoderAttention/attention`,
    `decoder.embed_tokens/embedding > ${layer}/add`,
    `${layer}.EncoderDecoderAttention/attention > ${layer}/add > decoder.block.0.layer.1/linear`,
    `${layer}/add > decoder.block.0.layer.1/add > decoder.final_layer_norm/norm > y`,
    `${layer}.EncoderDecoderAttention/attention > position_bias`,
    `${layer}.layer_norm/norm > states`,
    "decoder.block.0.layer.1/linear > decoder.block.0.layer.1/add",
    `memory > ${layer}.EncoderDecoderAttention/attention`,
  ].join("\n"),
  { decoder: "T5Stack", "decoder.block.0": "T5Block", [layer]: "T5LayerSelfAttention" },
);

const MODELS: Record<string, GraphData> = {
  nested,
  deep,
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

/** Short steps aside of a line that goes on in the same direction. */
function jogs(line: readonly (readonly [x: number, y: number])[]): number {
  const ways: [number, number][] = [];
  for (const [i, [x, y]] of line.slice(1).entries()) {
    const [x0, y0] = line[i] ?? [x, y];
    const last = ways.at(-1);
    if (last !== undefined && (x - x0) * last[1] === (y - y0) * last[0])
      [last[0], last[1]] = [last[0] + x - x0, last[1] + y - y0];
    else ways.push([x - x0, y - y0]);
  }
  const isJog = ([x, y]: [number, number], i: number) => {
    const [[x0, y0] = [0, 0], , [x1, y1] = [0, 0]] = ways.slice(i, i + 3);
    return Math.abs(x) + Math.abs(y) < 24 && x0 * x1 + y0 * y1 > 0;
  };
  return ways.slice(1).filter(isJog).length;
}

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

it.each([
  ["model", "model.embed", "model.block.0"],
  ["model", "model.block.0", "model.norm"],
])("in %s, runs straight down from line to line: from %s to %s", (container, from, to) => {
  const { frame, geometry } = find(opened(nested).root, container) ?? {};
  const wire = frame?.wires.findIndex((one) => frame.items[one.from]?.id === from && frame.items[one.to]?.id === to);
  expect(geometry?.lines[wire ?? -1]).toBeDefined();
  expect(jogs(geometry?.lines[wire ?? -1] ?? [])).toBe(0);
});
