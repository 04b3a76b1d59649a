import { describe, expect, it } from "vitest";
import { contentsOf, type GraphData, ROOT } from "../../src/graph/graph.js";
import { index } from "../../src/graph/indexing.js";
import { annotate } from "../../src/graph/overlay.js";
import { toggle, toggleRun } from "../../src/view/expand/toggle.js";
import type { Frame, View } from "../../src/view/frame.js";
import { shownIndex } from "../../src/view/grouping/shown_index.js";
import type { State } from "../../src/view/state.js";
import { view } from "../../src/view/view.js";
import { firstState } from "../first_state.js";
import { chain, fork, plumbing, residual, wrapped } from "../fixtures.js";
import { sketch } from "../sketch.js";

function show(graph: GraphData, state: Partial<State> = {}): View {
  return view(index(graph), { expanded: [], unrolled: [], direction: "TB", ...state });
}

function names(frame: Frame): string[] {
  return frame.items.map((item) => (item.times > 1 ? `${item.name} ×${item.times}` : item.name));
}

describe("index", () => {
  it("cuts edges at borders into one link per container, tensor and pair of ends", () => {
    const contents = contentsOf(index(fork), "attn");
    expect(contents.children).toEqual(["attn/q", "attn/k", "attn/v", "attn/sdpa"]);
    expect(contents.inputs).toEqual(["input:x:0"]);
    expect(contents.outputs).toEqual(["attn/sdpa:0"]);
    const root = contentsOf(index(fork), ROOT);
    expect(root.links.map(({ from, to }) => [from, to])).toEqual([
      ["input:x", "attn"],
      ["attn", "output:y"],
    ]);
  });
});

it("shows the numbers of notes inside of a box until it is open", () => {
  const notes = ["attn/v", "attn", "attn/q"].map((id) => ({ text: "", nodes: [id] }));
  const said = annotate(fork, { format: "modeldiagrams-overlay", version: "1.0", graph: "", notes });
  const notesIn = (frame: Frame) => frame.items.flatMap((item) => (item.notes ? [[item.id, item.notes]] : []));
  expect(notesIn(show(said).root)).toEqual([["attn", [1, 2, 3]]]);
  const opened = show(said, { expanded: ["attn"] }).root;
  expect(notesIn(opened)).toEqual([["attn", [2]]]);
  expect(opened.items.flatMap(({ frame }) => (frame ? notesIn(frame) : []))).toEqual([
    ["attn/q", [3]],
    ["attn/v", [1]],
  ]);
});

it("leaves out a part of a tensor that nothing reads but its shape", () => {
  const graph = sketch("x > m/linear > y\nm/linear > m/getitem\nm/linear > m/relu", { m: "Model" });
  expect(
    names(show(graph, { expanded: ["m"] }).root.items.flatMap(({ frame }) => frame ?? [])[0] ?? show(graph).root),
  ).toEqual(["linear", "relu"]);
});

describe("an op that writes in place", () => {
  const named = (graph: GraphData) => {
    const { items, wires } = show(graph).root;
    return wires.map(({ from, to }) => `${items[from]?.name} > ${items[to]?.name}`);
  };

  it("is between what it writes into and later readers", () => {
    // `y[0].view(-1).zero_()` does not read what it overwrites
    const graph = sketch("x > fft > getitem > view > zero_ > irfft > y\nfft > irfft");
    for (const edge of graph.adjacency["/view"] ?? []) edge.flow = "shape";
    for (const part of ["/getitem:0", "/view:0", "/zero_:0"]) graph.tensors[part] = { shape: [1], dtype: "float32" };
    expect(named(graph)).toContain("index > zero");
    expect(named(graph)).toContain("zero > irfft");
  });

  it("is left out where it only writes into constants", () => {
    const graph = sketch("x > zeros > select > fill_ > mul > y\nx > mul");
    for (const edge of graph.adjacency["input:x"] ?? []) if (edge.to === "/zeros") edge.flow = "shape";
    expect(named(graph)).toEqual(["x > mul", "mul > y"]);
  });
});

