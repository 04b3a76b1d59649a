import { expect, it } from "vitest";
import type { GraphData } from "../../../src/graph/graph.js";
import { index } from "../../../src/graph/indexing.js";
import { boxSize, detailLines, nameLines } from "../../../src/layout/coord/metrics.js";
import { crossings } from "../../../src/layout/decross/order.js";
import { type Box, type Layout, layout, layoutCache, type Placed } from "../../../src/layout/layout.js";
import { towersIn } from "../../../src/layout/structures/towers.js";
import { initialState } from "../../../src/view/expand/initial_state.js";
import { BORDER, type Item } from "../../../src/view/frame.js";
import type { ViewOptions } from "../../../src/view/options.js";
import { IN_ONE_FLOW, type State } from "../../../src/view/state.js";
import { view } from "../../../src/view/view.js";
import { firstState } from "../../first_state.js";
import { all, residual } from "../../fixtures.js";
import { sketch } from "../../sketch.js";
import { strippedInstance } from "../../stripped_viz.js";
import { NO_FAULTS, validate } from "../../validate.js";

/** Encoder and decoder, and towers, next to each other: found by the graph alone. */

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
  const cache = layoutCache();
  const open = (least: number, options: ViewOptions = {}) =>
    initialState(traced, options, (state) => {
      const made = layout(view(traced, state), viz, cache);
      return made.shaped && state.expanded.length > 0 ? { ...made, width: Math.max(made.width, least) } : made;
    });
  expect(open(0)).toMatchObject({ expanded: expect.arrayContaining(["decoder.0"]) });
  expect(open(0).shapes).toBeUndefined();
  expect(open(2000).shapes).toEqual(IN_ONE_FLOW);
  expect(open(2000, { shapes: ["columns"] }).shapes).toEqual(["columns"]);
});

it("takes the option of the author", () => {
  const traced = index(towers);
  expect(firstState(traced, { shapes: "none" }, viz).shapes).toEqual([]);
  expect(firstState(traced, { shapes: ["columns"] }, viz).shapes).toEqual(["columns"]);
});

/** An encoder and a decoder that look alike, in one module. */
function translated(): GraphData {
  const layers = [0, 1, 2];
  const stack = (name: string, first: string, second: string) =>
    layers.flatMap((i) => {
      const [from, id] = [i === 0 ? first : `m.${name}.layers.${i - 1}/add`, `m.${name}.layers.${i}`];
      return [`${from} > ${id}/linear > ${id}/add`, `${from} > ${id}/add`, `${second} > ${id}/add`];
    });
  const lines = [
    ...stack("encoder", "source", "mask"),
    ...stack("decoder", "target", `m.encoder.layers.2/add`),
    `m.decoder.layers.2/add > head/linear > words`,
  ];
  const classes = layers.flatMap((i) => [
    [`m.encoder.layers.${i}`, "Layer"],
    [`m.decoder.layers.${i}`, "Reader"],
  ]);
  return sketch(lines.join("\n"), { m: "Model", ...Object.fromEntries(classes) });
}

it("tells an encoder and a decoder apart that look alike", () => {
  const state: State = { expanded: ["m"], unrolled: [], direction: "TB" };
  expect(layout(view(index(translated()), state), viz).shaped).toBe(true);
});

const speech = "encoder.transformer.speech_layers";

/** Like BART: positions that depend on nothing, layers with long names, and the encoder's states as an output. */
const tabled = sketch(
  [
    "source > encoder.tokens/embedding",
    "encoder.positions/arange > encoder.positions/embedding",
    `encoder.tokens/embedding > encoder/add > ${speech}.0/scaled_dot_product_attention > ${speech}.0/gelu`,
    `${speech}.0/gelu > ${speech}.1/scaled_dot_product_attention > ${speech}.1/gelu > a_very_long_name_of_the_states`,
    "encoder.positions/embedding > encoder/add",
    "target > decoder.tokens/embedding > decoder.layers.0/norm > decoder.layers.0/mul > decoder.layers.1/norm",
    "decoder.layers.1/norm > decoder.layers.1/mul > words",
    ...[0, 1].map((i) => `${speech}.1/gelu > decoder.layers.${i}/mul`),
  ].join("\n"),
  {
    ...{ encoder: "Encoder", "encoder.tokens": "Tokens", "encoder.positions": "Positions" },
    ...{ [`${speech}.0`]: "EncoderLayer", [`${speech}.1`]: "EncoderLayer" },
    ...{ decoder: "Decoder", "decoder.tokens": "Tokens" },
    ...{ "decoder.layers.0": "DecoderLayer", "decoder.layers.1": "DecoderLayer" },
  },
);

const inside = ({ root }: Layout, id: string): Placed => {
  const all = [root];
  for (const { inner } of all) all.push(...inner.filter((one) => one !== null));
  const found = all.find(({ frame }) => frame.id === id);
  if (found === undefined) throw new Error(`${id} is not open`);
  return found;
};

