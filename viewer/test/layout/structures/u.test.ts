/** A U: the encoder goes down, the decoder up, and the skips between them are horizontal; found by the graph alone. */
import { expect, it } from "vitest";
import type { GraphData } from "../../../src/graph/graph.js";
import { index } from "../../../src/graph/indexing.js";
import { type Box, type Layout, layout } from "../../../src/layout/layout.js";
import { armsIn } from "../../../src/layout/structures/u/arms.js";
import type { Frame } from "../../../src/view/frame.js";
import type { State } from "../../../src/view/state.js";
import { view } from "../../../src/view/view.js";
import { firstState } from "../../first_state.js";
import { all, residual, unet } from "../../fixtures.js";
import { sketch } from "../../sketch.js";
import { strippedInstance } from "../../stripped_viz.js";
import { NO_FAULTS, validate } from "../../validate.js";

const viz = await strippedInstance();

/** Blocks of unlike classes, which are never drawn as one. */
const unlike = (prefix: string) =>
  Object.fromEntries([0, 1, 2, 3, 4, 5, 6, 7, 8].map((i) => [`${prefix}.${i}`, `Block${i}`]));

/** A chain with skips between its blocks, from and to these. */
function chain(blocks: number, skips: [number, number][], more = "", first = ""): GraphData {
  const names = Array.from({ length: blocks }, (_, i) => `b.${i}/mul > b.${i}/add`);
  const across = skips.map(([from, to]) => `b.${from}/add > b.${to}/mul`);
  return sketch([first, `x > ${names.join(" > ")} > y`, ...across, more].join("\n"), unlike("b"));
}

const nested: [number, number][] = [
  [1, 7],
  [2, 6],
  [3, 5],
];

interface Drawn extends Layout {
  frame: Frame;
  box: (id: string) => Box;
  /** The lines between two items. */
  line: (from: string, to: string) => (readonly [number, number])[];
}

function drawn(graph: GraphData, more: Partial<State> = {}): Drawn {
  const made = layout(view(index(graph), { expanded: [], unrolled: [], direction: "TB", ...more }), viz);
  expect(validate(made)).toMatchObject({ ...NO_FAULTS, shared: 0 });
  const { frame, geometry } = made.root;
  const at = (id: string) => frame.items.findIndex((item) => item.id === id);
  const box = (id: string) => {
    const found = geometry.boxes[at(id)];
    if (found === undefined) throw new Error(`no ${id}`);
    return found;
  };
  const line = (from: string, to: string) =>
    geometry.lines[frame.wires.findIndex((wire) => wire.from === at(from) && wire.to === at(to))] ?? [];
  return { ...made, frame, box, line };
}

const below = ({ y, height }: Box) => y + height;
const middle = ({ x, width }: Box) => x + width / 2;

/** Encoder and decoder of the fixture, from the top. */
const LEFT = ["down.0", "down.1", "down.2"];
const RIGHT = ["up.2", "up.1", "up.0"];

const STATES: Partial<State>[] = [
  {},
  { expanded: ["down.1"] },
  { expanded: ["up.1"] },
  { expanded: ["middle"] },
  { expanded: [...LEFT, ...RIGHT, "middle", "time"] },
];

it.each(STATES)("goes down on the left and up on the right, with level skips: %j", (state) => {
  const { box, line, shaped } = drawn(unet, state);
  expect(shaped).toBe(true);
  for (const [i, id] of LEFT.entries()) {
    const [left, right, join] = [box(id), box(RIGHT[i] ?? ""), box(`/cat'${2 - i}`)];
    expect(left.x + left.width).toBeLessThan(Math.min(right.x, join.x));
    if (i > 0) expect(left.y).toBeGreaterThan(below(box(LEFT[i - 1] ?? "")));
    if (i > 0) expect(below(box(RIGHT[i - 1] ?? ""))).toBeLessThan(right.y);
    expect(join.y).toBeGreaterThan(below(right));
    const skip = line(id, `/cat'${2 - i}`);
    const level = join.y + join.height / 2;
    expect(skip.slice(1).map(([, y]) => y)).toEqual(skip.slice(1).map(() => level));
    expect(level).toBeGreaterThan(below(left));
  }
});

it.each(STATES)("has its bottleneck below both arms: %j", (state) => {
  const { box } = drawn(unet, state);
  for (const id of [...LEFT, ...RIGHT]) expect(box("middle").y).toBeGreaterThan(below(box(id)));
  expect(middle(box("middle"))).toBeGreaterThan(middle(box("down.2")));
  expect(middle(box("middle"))).toBeLessThan(middle(box("up.0")));
});