describe("view", () => {
  it("merges a module with its only child", () => {
    const [, item] = show(wrapped).root.items;
    expect([item?.id, item?.name, item?.detail]).toEqual(["outer", "outer.inner", "Inner"]);
    const open = show(wrapped, { expanded: ["outer"] }).root.items[1];
    expect(open?.frame?.items.map((inner) => inner.name)).toEqual(["linear", "relu"]);
  });

  it("omits reshapes unless plumbing is shown", () => {
    expect(names(show(plumbing).root)).toEqual(["x", "linear", "relu", "y"]);
    expect(names(show(plumbing, { plumbing: true }).root)).toContain("transpose");
  });

  it("draws additions of two tensors as glyphs", () => {
    expect(show(residual).root.items.find((item) => item.name === "add")?.glyph).toBe("add");
  });

  it("merges parts of one output", () => {
    const graph = structuredClone(fork);
    for (const i of [0, 1, 2]) {
      graph.nodes.push({ kind: "output", id: `output:cache[${i}]`, name: `cache[${i}]` });
      graph.hierarchy[`output:cache[${i}]`] = null;
      graph.adjacency[["attn/q", "attn/k", "attn/v"][i] ?? ""]?.push({
        to: `output:cache[${i}]`,
        tensor: `${["attn/q", "attn/k", "attn/v"][i]}:0`,
      });
    }
    const { root } = show(graph);
    expect(names(root)).toContain("cache ×3");
    expect(root.wires.filter((wire) => root.items[wire.to]?.name === "cache")).toHaveLength(1);
  });
});

describe("caching", () => {
  it("rebuilds only the frames that a toggle affects", () => {
    const traced = index(chain);
    const start: State = { expanded: ["b.0", "b.2"], unrolled: ["b.0"], direction: "TB" };
    const before = view(traced, start).root.items.find((item) => item.id === "b.2")?.frame;
    const after = view(traced, toggle(traced, start, "b.0")).root.items.find((item) => item.id === "b.2")?.frame;
    expect(before).not.toBeNull();
    expect(after).toBe(before);
  });
});

describe("the initial state", () => {
  it("expands requested modules and their ancestors", () => {
    expect(firstState(index(wrapped), { expand: ["Inner"] }).expanded).toEqual(["outer", "outer.inner"]);
    expect(firstState(index(chain), { expand: ["b.?"] }).expanded).toEqual(["b.0", "b.1", "b.2"]);
    expect(firstState(index(chain), { depth: 0 }).expanded).toEqual([]);
  });

  it("unrolls a run if a later member is requested", () => {
    expect(firstState(index(chain), { expand: ["b.1"] })).toMatchObject({ expanded: ["b.1"], unrolled: ["b.0"] });
    expect(firstState(index(chain), { expand: ["b.0"] }).unrolled).toEqual([]);
  });

  it("keeps modules of `collapse` collapsed in spite of other options", () => {
    expect(firstState(index(chain), { collapse: ["b.0"] }).expanded).toEqual([]);
    expect(firstState(index(chain), { expand: ["b.*"], collapse: ["b.1"] }).expanded).toEqual(["b.0", "b.2"]);
    expect(firstState(index(wrapped), { depth: 9, collapse: ["Inner"] }).expanded).toEqual([]);
  });

  it("turns modules by the last matching pattern", () => {
    const state = firstState(index(chain), {
      depth: 9,
      direction: [
        ["*", "LR"],
        ["Block", "TB"],
        ["b.1", "LR"],
      ],
    });
    expect(state).toMatchObject({ direction: "LR", turned: ["b.0", "b.2"] });
    const { root } = view(index(chain), state);
    expect([root.direction, root.items.find((item) => item.id === "b.0")?.frame?.direction]).toEqual(["LR", "TB"]);
  });

  it("expands what stays readable without options", () => {
    expect(firstState(index(chain)).expanded).toEqual(["b.0"]);
  });

  it("uses one simplified index per graph", () => {
    const traced = index(chain);
    const state = firstState(traced);
    expect(shownIndex(traced, state)).toBe(shownIndex(traced, { ...state }));
  });
});

/**
 *     x ─ [enc [enc.0] ─ [enc.1] ─ [enc.2]] ─ y        a module with only a run inside; every member reads m
 */
const layers = [0, 1, 2].map((i) => [`enc.${i}/norm`, `enc.${i}/mul`]);
const encoder = sketch([`x > ${layers.flat().join(" > ")} > y`, ...layers.map(([norm]) => `m > ${norm}`)].join("\n"), {
  enc: "Encoder",
  "enc.0": "Layer",
  "enc.1": "Layer",
  "enc.2": "Layer",
});