it("spares width in columns: titles have more lines, or are beside the wire where more room is", () => {
  const open = { expanded: ["encoder", `${speech}.0`] };
  const [narrow, usual] = [drawn(tabled, open), drawn(tabled, { ...open, shapes: [] })].map(
    (made) => inside(made, `${speech}.0`).geometry,
  );
  expect(narrow?.width).toBeLessThan((usual?.width ?? 0) - 20);
  expect(narrow?.title?.height).toBeGreaterThan(usual?.title?.height ?? 0);
});

it.each([["encoder"], ["encoder", `${speech}.0`]])(
  "puts positions above the tokens in a column, at the same side whatever is open: %j",
  (...expanded) => {
    const { frame, geometry } = inside(drawn(tabled, { expanded }), "encoder");
    const [tokens, positions] = ["encoder.tokens", "encoder.positions"].map(
      (id) => geometry.boxes[frame.items.findIndex((item) => item.id === id)],
    );
    expect((positions?.y ?? 0) + (positions?.height ?? 0)).toBeLessThan(tokens?.y ?? 0);
    expect(positions?.x).toBeGreaterThan(geometry.ports.inputs[0] ?? 0);
    expect(positions?.x).toBeLessThan(tokens === undefined ? 0 : right(tokens));
  },
);

it("puts an output of the encoder below it, not beside what goes to the decoder", () => {
  const { box, ...made } = drawn(tabled, { expanded: ["encoder"] });
  const encoder = box("encoder");
  const exit = encoder.x + (inside(made, "encoder").geometry.ports.outputs[0] ?? 0);
  expect(middle(box("output:a_very_long_name_of_the_states"))).toBeCloseTo(exit, -0.5);
});

it("has no blank strip between a title and the columns below it", () => {
  const stacks = translated();
  const { frame, geometry } = inside(drawn(stacks, { expanded: ["m"] }), "m");
  const top = Math.min(...geometry.boxes.map(({ y }) => y));
  const { y = 0, height = 0 } = geometry.title ?? {};
  expect(frame.items.length).toBeGreaterThan(1);
  expect(top - y - height).toBeLessThanOrEqual(28);
  const down = geometry.lines.filter((_, i) => frame.wires[i]?.from === BORDER).map((line) => line.map(([, at]) => at));
  expect(down).toEqual(down.map((line) => [...line].sort((a, b) => a - b)));
});

/** Like Qwen2-VL: a tower of images joins the tokens; the stack below also reads numbers of positions. */
const seeing = sketch(
  [
    "tokens > m.embed/embedding",
    "pixels > m.visual/conv > m.visual/scaled_dot_product_attention > m.visual/norm",
    "grid > m/arange > m/repeat_interleave",
    "m.visual/norm > m/split",
    "m.embed/embedding > m/masked_scatter",
    "m/split > m/masked_scatter > m.layers.0/norm > m.layers.0/mul > m.layers.1/norm",
    ...[0, 1].map((i) => `m/repeat_interleave > m.layers.${i}/mul`),
    "m.layers.1/norm > m.layers.1/mul > words",
    "unused > forgotten",
  ].join("\n"),
  {
    ...{ m: "Model", "m.embed": "WordEmbeddingOfALanguageModel", "m.visual": "VisionTransformerModel" },
    ...{ "m.layers.0": "Layer", "m.layers.1": "Layer" },
  },
);

it("takes no stack for a decoder that goes on with numbers of positions alone", () => {
  expect(layout(view(index(seeing), { expanded: ["m"], unrolled: [], direction: "TB" }), viz).shaped).toBe(false);
});

/** The same with a stack for images, so that there are two. */
const seen = sketch(
  [
    "tokens > m.embed/embedding",
    "pixels > m.visual/conv > m.visual.0/norm > m.visual.0/gelu > m.visual.1/norm > m.visual.1/gelu > m/split",
    "grid > m/arange",
    "m.embed/embedding > m/masked_scatter",
    "m/split > m/masked_scatter > m.lm.0/norm > m.lm.0/gelu > m.lm.1/norm > m.lm.1/gelu > words",
    ...[0, 1].map((i) => `m/arange > m.lm.${i}/gelu`),
    "m.visual.1/gelu > features",
  ].join("\n"),
  {
    ...{ m: "Model", "m.embed": "WordEmbeddingOfALanguageModel", "m.visual": "VisionTransformerModel" },
    ...{ "m.visual.0": "VisionLayerWithALongName", "m.visual.1": "VisionLayerWithALongName" },
    ...{ "m.lm": "LanguageModel", "m.lm.0": "Layer", "m.lm.1": "Layer" },
  },
);

