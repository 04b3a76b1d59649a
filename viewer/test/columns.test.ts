/** Encoder | decoder and towers beside each other, found in the graph alone. */
import { expect, it } from "vitest";
import type { GraphData } from "../src/graph/graph.js";
import { index } from "../src/graph/indexing.js";
import { type Box, type Layout, layout } from "../src/layout/layout.js";
import { towersIn } from "../src/layout/structures/towers.js";
import { initialState } from "../src/view/initial_state.js";
import type { ViewOptions } from "../src/view/options.js";
import type { State } from "../src/view/state.js";
import { view } from "../src/view/view.js";
import { firstState } from "./first_state.js";
import { all, residual } from "./fixtures.js";
import { sketch } from "./sketch.js";
import { strippedInstance } from "./stripped_viz.js";
import { NO_FAULTS, validate } from "./validate.js";

const viz = await strippedInstance();

const block = (id: string, context = "") => [
  `${id}/norm > ${id}/mul > ${id}/gelu`,
  ...(context === "" ? [] : [`${context} > ${id}/mul`]),
];

/** Two stacks of three layers; each layer of the second reads the states of the first. */
const translator = sketch(
  [
    "source > encoder.0/norm",
    ...block("encoder.0"),
    "encoder.0/gelu > encoder.1/norm",
    ...block("encoder.1"),
    "encoder.1/gelu > states",
    "target > embed/embedding > embed/scale > decoder.0/norm",
    ...block("decoder.0", "encoder.1/gelu"),
    "decoder.0/gelu > decoder.1/norm",
    ...block("decoder.1", "encoder.1/gelu"),
    "decoder.1/gelu > head/linear > words",
  ].join("\n"),
  { "encoder.0": "Layer", "encoder.1": "Layer", "decoder.0": "Reader", "decoder.1": "Reader", embed: "Embed" },
);

/** Towers of unlike heights, a parameter, and two outputs of what they give. */
const towers = sketch(
  [
    "image > vision/conv > vision/relu > vision/pool > project/linear > project/norm",
    "text > language/embedding > language/linear",
    "project/norm > matmul",
    "language/linear > matmul > scale > similarity",
    "project/norm > features",
  ].join("\n"),
  { vision: "Vision", language: "Language", project: "Project" },
);

/** Like a network on text with a mask: only one of the inputs has a tower. */
const masked = sketch(
  "tokens > body/embedding > body/linear > pool/mul > pool/sum > head/linear > y\nmask > pool/mul",
  { body: "Body", pool: "Pool", head: "Head" },
);

function drawn(graph: GraphData, more: Partial<State> = {}): Layout & { box: (id: string) => Box } {
  const made = layout(view(index(graph), { expanded: [], unrolled: [], direction: "TB", ...more }), viz);
  expect(validate(made)).toMatchObject({ ...NO_FAULTS, shared: 0 });
  const { frame, geometry } = made.root;
  const box = (id: string) => {
    const found = geometry.boxes[frame.items.findIndex((item) => item.id === id)];
    if (found === undefined) throw new Error(`no ${id}`);
    return found;
  };
  return { ...made, box };
}

const middle = ({ x, width }: Box) => x + width / 2;
const right = ({ x, width }: Box) => x + width;

const STATES: Partial<State>[] = [
  {},
  { expanded: ["encoder.0"] },
  { expanded: ["decoder.0"] },
  { expanded: ["encoder.0", "decoder.0", "embed"] },
  { unrolled: ["decoder.0"] },
  { unrolled: ["encoder.0", "decoder.0"], expanded: ["encoder.1", "decoder.1"] },
];

it.each(STATES)("puts a decoder beside its encoder, with tops in line: %j", (state) => {
  const { box, shaped } = drawn(translator, state);
  expect(shaped).toBe(true);
  expect(box("input:source").y).toBe(box("input:target").y);
  const encoder = Math.max(...["input:source", "encoder.0", "output:states"].map((id) => right(box(id))));
  const decoder = ["input:target", "embed", "decoder.0", "head", "output:words"].map((id) => box(id).x);
  expect(encoder).toBeLessThan(Math.min(...decoder));
});