it("flows up in all that the right arm shows, with titles above", () => {
  const { root } = drawn(unet, { expanded: ["down.1", "up.1"] });
  const inside = (id: string) => root.inner[root.frame.items.findIndex((item) => item.id === id)]?.geometry;
  const [down, up] = [inside("down.1"), inside("up.1")];
  const starts = (geometry = down) => geometry?.boxes.map(({ y }) => y) ?? [];
  expect(starts(down)).toEqual([...starts(down)].sort((a, b) => a - b));
  expect(starts(up)).toEqual([...starts(up)].sort((a, b) => b - a));
  expect(starts(up)).toHaveLength(3);
  expect(up?.title?.y).toBe(down?.title?.y);
});

it("leads what both arms read down beside them", () => {
  const { box, line } = drawn(unet);
  for (const id of [...LEFT, "up.1"]) expect(line("time", id).length).toBeGreaterThan(2);
  const lane = Math.max(...line("time", "up.1").map(([x]) => x));
  for (const id of RIGHT) expect(lane).toBeGreaterThan(box(id).x + box(id).width);
});

/** A U with more beside its levels; skips are those of `nested`. */
const beside = (...more: string[]) => chain(9, nested, more.join("\n"));

it("has heads beside the levels of the right arm, in one line", () => {
  const heads = [4, 5, 6, 7].map((i) => `b.${i}/add > heads.${i}/conv > out${i}`);
  const { box, shaped } = drawn(beside(...heads.slice(1)));
  expect(shaped).toBe(true);
  const places = [5, 6, 7].flatMap((i) => [middle(box(`heads.${i}`)), middle(box(`output:out${i}`))]);
  expect(Math.max(...places) - Math.min(...places)).toBeLessThanOrEqual(1);
  const chained = [5, 6, 7, 8].map((i) => box(`b.${i}`));
  expect(Math.max(...chained.map(middle)) - Math.min(...chained.map(middle))).toBeLessThanOrEqual(1);
  expect(Math.min(...places)).toBeGreaterThan(Math.max(...chained.map(({ x, width }) => x + width)));
  for (const i of [5, 6, 7]) expect(below(box(`heads.${i}`))).toBeLessThan(box(`b.${i}`).y);
});

/** With layers that make a step of time as wide as levels. */
function timed(levels: number[], blocks: number, skips: [number, number][], name = "embed"): GraphData {
  const layers = levels.map((i) => `time/linear > ${name}.${i}/linear`);
  const joins = levels.map((i) => `${name}.${i}/linear > b.${i}/mul`).join("\n");
  return chain(blocks, skips, joins, ["step > time/linear", ...layers].join("\n"));
}

it("has what makes a step of time as wide beside the levels, away from the other arm", () => {
  const { box, shaped } = drawn(timed([1, 2, 6, 7], 9, nested));
  expect(shaped).toBe(true);
  for (const i of [1, 2]) expect(box(`embed.${i}`).x + box(`embed.${i}`).width).toBeLessThan(box(`b.${i}`).x);
  for (const i of [6, 7]) expect(box(`embed.${i}`).x).toBeGreaterThan(box(`b.${i}`).x + box(`b.${i}`).width);
});

it("has no bundles at first if it is hardly wider than a page", () => {
  const wide = timed([1, 2, 5, 6, 7], 9, nested, "embedding_of_steps");
  const state = firstState(index(wide), {}, viz);
  expect([state.most, state.ends, state.shapes]).toEqual([undefined, undefined, undefined]);
  const { width, shaped } = drawn(wide, state);
  expect(shaped).toBe(true);
  expect(width).toBeGreaterThan(740);
});

it("has several level skips between two blocks", () => {
  const more = nested.map(([from, to]) => `b.${from}/mul > b.${to}/add`);
  const { frame, geometry } = drawn(beside(...more)).root;
  const at = (id: string) => frame.items.findIndex((item) => item.id === id);
  for (const [from, to] of nested) {
    const lines = geometry.lines.filter((_, i) => {
      const wire = frame.wires[i];
      return wire?.from === at(`b.${from}`) && wire.to === at(`b.${to}`);
    });
    const levels = lines.map((line) => new Set(line.slice(1, -1).map(([, y]) => y)));
    expect(levels.map(({ size }) => size)).toEqual([1, 1]);
  }
});