describe("a module with only a run inside", () => {
  const start: State = { expanded: [], unrolled: [], direction: "TB" };
  const traced = index(encoder);
  const box = (state: State) => view(traced, state).root.items.find((item) => item.id === "enc");
  const inside = (state: State) => box(state)?.frame?.items.map((item) => item.name);

  it("shares one box with the run, collapsed and expanded", () => {
    expect(names(view(traced, start).root)).toEqual(["x", "m", "enc.0–2 ×3", "y"]);
    expect([box(start)?.run, box(start)?.detail, box(start)?.expandable]).toEqual(["enc.0", "Layer", true]);
    const open = view(traced, toggle(traced, start, "enc")).root;
    expect(inside(toggle(traced, start, "enc"))).toEqual(["norm", "mul"]);
    // all its wires end at ports
    const place = open.items.findIndex((item) => item.id === "enc");
    const ports = open.wires.map(({ from, to, fromPort, toPort }) =>
      from === place ? fromPort : to === place && toPort,
    );
    expect(ports).toHaveLength(3);
    expect(ports).not.toContain(-1);
    expect(new Set(open.wires.filter(({ to }) => to === place).map(({ toPort }) => toPort)).size).toBe(2);
  });

  it("becomes a panel around the unrolled run, and a box again", () => {
    const unrolled = toggleRun(traced, start, "enc.0");
    expect(inside(unrolled)).toEqual(["Layer", "Layer", "Layer"]);
    expect(box(unrolled)?.frame?.items.map((item) => item.frame)).toEqual([null, null, null]);
    expect(toggleRun(traced, unrolled, "enc.0")).toEqual(start);
    const open = toggleRun(traced, toggle(traced, start, "enc"), "enc.0");
    expect(box(open)?.frame?.items.map((item) => item.frame !== null)).toEqual([true, false, false]);
    expect(inside(toggleRun(traced, open, "enc.0"))).toEqual(["norm", "mul"]);
    expect(inside(toggleRun(traced, toggle(traced, open, "enc.0"), "enc.0"))).toBeUndefined();
  });

  it("stays separate from a run with outputs of several members", () => {
    const graph = sketch(
      [`x > ${layers.flat().join(" > ")} > y`, "enc.0/mul > first", "enc.1/mul > second"].join("\n"),
      { enc: "Encoder", "enc.0": "Layer", "enc.1": "Layer", "enc.2": "Layer" },
    );
    expect(names(show(graph).root)).toEqual(["x", "enc", "y", "first", "second"]);
  });

  it("stays separate from the run if it belongs to a run itself", () => {
    const ids = [0, 1, 2].flatMap((stage) => [0, 1].map((block) => `s.${stage}.${block}`));
    const classes = { ...Object.fromEntries(ids.map((id) => [id, "Block"])), "s.0": "S", "s.1": "S", "s.2": "S" };
    const graph = sketch(`x > ${ids.map((id) => `${id}/norm > ${id}/mul`).join(" > ")} > y`, classes);
    expect(names(show(graph).root)).toEqual(["x", "s.0–2 ×3", "y"]);
    const [, stage] = show(graph, { expanded: ["s.0"] }).root.items;
    expect(stage?.frame && names(stage.frame)).toEqual(["0–1 ×2"]);
  });
});

describe("a model that is a single layer", () => {
  const bare = sketch("x > linear > y\nweight > linear");
  const weight = bare.nodes.find((node) => node.id === "input:weight");
  const nodes = bare.nodes.map((node) => (node === weight ? { ...node, kind: "parameter" as const } : node));
  const linear = (name: string): GraphData => ({
    ...bare,
    nodes: nodes as GraphData["nodes"],
    model: { ...bare.model, class: name, attributes: { in_features: 768, out_features: 3072 } },
  });

  it("is drawn as that layer, and with its weights if plumbing is shown", () => {
    const layer = linear("torch.nn.modules.linear.Linear");
    const [, box] = show(layer).root.items;
    expect(names(show(layer).root)).toEqual(["x", "Linear", "y"]);
    expect([box?.kind, box?.detail, box?.id, box?.expandable]).toEqual(["module", "768 → 3072", "/linear", false]);
    expect(names(show(layer, { plumbing: true }).root)).toEqual(["x", "weight", "linear", "y"]);
  });

  it("is drawn with its contents if the class is not one of PyTorch's", () => {
    expect(names(show(linear("pkg.Scale")).root)).toEqual(["x", "weight", "linear", "y"]);
  });
});