it("leads the encoder's states into every layer of the decoder from the gap between both", () => {
  const { box, root } = drawn(translator, { unrolled: ["decoder.0"] });
  const from = root.frame.items.findIndex(({ id }) => id === "encoder.0");
  const crossing = root.frame.wires.flatMap(({ from: source, to }, i) =>
    source === from && root.frame.items[to]?.id.startsWith("decoder") ? [root.geometry.lines[i] ?? []] : [],
  );
  expect(crossing).toHaveLength(2);
  for (const line of crossing) {
    const gap = line.map(([x]) => x).filter((x) => x > right(box("encoder.0")) && x < box("decoder.0").x);
    expect(gap.length).toBeGreaterThan(1);
  }
});

it.each([{}, { expanded: ["vision"] }, { expanded: ["vision", "language"] }])(
  "puts towers beside each other, and their join in the middle below both: %j",
  (state) => {
    const { box, root } = drawn(towers, state);
    expect(box("input:image").y).toBe(box("input:text").y);
    expect(box("vision").y).toBe(box("language").y);
    const join = box("/matmul");
    const at = root.frame.items.findIndex(({ id }) => id === "/matmul");
    const starts = root.frame.wires.flatMap(({ to }, i) => (to === at ? [root.geometry.lines[i]?.[0]?.[0] ?? 0] : []));
    expect(middle(join)).toBeCloseTo((Math.min(...starts) + Math.max(...starts)) / 2, -0.5);
    expect(join.y).toBeGreaterThan(box("project").y + box("project").height);
  },
);

it.each([
  ["option", translator, { shapes: [] }],
  ["direction", translator, { direction: "LR" as const }],
  ["mask", masked, {}],
  ["one input", residual, {}],
])("leaves other flows as they are: %s", (_, graph, state) => {
  expect(drawn(graph, state).shaped).toBe(false);
});

it("finds no towers in graphs without any", () => {
  const found = Object.entries(all).filter(([, graph]) => {
    const traced = index(graph);
    return towersIn(view(traced, firstState(traced)).root) !== null;
  });
  expect(found.map(([name]) => name)).toEqual([]);
});

it("draws a model in one flow where columns would leave no room on the page for what it is made of", () => {
  const traced = index(translator);
  const open = (least: number, options: ViewOptions = {}) =>
    initialState(traced, options, (state) => {
      const made = layout(view(traced, state), viz);
      return made.shaped && state.expanded.length > 0 ? { ...made, width: Math.max(made.width, least) } : made;
    });
  expect(open(0)).toMatchObject({ expanded: expect.arrayContaining(["decoder.0"]) });
  expect(open(0).shapes).toBeUndefined();
  expect(open(2000).shapes).toEqual([]);
  expect(open(2000, { shapes: ["columns"] }).shapes).toEqual(["columns"]);
});

it("takes the option of the author", () => {
  const traced = index(towers);
  expect(firstState(traced, { shapes: "none" }, viz).shapes).toEqual([]);
  expect(firstState(traced, { shapes: ["columns"] }, viz).shapes).toEqual(["columns"]);
});

it("tells an encoder and a decoder apart that look alike", () => {
  const layers = [0, 1, 2];
  const stack = (name: string, first: string, second: string) =>
    layers.flatMap((i) => {
      const [from, id] = [i === 0 ? first : `m.${name}.layers.${i - 1}/add`, `m.${name}.layers.${i}`];
      return [`${from} > ${id}/linear > ${id}/add`, `${from} > ${id}/add`, `${second} > ${id}/add`];
    });
  const lines = [
    ...stack("encoder", "source", "mask"),
    ...stack("decoder", "target", "m.encoder.layers.2/add"),
    "m.decoder.layers.2/add > head/linear > words",
  ];
  const classes = layers.flatMap((i) => [
    [`m.encoder.layers.${i}`, "Layer"],
    [`m.decoder.layers.${i}`, "Reader"],
  ]);
  const alike = sketch(lines.join("\n"), { m: "Model", ...Object.fromEntries(classes) });
  expect(layout(view(index(alike), { expanded: ["m"], unrolled: [], direction: "TB" }), viz).shaped).toBe(true);
});
