/** Cells as in NASNet and PNASNet: many branches on two states, joined in pairs, and all joins put together. */
import { expect, it } from "vitest";
import type { GraphData } from "../../../src/graph/graph.js";
import { index } from "../../../src/graph/indexing.js";
import { type Box, type Layout, layout, type Placed } from "../../../src/layout/layout.js";
import type { State } from "../../../src/view/state.js";
import { view } from "../../../src/view/view.js";
import { sketch } from "../../sketch.js";
import { strippedInstance } from "../../stripped_viz.js";
import { NO_FAULTS, validate } from "../../validate.js";

const viz = await strippedInstance();

/** Broader pictures have labels of less than 9 px in a page of 740 px. */
const BROADEST = 740 / 0.9;

/** What the joins of a cell read: ops on the state before the last, or on the last, by their sides; or the states themselves. */
type Joins = readonly (readonly [string, string])[];

const NASNET: Joins = [
  ["here.left", "prev.right"],
  ["prev.left", "prev.right"],
  ["here.left", "prev"],
  ["prev.left", "prev.right"],
  ["prev.left", "here"],
];

/** Here, the fourth join reads an op on the third. */
const PNASNET: Joins = [
  ["prev.left", "prev.right"],
  ["here.left", "here.right"],
  ["here.left", "here.right"],
  ["join2.left", "here.right"],
  ["prev.left", "here"],
];

/** The ops and joins of a cell on two tensors. */
function cellLines(cell: string, joins: Joins, before: string, last: string): string[] {
  const states = new Map([
    ["prev", `${cell}.conv_prev_1x1/relu`],
    ["here", `${cell}.conv_1x1/relu`],
  ]);
  const lines = [
    `${before} > ${cell}.conv_prev_1x1/conv2d > ${states.get("prev")}`,
    `${last} > ${cell}.conv_1x1/conv2d > ${states.get("here")}`,
  ];
  for (const [k, pair] of joins.entries()) {
    const sources = pair.map((end) => {
      const [state = "", side] = end.split(".");
      if (side === undefined) return states.get(state);
      const op = `${cell}.comb_iter_${k}_${side}`;
      lines.push(`${states.get(state)} > ${op}/conv2d > ${op}/relu`);
      return `${op}/relu`;
    });
    states.set(`join${k}`, `${cell}/add'${k}`);
    lines.push(...sources.map((source) => `${source} > ${cell}/add'${k}`));
  }
  return [...lines, ...joins.map((_, k) => `${cell}/add'${k} > ${cell}/cat`)];
}

/** A chain of cells, with names and shapes as long as those of the real ones. */
function network(joins: Joins): GraphData {
  const ends = ["stem/relu", "stem/relu", "cell_0/cat", "cell_1/cat", "cell_2/cat"];
  const cells = ["cell_0", "cell_1", "cell_2"];
  const lines = cells.flatMap((cell, i) => cellLines(cell, joins, ends[i] ?? "", ends[i + 1] ?? ""));
  const flow = ["x > stem/conv2d > stem/relu", ...lines, "cell_2/cat > head/linear > y"].join("\n");
  const graph = sketch(flow, Object.fromEntries(cells.map((cell) => [cell, "NormalCell"])));
  for (const tensor of Object.values(graph.tensors)) Object.assign(tensor, { shape: [1, 1008, 42, 42] });
  return graph;
}

function drawn(joins: Joins, direction: State["direction"]): { made: Layout; cell: Placed } {
  const made = layout(view(index(network(joins)), { expanded: ["cell_1"], unrolled: [], direction }), viz);
  expect(validate(made)).toMatchObject({ ...NO_FAULTS, shared: 0 });
  const cell = made.root.inner.find((one) => one?.frame.id === "cell_1");
  if (cell == null) throw new Error("the cell is not open");
  return { made, cell };
}

function box({ frame, geometry }: Placed, name: string): Box {
  const found = geometry.boxes[frame.items.findIndex(({ id }) => id.endsWith(name))];
  if (found === undefined) throw new Error(`no ${name}`);
  return found;
}

