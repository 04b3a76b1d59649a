/** Dense blocks: layers in one line, and one arc for each tensor at their right, nested by length. */
import { expect, it } from "vitest";
import type { GraphData } from "../../../src/graph/graph.js";
import { index } from "../../../src/graph/indexing.js";
import { layout } from "../../../src/layout/layout.js";
import { isDense } from "../../../src/layout/structures/dense.js";
import { view } from "../../../src/view/view.js";
import { firstState } from "../../first_state.js";
import { all, dense } from "../../fixtures.js";
import { sketch } from "../../sketch.js";
import { strippedInstance } from "../../stripped_viz.js";
import { NO_FAULTS, validate } from "../../validate.js";

const viz = await strippedInstance();
const CLOSED = { expanded: [], unrolled: [], direction: "TB" as const };

/** Layers that read all before them through a `cat`, as DenseNet's do. */
function block(layers: number): GraphData {
  const outputs = ["x", ...Array.from({ length: layers }, (_, i) => `l.${i}/relu`)];
  const lines = Array.from({ length: layers }, (_, i) => [
    `${outputs[i]} > cat'${i} > l.${i}/conv2d > l.${i}/relu`,
    ...outputs.slice(0, i).map((output) => `${output} > cat'${i}`),
  ]);
  const classes = Object.fromEntries(outputs.map((_, i) => [`l.${i}`, `Layer${i}`]));
  const last = outputs.map((output) => `${output} > cat'last`);
  return sketch([...lines.flat(), ...last, "cat'last > y"].join("\n"), classes);
}

it.each([3, 4, 6, 9])("has one arc per tensor at the right of %i layers, nested by length", (layers) => {
  const made = layout(view(index(block(layers)), CLOSED), viz);
  expect(validate(made)).toMatchObject({ ...NO_FAULTS, shared: 0 });
  const { frame, geometry } = made.root;
  const middles = geometry.boxes.map(({ x, width }) => x + width / 2);
  expect(Math.max(...middles) - Math.min(...middles)).toBeLessThan(1);
  const right = Math.max(...geometry.boxes.map(({ x, width }) => x + width));
  const lanes = new Map<number, Set<number>>();
  frame.wires.forEach(({ from, to }, i) => {
    if (to === from + 1) return;
    const outermost = Math.max(...(geometry.lines[i] ?? []).map(([x]) => x));
    lanes.set(from, (lanes.get(from) ?? new Set()).add(outermost));
  });
  const arcs = [...lanes].sort(([a], [b]) => a - b).map(([, places]) => [...places]);
  expect(arcs.map((places) => places.length)).toEqual(arcs.map(() => 1));
  const places = arcs.flat();
  expect(places).toEqual([...places].sort((a, b) => b - a));
  expect(Math.min(...places)).toBeGreaterThan(right);
  expect(places.length).toBeGreaterThan(layers - 2);
});

it("is found where readers of each tensor read those before it, too", () => {
  const found = Object.entries({ ...all, block: block(4) }).filter(([, graph]) => {
    const traced = index(graph);
    return isDense(view(traced, firstState(traced)).root.wires);
  });
  expect(found.map(([name]) => name)).toEqual(["dense", "block"]);
  expect(isDense(view(index(dense), CLOSED).root.wires)).toBe(true);
});

it("leaves what all layers read alike as it is", () => {
  const masked = sketch(
    "x > a/conv2d > b/relu > c/conv2d > d/relu > y\nm > a/conv2d\nm > c/conv2d\nn > a/conv2d\nn > c/conv2d",
  );
  expect(isDense(view(index(masked), CLOSED).root.wires)).toBe(false);
});