it("shows equal levels one by one", () => {
  const names = (prefix: string) => [0, 1, 2].map((i) => `${prefix}.${i}/mul > ${prefix}.${i}/add`);
  const skips = [0, 1, 2].map((i) => `down.${i}/add > up.${2 - i}/mul`);
  const classes = (prefix: string) => Object.fromEntries([0, 1, 2].map((i) => [`${prefix}.${i}`, prefix]));
  const text = [`x > ${[...names("down"), "middle/conv", ...names("up")].join(" > ")} > y`, ...skips];
  const { frame, shaped } = drawn(sketch(text.join("\n"), { ...classes("down"), ...classes("up") }));
  expect(shaped).toBe(true);
  expect(frame.items.map(({ times }) => times)).toEqual(frame.items.map(() => 1));
});

/** An encoder that hands on the features of all levels, and a decoder that reads them; perhaps with `between` them. */
function coded(between: string, more: string[] = []): GraphData {
  const levels = [0, 1, 2, 3];
  const down = levels.map((i) => `enc.b.${i}/mul > enc.b.${i}/add`).join(" > ");
  const up = [0, 1, 2].map((i) => `dec.b.${i}/mul > dec.b.${i}/add`).join(" > ");
  const skips = [0, 1, 2].map((i) => `enc.b.${i}/add > dec.b.${2 - i}/mul`);
  const lines = [`x > ${down} > ${between}${up} > head/conv > y`, ...skips, ...more];
  return sketch(lines.join("\n"), { enc: "Encoder", dec: "Decoder", ...unlike("enc.b"), ...unlike("dec.b") });
}

const OPEN = [
  ["enc", "dec"],
  ["enc", "dec", "enc.b.1", "dec.b.1"],
  ["enc", "dec", "enc.b.3", "dec.b.0", "head"],
];

it.each(OPEN.flatMap((expanded) => ["", "middle/conv > "].map((between) => ({ expanded, between }))))(
  "is drawn across an encoder and a decoder, each in its panel: %j",
  ({ expanded, between }) => {
    const { box, shaped, root } = drawn(coded(between), { expanded });
    expect(shaped).toBe(true);
    const [encoder, decoder] = [box("enc"), box("dec")];
    expect(encoder.x + encoder.width).toBeLessThan(decoder.x);
    expect(box("head").y + box("head").height).toBeLessThan(decoder.y);
    if (between !== "") expect(box("middle").y).toBeGreaterThan(Math.max(below(encoder), below(decoder)));
    const [left, right] = ["enc", "dec"].map((id) => root.inner[root.frame.items.findIndex((item) => item.id === id)]);
    const tops = (inside = left) => inside?.geometry.boxes.map(({ y }) => y) ?? [];
    expect(tops(left)).toEqual([...tops(left)].sort((a, b) => a - b));
    expect(tops(right)).toEqual([...tops(right)].sort((a, b) => b - a));
    const skips = root.frame.wires.flatMap(({ from, to }, i) =>
      root.frame.items[from]?.id === "enc" && root.frame.items[to]?.id === "dec" ? [root.geometry.lines[i] ?? []] : [],
    );
    const level = skips.filter((line) => new Set(line.map(([, y]) => y)).size === 1);
    expect(level).toHaveLength(3);
  },
);

/** The backbone and the pyramid of an object detector, with a head that reads all levels; perhaps in no containers. */
function pyramid(backbone = "back.", top = "pyr."): GraphData {
  const levels = [0, 1, 2, 3];
  const level = (i: number) => (i === 3 ? `${top}lateral.3/conv` : `${top.replace(".", "")}/add${i}`);
  const lines = [
    `x > ${levels.map((i) => `${backbone}b.${i}/mul > ${backbone}b.${i}/add`).join(" > ")}`,
    ...levels.map((i) => `${backbone}b.${i}/add > ${top}lateral.${i}/conv`),
    ...[2, 1, 0].map((i) => `${level(i + 1)} > ${top}up.${i}/interpolate > ${level(i)}`),
    ...[2, 1, 0].map((i) => `${top}lateral.${i}/conv > ${level(i)}`),
    ...levels.map((i) => `${level(i)} > ${top}smooth.${i}/conv > head.${i}/linear`),
    ...levels.map((i) => `head.${i}/linear > /cat`),
    "/cat > y",
  ];
  const classes = { ...(backbone && { back: "Backbone" }), ...(top && { pyr: "Pyramid" }) };
  return sketch(lines.join("\n"), { ...classes, ...unlike(`${backbone}b`) });
}

