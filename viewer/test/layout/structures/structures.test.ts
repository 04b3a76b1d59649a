import { expect, it } from "vitest";
import type { GraphData } from "../../../src/graph/graph.js";
import { index } from "../../../src/graph/indexing.js";
import { layout } from "../../../src/layout/layout.js";
import { SHAPES, type Shape } from "../../../src/view/state.js";
import { view } from "../../../src/view/view.js";
import { firstState } from "../../first_state.js";
import { unet } from "../../fixtures.js";
import { sketch } from "../../sketch.js";
import { strippedInstance } from "../../stripped_viz.js";
import { NO_FAULTS, validate } from "../../validate.js";

/** Each structure that has a layout of its own can be turned off, which leaves the others as they are. */

const viz = await strippedInstance();

/** Two towers of unlike blocks. */
function towers(): GraphData {
  const lines = [
    "a > l.0/conv > l.1/conv",
    "b > r.0/mul > r.1/gelu > r.2/mul",
    "l.1/conv > join/add",
    "r.2/mul > join/add > y",
  ];
  return sketch(lines.join("\n"), { "l.0": "L0", "l.1": "L1", "r.0": "R0", "r.1": "R1", "r.2": "R2" });
}

/** Layers of which each reads all before it. */
function dense(): GraphData {
  const layers = [0, 1, 2, 3].map((i) => `l.${i}/relu`);
  const lines = layers.flatMap((layer, i) => [
    `${layers[i - 1] ?? "x"} > cat'${i} > ${layer}`,
    ...["x", ...layers].slice(0, i).map((before) => `${before} > cat'${i}`),
  ]);
  return sketch([...lines, "l.3/relu > y"].join("\n"), { "l.0": "A", "l.1": "B", "l.2": "C", "l.3": "D" });
}

/** Four branches of unlike lengths. */
function fan(): GraphData {
  const branches = ["p.0/a", "p.1/a > p.2/b", "p.3/a > p.4/b > p.5/c", "p.6/a"];
  const classes = Object.fromEntries([0, 1, 2, 3, 4, 5, 6].map((i) => [`p.${i}`, `P${i}`]));
  const ends = branches.map((one) => `${one.split(" > ").pop()} > cat'`);
  return sketch(
    ["x > stem/conv", ...branches.map((one) => `stem/conv > ${one}`), ...ends, "cat' > y"].join("\n"),
    classes,
  );
}

/** A stage, a module that derives a second stream from it, and a stage that reads both. */
function streams(): GraphData {
  const lines = [
    "x > s.0/conv > s.0/relu > down/conv > down/relu",
    "s.0/relu > s.1/conv > s.1/add",
    "down/relu > s.1/add > y",
  ];
  const graph = sketch(lines.join("\n"), { "s.0": "Stage", "s.1": "Fused", down: "Down" });
  for (const [id, tensor] of Object.entries(graph.tensors))
    Object.assign(tensor, { shape: [1, /down/.test(id) ? 4 : 8] });
  return graph;
}

const CASES: [Shape, GraphData][] = [
  ["columns", towers()],
  ["u", unet],
  ["streams", streams()],
  ["fans", fan()],
  ["dense", dense()],
];

it.each(CASES)("%s has an option", (shape, graph) => {
  const traced = index(graph);
  const drawn = (shapes?: readonly Shape[]) => {
    const made = layout(view(traced, { expanded: [], unrolled: [], direction: "TB", ...(shapes && { shapes }) }), viz);
    expect(validate(made)).toMatchObject(NO_FAULTS);
    return JSON.stringify(made.root.geometry);
  };
  expect(drawn([shape])).toBe(drawn());
  expect(drawn(SHAPES.filter((other) => other !== shape))).toBe(drawn([]));
  expect(drawn([])).not.toBe(drawn());
  expect(firstState(traced, { shapes: [shape] }, viz).shapes).toEqual([shape]);
});