/** Places where wires of two tensors cross. */
function crossed({ frame, geometry }: Placed): number {
  const [level, upright]: [number[][], number[][]] = [[], []];
  const nets = [...new Set(frame.wires.map(({ from, source }) => `${from} ${source}`))];
  geometry.lines.forEach((line, i) => {
    const net = nets.indexOf(`${frame.wires[i]?.from} ${frame.wires[i]?.source}`);
    line.slice(1).forEach(([x, y], k) => {
      const [x0, y0] = line[k] ?? [x, y];
      if (x0 === x) upright.push([net, x, Math.min(y0, y), Math.max(y0, y)]);
      else level.push([net, y, Math.min(x0, x), Math.max(x0, x)]);
    });
  });
  const places = level.flatMap(([net, y = 0, left = 0, right = 0]) =>
    upright
      .filter(([other, x = 0, top = 0, bottom = 0]) => other !== net && left < x && x < right && top < y && y < bottom)
      .map(([other, x]) => `${[net, other].sort()} ${x} ${y}`),
  );
  return new Set(places).size;
}

const BOTH = ["TB", "LR"] as const;

it.each(BOTH)("has NASNet's ops in rows, joined to the right: %s", (direction) => {
  const { made, cell } = drawn(NASNET, direction);
  expect(made.width).toBeLessThanOrEqual(BROADEST);
  const ops = ["0_left", "0_right", "1_left", "1_right", "2_left", "3_left", "3_right", "4_left"].map((op) =>
    box(cell, op),
  );
  for (const { x, width } of ops) expect(Math.abs(x - (ops[0]?.x ?? 0))).toBeLessThan(width / 4);
  // as the model makes them, but for one pair
  expect(ops.slice(1).filter(({ y }, i) => y < (ops[i]?.y ?? 0)).length).toBeLessThanOrEqual(1);
  const joins = NASNET.map((_, k) => box(cell, `add'${k}`));
  for (const join of joins) expect(join.x).toBeGreaterThan(Math.max(...ops.map(({ x, width }) => x + width)));
  expect(box(cell, "/cat").x).toBeGreaterThan(Math.max(...joins.map(({ x, width }) => x + width)));
  expect(crossed(cell)).toBeLessThanOrEqual(8);
});

it.each([
  ["TB", 10],
  ["LR", 16],
] as const)("has PNASNet's cells in lines, with few crossings: %s", (direction, most) => {
  const { made, cell } = drawn(PNASNET, direction);
  expect(made.width).toBeLessThanOrEqual(BROADEST);
  expect(crossed(cell)).toBeLessThanOrEqual(most);
});

it("leads joins on to the next line without a way back to its start", () => {
  const { frame, geometry } = drawn(PNASNET, "TB").cell;
  const cat = frame.items.findIndex(({ id }) => id.endsWith("/cat"));
  const isOnwards = (from: number, to: number) => to === cat && /add'[014]/.test(frame.items[from]?.id ?? "");
  const onwards = frame.wires.flatMap(({ from, to }, i) => (isOnwards(from, to) ? [i] : []));
  expect(onwards).toHaveLength(3);
  for (const wire of onwards) {
    const [[start = 0] = [], ...others] = geometry.lines[wire] ?? [];
    expect(Math.min(...others.map(([x]) => x))).toBeGreaterThanOrEqual(start);
  }
});

it("keeps a cell that flows up in an arm of a U top down", () => {
  const downs = ["enc0", "enc1", "enc2"];
  const flow = [
    `x > ${downs.map((enc, i) => `${enc}/conv2d > ${enc}/relu > p${i}/max_pool2d`).join(" > ")} > mid/relu`,
    "mid/relu > u2/interpolate",
    ...[2, 1, 0].flatMap((i) => [
      ...cellLines(`dec${i}`, NASNET, `enc${i}/relu`, `u${i}/interpolate`),
      i > 0 ? `dec${i}/cat > u${i - 1}/interpolate` : "dec0/cat > head/conv2d > y",
    ]),
  ];
  // unlike classes, which are never drawn as one
  const names = [...downs, "mid", "p0", "p1", "p2", "u0", "u1", "u2", "dec0", "dec1", "dec2", "head"];
  const graph = sketch(flow.join("\n"), Object.fromEntries(names.map((name) => [name, `Block${name}`])));
  for (const tensor of Object.values(graph.tensors)) Object.assign(tensor, { shape: [1, 1008, 42, 42] });
  const made = layout(view(index(graph), { expanded: ["dec1"], unrolled: [], direction: "TB" }), viz);
  expect(made.shaped).toBe(true);
  expect(validate(made)).toMatchObject({ ...NO_FAULTS, shared: 0 });
});