it.each([
  [pyramid(), ["back", "pyr"], "pyr"],
  [pyramid(), ["back", "pyr", "back.b.1", "pyr.smooth.1", "head.2"], "pyr"],
  [pyramid("", ""), [], ""],
  [pyramid("back.", ""), ["back"], ""],
  [pyramid("", "pyr."), ["pyr"], "pyr"],
])(
  "has the laterals of a feature pyramid between both arms, and its levels at the side: %#",
  (graph, expanded, top) => {
    const { root, shaped, box } = drawn(graph, { expanded });
    expect(shaped).toBe(true);
    const placed = root.inner[root.frame.items.findIndex(({ id }) => id === top)] ?? root;
    const inside = (id: string) => {
      const name = top === "" || id.startsWith("/") ? `${top}${id}` : `${top}.${id}`;
      return placed.geometry.boxes[placed.frame.items.findIndex((item) => item.id === name)] ?? box(name);
    };
    const chained = ["up.2", "/add2", "up.1", "/add1", "up.0", "/add0"].map(inside);
    expect(chained.map(({ y }) => y)).toEqual(chained.map(({ y }) => y).sort((a, b) => b - a));
    const laterals = [0, 1, 2].map((i) => inside(`lateral.${i}`));
    const levels = [0, 1, 2, 3].map((i) => inside(`smooth.${i}`));
    expect(new Set(laterals.map(middle)).size).toBe(1);
    for (const lateral of laterals)
      expect(lateral.x + lateral.width).toBeLessThan(Math.min(...chained.map(({ x }) => x)));
    for (const [i, lateral] of laterals.entries()) expect(below(inside(`/add${i}`))).toBeLessThan(lateral.y);
    for (const smooth of levels.slice(1))
      expect(smooth.x).toBeGreaterThan(Math.max(...chained.map((one) => one.x + one.width)));
    expect(levels.map(({ y }) => y)).toEqual(levels.map(({ y }) => y).sort((a, b) => a - b));
  },
);

it("leads the levels of a pyramid down beside it, and what reads them is below its middle", () => {
  const { box, root } = drawn(pyramid(), { expanded: ["back", "pyr"] });
  const heads = [3, 2, 1, 0].map((i) => box(`head.${i}`));
  expect(heads.map(({ x }) => x)).toEqual(heads.map(({ x }) => x).sort((a, b) => a - b));
  expect(Math.min(...heads.map(({ y }) => y))).toBeGreaterThan(Math.max(below(box("pyr")), below(box("back"))));
  expect(Math.max(...heads.map(({ x, width }) => x + width))).toBeLessThanOrEqual(root.geometry.width);
  expect(root.geometry.width).toBeLessThan(700);
});

it.each([
  ["with one of them closed", coded(""), { expanded: ["enc"] }],
  ["with the option", coded(""), { expanded: ["enc", "dec"], shapes: ["columns" as const] }],
  ["where more leaves the encoder", coded("", ["enc.b.1/add > z"]), { expanded: ["enc", "dec"] }],
])("leaves an encoder and a decoder as they are %s", (_, graph, state) => {
  expect(drawn(graph, state).shaped).toBe(false);
});

it("is drawn across an encoder that is a container and what follows it", () => {
  const traced = index(pyramid("back.", ""));
  const state = firstState(traced, {}, viz);
  expect(state.expanded).toContain("back");
  const { box, shaped } = drawn(pyramid("back.", ""), state);
  expect(shaped).toBe(true);
  expect(box("back").x + box("back").width).toBeLessThan(box("lateral.0").x);
});

it("opens both containers at first", () => {
  const traced = index(coded(""));
  expect(firstState(traced, {}, viz).expanded).toEqual(expect.arrayContaining(["enc", "dec"]));
  expect(firstState(traced, { collapse: ["enc"] }, viz).expanded).not.toContain("enc");
});

it("is drawn in a container, too, from whose end it leads down", () => {
  const graph = chain(9, nested);
  const inner = sketch(
    ["x > stem/conv", "stem/conv > net.b.0/mul > net.b.0/add"]
      .concat([1, 2, 3, 4, 5, 6, 7, 8].map((i) => `net.b.${i - 1}/add > net.b.${i}/mul > net.b.${i}/add`))
      .concat(nested.map(([from, to]) => `net.b.${from}/add > net.b.${to}/mul`))
      .concat(["net.b.8/add > head/linear > y"])
      .join("\n"),
    { net: "Net", ...unlike("net.b") },
  );
  expect(drawn(graph).shaped).toBe(true);
  const { shaped, box, line } = drawn(inner, { expanded: ["net"] });
  expect(shaped).toBe(true);
  expect(box("head").y).toBeGreaterThan(below(box("net")));
  expect(line("net", "head")[0]?.[1]).toBe(below(box("net")));
});

