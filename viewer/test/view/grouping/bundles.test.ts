/** Bundles: neighbours that a container with too many children shows as one box. */
import { describe, expect, it } from "vitest";
import type { GraphData } from "../../../src/graph/graph.js";
import { index } from "../../../src/graph/indexing.js";
import { detailsOf } from "../../../src/session/details.js";
import { Session } from "../../../src/session/session.js";
import type { Frame } from "../../../src/view/frame.js";
import { shownIndex } from "../../../src/view/grouping/shown_index.js";
import { findRuns } from "../../../src/view/repeats/repeats.js";
import type { State } from "../../../src/view/state.js";
import { view } from "../../../src/view/view.js";
import { sketch } from "../../sketch.js";

const CLOSED: State = { expanded: [], unrolled: [], direction: "TB" };
const each = (count: number, part: (i: number) => string) => Array.from({ length: count }, (_, i) => part(i));

/** A chain of ops that are all different. */
const chain = sketch(`x > ${each(60, (i) => `op${i}`).join(" > ")} > y`);

function frame(graph: GraphData, state: Partial<State>): Frame {
  return view(index(graph), { ...CLOSED, ...state }).root;
}

function names(graph: GraphData, state: Partial<State>): string[] {
  return frame(graph, state).items.map(({ name, times }) => (times > 1 ? `${name} ×${times}` : name));
}