it.each([[], ["m.visual"], ["m.visual", "m.visual.0"], ["m.lm"], ["m.visual", "m.visual.0", "m.lm", "m.lm.0"]])(
  "puts a tower that joins the inputs of a stack beside all that goes on to it: %j",
  (...expanded) => {
    for (const narrow of [false, true]) {
      const made = drawn(seen, { expanded: ["m", ...expanded], narrow });
      const { frame, geometry } = inside(made, "m");
      const box = (id: string) => geometry.boxes[frame.items.findIndex((item) => item.id === id)] as Box;
      for (const id of ["m.embed", "m/masked_scatter", "m.lm"]) expect(right(box("m.visual"))).toBeLessThan(box(id).x);
      expect(right(box("m/split"))).toBeLessThan(box("m/masked_scatter").x);
      expect(box("m.visual").y).toBe(box("m.embed").y);
    }
  },
);

it("draws narrow containers alike, whatever was drawn before", () => {
  const state: State = { expanded: ["m", "m.visual", "m.visual.0"], unrolled: [], direction: "TB" };
  const cache = layoutCache();
  layout(view(index(seen), state), viz, cache);
  const narrow = () => view(index(seen), { ...state, narrow: true });
  const [again, anew] = [layout(narrow(), viz, cache), layout(narrow(), viz)];
  expect(again.root.geometry).toEqual(anew.root.geometry);
  expect(inside(again, "m").geometry).toEqual(inside(anew, "m").geometry);
});

it("breaks long names in narrow boxes, where that saves much", () => {
  const item = (name: string, detail: string, narrow = true) => {
    const [one] = view(index(seen), { expanded: [], unrolled: [], direction: "TB", narrow }).root.items.filter(
      ({ kind }) => kind === "module",
    );
    if (one === undefined) throw new Error("expected a module");
    return { ...one, name, detail, narrow };
  };
  const long = ["compute_3d_position_ids_of_parts", "Qwen2VLVisionRotaryEmbedding · 12K"] as const;
  expect(nameLines(item(...long))).toEqual(["compute_3d_position_", "ids_of_parts"]);
  expect(detailLines(item(...long))).toEqual(["Qwen2VLVisionRotary", "Embedding · 12K"]);
  expect(nameLines(item(...long, false))).toHaveLength(1);
  expect(nameLines(item("self_attn", "Attention"))).toEqual(["self_attn"]);
  expect(boxSize(item(...long)).width).toBeLessThan(boxSize(item(...long, false)).width - 40);
  expect(boxSize(item(...long)).height).toBeGreaterThan(boxSize(item(...long, false)).height);
});

it("is less broad where the state says that width is scarce", () => {
  const open = (narrow: boolean) => {
    const made = layout(
      view(index(seeing), { expanded: ["m", "m.visual"], unrolled: [], direction: "TB", narrow }),
      viz,
    );
    expect(validate(made)).toMatchObject({ ...NO_FAULTS, shared: 0 });
    return made.width;
  };
  expect(open(true)).toBeLessThan(open(false));
});

it("makes containers narrow where nothing of what the model is made of would fit the page else", () => {
  const [traced, cache] = [index(seeing), layoutCache()];
  const first = (most: number) =>
    initialState(traced, {}, (state) => {
      const made = layout(view(traced, state), viz, cache);
      return { ...made, width: state.expanded.length > 0 && !state.narrow ? most : made.width };
    });
  expect(first(100).narrow).toBeUndefined();
  expect(first(2000)).toMatchObject({ narrow: true, expanded: expect.arrayContaining(["m"]) });
});

it("doesn't search frames of very many items, for which that would take long", () => {
  const { root } = view(index(towers), { expanded: [], unrolled: [], direction: "TB" });
  const more = (count: number) =>
    root.items.slice(0, 1).flatMap((one) => Array<Item>(count).fill({ ...one, kind: "op" }));
  expect(towersIn({ ...root, items: [...root.items, ...more(10)] })).not.toBeNull();
  expect(towersIn({ ...root, items: [...root.items, ...more(1000)] })).toBeNull();
});

it("puts an output below its tower, though it was beside the closed model's other side", () => {
  const held = (text: string) => text.replace(/\b(encoder|decoder|embed)(?=[./])/g, "m.$1");
  const lines = [
    ...["source > encoder.0/norm", ...block("encoder.0"), "encoder.0/gelu > encoder.1/norm", ...block("encoder.1")],
    "target > embed/embedding > embed/scale > decoder.0/norm",
    ...[...block("decoder.0", "encoder.1/gelu"), "decoder.0/gelu > decoder.1/norm"],
    ...[...block("decoder.1", "encoder.1/gelu"), "decoder.1/gelu > head/linear > words"],
    "encoder.1/gelu > encoder_last_hidden_state",
  ];
  const classes = { m: "Model", "m.encoder.0": "Layer", "m.encoder.1": "Layer", "m.embed": "Embed", head: "Head" };
  const readers = { "m.decoder.0": "Reader", "m.decoder.1": "Reader" };
  const model = sketch(lines.map(held).join("\n"), { ...classes, ...readers });
  const { root, box } = drawn(model, { expanded: ["m", "m.encoder.0", "m.decoder.0"] });
  expect(right(box("output:encoder_last_hidden_state"))).toBeLessThan(box("head").x);
  expect(crossings(root.geometry, root.frame)).toBe(0);
});