it.each([
  ["option", chain(9, nested), { shapes: ["columns" as const] }],
  ["option, from left to right", chain(9, nested), { shapes: ["columns" as const], direction: "LR" as const }],
  [
    "skips that cross",
    chain(9, [
      [1, 5],
      [2, 6],
      [3, 7],
    ]),
    {},
  ],
  [
    "one skip beside another",
    chain(9, [
      [0, 2],
      [3, 5],
      [6, 8],
    ]),
    {},
  ],
  ["two skips of one shape", chain(9, nested.slice(1)), {}],
  [
    "a short chain",
    chain(5, [
      [0, 4],
      [1, 3],
    ]),
    {},
  ],
  ["what else reads the encoder", chain(9, nested, "b.2/add > z"), {}],
  ["residual", residual, {}],
])("leaves other flows as they are: %s", (_, graph, state) => {
  expect(drawn(graph, state).shaped).toBe(false);
});

it.each([
  [chain(9, nested), []],
  [chain(9, nested), ["b.2", "b.6"]],
  [{ ...chain(9, nested), annotations: { "b.2": { key: "row", arrange: "row" as const } } }, ["b.2", "b.6"]],
  [pyramid(), ["back", "pyr"]],
])("is the same from left to right, where lines would be no U: %#", (graph, expanded) => {
  const [down, right] = [drawn(graph, { expanded }), drawn(graph, { expanded, direction: "LR" })];
  expect(right.shaped).toBe(true);
  expect(right.direction).toBe("LR");
  expect(right.root.geometry).toEqual(down.root.geometry);
});

it("has a container that its author turns, from left to right, too", () => {
  const state = { expanded: ["b.2", "b.6"], turned: ["b.2"] };
  const graph = chain(9, nested);
  const [down, right] = [drawn(graph, state), drawn(graph, { ...state, direction: "LR" })];
  expect(right.shaped).toBe(true);
  expect(right.root.geometry).toEqual(down.root.geometry);
  expect(right.root.geometry).not.toEqual(drawn(graph, { expanded: state.expanded }).root.geometry);
});

it("is in one flow where it would be too broad", () => {
  const fan = (branches: number) => {
    const beside = Array.from({ length: branches }, (_, i) => [`b.1/add > side.${i}/mul > side.${i}/gelu`, i] as const);
    const rest = [2, 3, 4, 5, 6, 7, 8].map((i) => `b.${i - 1}/add > b.${i}/mul > b.${i}/add`);
    const skips = nested.map(([from, to]) => `b.${from}/add > b.${to}/mul`);
    const joins = beside.map(([, i]) => `side.${i}/gelu > b.2/mul`);
    const lines = ["x > b.0/mul > b.0/add > b.1/mul > b.1/add", ...beside.map(([line]) => line), ...rest, ...joins];
    return sketch([...lines, ...skips, "b.8/add > y"].join("\n"), unlike("b"));
  };
  expect(drawn(fan(2)).shaped).toBe(true);
  expect(drawn(fan(12)).shaped).toBe(false);
});

it("finds no U in graphs without any", () => {
  const found = Object.entries(all).filter(([, graph]) => {
    const traced = index(graph);
    return armsIn(view(traced, firstState(traced)).root) !== null;
  });
  expect(found.map(([name]) => name)).toEqual(["unet"]);
});

it("finds no U in ops alone, such as those that sort tokens", () => {
  const ops = ["a", "b", "c", "d", "e", "f", "g", "h"].map((name) => `block/${name}`);
  const skips = ["block/a > block/g", "block/b > block/f", "block/c > block/e"];
  const { root } = view(index(sketch([`x > ${ops.join(" > ")} > y`, ...skips].join("\n"))), {
    ...{ expanded: ["block"], unrolled: [], direction: "TB" },
  });
  expect(armsIn(root.items.flatMap(({ frame }) => frame ?? [])[0] ?? root)).toBe(null);
});

it("takes little time to see that a long chain is none", () => {
  const long = chain(
    400,
    Array.from({ length: 398 }, (_, i): [number, number] => [i, i + 2]),
  );
  const { root } = view(index(long), { expanded: [], unrolled: [], direction: "TB" });
  expect(armsIn(root)).toBeNull();
});

it("takes the option of the author", () => {
  const traced = index(unet);
  expect(firstState(traced, {}, viz).shapes).toBeUndefined();
  expect(firstState(traced, { shapes: ["u"] }, viz).shapes).toEqual(["u"]);
  expect(layout(view(traced, firstState(traced, { shapes: "none" }, viz)), viz).shaped).toBe(false);
});