describe("bundles", () => {
  it("hold the middle of a chain, which opens in equal shares", () => {
    expect(names(chain, { most: 5 })).toEqual(["x", "op0", "op1", "… 56 ops", "op58", "op59", "y"]);
    const opened = frame(chain, { most: 5, expanded: ["bundle:/op2+55"] }).items[3];
    expect(opened?.frame?.items.map(({ name }) => name)).toEqual(["… 19 ops", "… 18 ops", "… 19 ops"]);
  });

  it("leave modules alone as long as there are ops", () => {
    const layers = each(6, (i) => `m${i}/norm > m${i}/mul > op${i}a > op${i}b > op${i}c`).join(" > ");
    const graph = sketch(`x > ${layers} > y`, Object.fromEntries(each(6, String).map((i) => [`m${i}`, `M${i}`])));
    const shown = names(graph, { most: 12 });
    expect(shown.filter((name) => name.startsWith("m"))).toEqual(each(6, (i) => `m${i}`));
    expect(shown.filter((name) => name.startsWith("…"))).toEqual(each(6, () => "… 3 ops"));
    expect(names(graph, { most: 3 })).toEqual(["x", "m0", "… 5 modules, 15 ops", "… 3 ops", "y"]);
  });

  it("take layers without weights before others, and nothing that is kept", () => {
    const stem = "conv/conv2d > bn/batch_norm > relu/relu > pool/max_pool2d";
    const blocks = "a.0/conv2d > a.1/conv2d > b.0/linear > b.1/linear > c.0/linear > c.1/conv2d";
    const classes = { conv: "Conv2d", bn: "BatchNorm2d", relu: "ReLU", pool: "MaxPool2d" };
    const plain = { a: "Sequential", b: "ModuleList", c: "FirstSequential" };
    const inside = Object.fromEntries(["a", "b", "c"].flatMap((id) => [0, 1].map((i) => [`${id}.${i}`, "Layer"])));
    const graph = sketch(`x > ${stem} > ${blocks} > y`, { ...classes, ...plain, ...inside });
    expect(names(graph, { most: 5, layers: false })).toEqual(["x", "conv", "… 3 modules", "a", "b", "c", "y"]);
    expect(names(graph, { most: 2, kept: ["b"] })).toContain("b");
    const bundle = frame(graph, { most: 2 }).items.find(({ kind }) => kind === "bundle");
    expect(bundle?.detail).toContain("Layer ×");
  });

  it("hold modules of one class side by side, with what prepares their inputs but not what reads them", () => {
    // the modules differ, so they are no run
    const read = each(12, (i) => `x > pick${i} > t.${i}/op${i}`);
    const stacked = each(12, (i) => `t.${i}/op${i} > stack`);
    const classes = Object.fromEntries(each(12, String).map((i) => [`t.${i}`, "E"]));
    const graph = sketch([...read, ...stacked, "stack > bmm > y"].join("\n"), classes);
    expect(names(graph, { most: 5 })).toEqual(["x", "t.0–11", "stack", "bmm", "y"]);
    const [, fan] = frame(graph, { most: 5 }).items;
    expect(fan?.detail).toBe("E ×12");
    const opened = frame(graph, { most: 5, expanded: [fan?.id ?? ""] }).items[1];
    expect(opened?.frame?.items.map(({ name }) => name)).toEqual(["t.0–5", "t.6–11"]);
  });

  it("don't hold modules of one class of which one depends on another", () => {
    const read = each(8, (i) => `x > t.${i}/op${i}`);
    const stacked = each(8, (i) => `t.${i}/op${i} > stack`);
    const classes = Object.fromEntries(each(9, String).map((i) => [`t.${i}`, "E"]));
    const graph = sketch([...read, ...stacked, "stack > t.8/op8 > y"].join("\n"), classes);
    expect(names(graph, { most: 5 })).not.toContain("t.0–8");
  });

  it("keep runs together", () => {
    const blocks = each(9, (i) => `b.${i}/norm > b.${i}/mul`).join(" > ");
    const classes = Object.fromEntries(each(9, String).map((i) => [`b.${i}`, "Block"]));
    const graph = sketch(`x > ${each(9, (i) => `op${i}`).join(" > ")} > ${blocks} > y`, classes);
    expect(names(graph, { most: 3 })).toEqual(["x", "… 8 ops", "op8", "b.0–8 ×9", "y"]);
    const all = names(graph, { most: 1, expanded: ["bundle:/op0+17"] });
    expect(all).toEqual(["x", "… 9 modules, 9 ops", "y"]);
    const inside = frame(graph, { most: 1, expanded: ["bundle:/op0+17"] }).items[1]?.frame?.items;
    expect(inside?.map(({ name, times }) => [name, times])).toContainEqual(["b.0–8", 9]);
  });

  it("begin and end where few tensors pass", () => {
    // op5 … op9 read what op4 made
    const skips = each(4, (i) => `op4 > op${i + 6}`).join("\n");
    const graph = sketch(`x > ${each(24, (i) => `op${i}`).join(" > ")} > y\n${skips}`);
    const { wires, items } = frame(graph, { most: 14 });
    const bundle = items.findIndex(({ kind }) => kind === "bundle");
    expect(wires.filter(({ from, to }) => from === bundle || to === bundle)).toHaveLength(2);
  });

  it("hold all but the first inputs and outputs", () => {
    const graph = sketch([...each(9, (i) => `in${i} > add`), ...each(9, (i) => `add > out${i}`)].join("\n"));
    expect(names(graph, { ends: 3 })).toEqual(["in0", "in1", "… 7 inputs", "add", "out0", "out1", "… 7 outputs"]);
    expect(frame(graph, { ends: 3 }).wires.map(({ label }) => label)).toContain("7 tensors");
  });

  it("are equal in equal modules, which stay folded", () => {
    const block = (i: number) => each(40, (j) => `b.${i}/op${j}`).join(" > ");
    const classes = Object.fromEntries(each(3, String).map((i) => [`b.${i}`, "Block"]));
    const graph = sketch(`x > ${each(3, block).join(" > ")} > y`, classes);
    expect(names(graph, { most: 10 })).toEqual(["x", "b.0–2 ×3", "y"]);
    const shown = shownIndex(index(graph), { most: 10 });
    for (const contents of shown.contents.values()) expect(findRuns(shown, contents).length).toBeLessThanOrEqual(1);
    const open = frame(graph, { most: 10, expanded: ["b.0", "b.1", "b.2"], unrolled: ["b.0"] }).items.slice(1, 4);
    const inside = open.map((item) => item.frame?.items.map(({ name }) => name).join());
    expect(new Set(inside).size).toBe(1);
  });
});

describe("a session with bundles", () => {
  const session = () => new Session({ graph: chain, state: { ...CLOSED, most: 5 } });

  it("opens those around a node that is looked for", () => {
    const state = session().transitions.reveal("/op30");
    const [, , , bundle] = view(index(chain), state).root.items;
    const share = bundle?.frame?.items.find(({ frame }) => frame !== null);
    expect(share?.frame?.items.map(({ id }) => id)).toContain("/op30");
  });

  it("knows what is hidden in them", () => {
    const { items } = view(index(chain), session().state).root;
    const visible = new Set(items.map(({ id }) => id));
    expect(session().transitions.visibleAncestor("/op30", (id) => visible.has(id))).toBe("bundle:/op2+55");
    expect(detailsOf(session(), "bundle:/op2+55")).toMatchObject({
      title: "… 56 ops",
      shortType: "op2, op3, op4, op5, …",
    });
  });

  it("opens and closes them with everything", () => {
    const all = session().transitions.expandBelow("");
    expect(all.expanded).toHaveLength(4);
    const opened = new Session({ graph: chain, state: all });
    expect(opened.transitions.collapseBelow("").expanded).toEqual([]);
  });
});
