import { describe, expect, it } from "vitest";
import { contentsOf, type Graph, index, ROOT } from "../src/graph.js";
import { initialState } from "../src/initial.js";
import { type Frame, type State, shownIndex, toggle, toggleRun, type View, view } from "../src/view.js";
import {
  alternating,
  chain,
  crossed,
  fork,
  listened,
  loose,
  parallel,
  plumbing,
  recurrent,
  residual,
  scan,
  unbound,
  wrapped,
} from "./fixtures.js";
import { sketch } from "./sketch.js";

function show(graph: Graph, state: Partial<State> = {}): View {
  return view(index(graph), { expanded: [], unrolled: [], direction: "TB", ...state });
}

function names(frame: Frame): string[] {
  return frame.items.map((item) => (item.times > 1 ? `${item.name} ×${item.times}` : item.name));
}

describe("index", () => {
  it("cuts edges at borders: one link per tensor and pair of ends in each container", () => {
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

describe("rolling", () => {
  it("folds a chain of equal blocks that share a side input", () => {
    const { root } = show(chain);
    expect(names(root)).toEqual(["x", "m", "b.0–2 ×3", "y"]);
    expect(root.wires).toHaveLength(3);
  });

  it("shows the run one by one when asked to, and rolls it up again", () => {
    const traced = index(chain);
    const start: State = { expanded: [], unrolled: [], direction: "TB" };
    const open = toggleRun(traced, start, "b.0");
    expect(names(view(traced, open).root).filter((name) => name.startsWith("b"))).toEqual(["b.0", "b.1", "b.2"]);
    expect(toggleRun(traced, open, "b.0")).toEqual(start);
  });

  it("opens the first for all", () => {
    const block = show(chain, { expanded: ["b.0"] }).root.items.find((item) => item.id === "b.0");
    expect(block?.times).toBe(3);
    expect(block?.frame?.items.map((item) => item.name)).toEqual(["norm", "mul", "add"]);
    expect(block?.frame?.outputs).toHaveLength(1);
  });

  it("puts a panel around a longer period", () => {
    const group = show(alternating).root.items.find((item) => item.kind === "group");
    expect(group?.times).toBe(2);
    expect(group?.frame?.items.map((item) => item.name)).toEqual(["a.0", "b.0"]);
  });

  it.each([
    ["b.0.attn", "b.0.mlp", "b.2.mlp", "b.0–2"],
    ["b0.attn", "b0.mlp", "b2.mlp", "b0–2"],
    ["attn.0", "mlp.0", "mlp.2", "attn.0 … mlp.2"],
  ])("names a longer period from %s, %s to %s: %s", (one, other, last, name) => {
    const repeats = [0, 1, 2].map((i) => [one, other].map((path) => path.replace("0", String(i))));
    const classes = repeats.flatMap(([a = "", b = ""]) => [[a, "Attention"] as const, [b, "Mlp"] as const]);
    expect(classes[classes.length - 1]?.[0]).toBe(last);
    const chained = classes.map(([path]) => `${path}/norm > ${path}/mul`).join(" > ");
    const { root } = show(sketch(`x > ${chained} > y`, Object.fromEntries(classes)));
    expect(root.items.find(({ times }) => times === 3)?.name).toBe(name);
  });

  it("shows all of a longer period one by one, and knows the way back", () => {
    const traced = index(alternating);
    const start: State = { expanded: [], unrolled: [], direction: "TB" };
    const group = view(traced, start).root.items.find((item) => item.kind === "group");
    const open = toggleRun(traced, start, group?.run ?? "");
    const items = view(traced, open).root.items;
    expect(items.map((item) => item.kind)).not.toContain("group");
    expect(items.filter((item) => item.unrolled > 1).map((item) => item.run)).toEqual([group?.run]);
    expect(toggleRun(traced, open, group?.run ?? "")).toEqual(start);
  });

  it("folds equal branches of one list, each of which can be opened once they are unrolled", () => {
    const graph = structuredClone(parallel);
    for (const [id, edges] of Object.entries(graph.adjacency)) {
      for (const edge of edges) if (edge.to === "/cat") edge.argument = `tensors[${id.slice(2, 3)}]`;
    }
    const { root } = show(graph);
    expect(names(root)).toEqual(["x", "e.0–2 ×3", "cat", "y"]);
    expect(root.wires).toHaveLength(3);
    expect(names(show(graph, { unrolled: ["e.0"] }).root)).toEqual(["x", "e.0", "e.1", "e.2", "cat", "y"]);
  });

  it("folds a loop that calls one module again and again, from its first step on", () => {
    const { root } = show(recurrent);
    const step = root.items.find((item) => item.kind === "group");
    expect([step?.name, step?.times]).toEqual(["step", 3]);
    expect(step?.frame?.items.map((item) => item.name)).toEqual(["pick", "cell"]);
  });

  it("shows the steps of a loop side by side", () => {
    const { root } = show(recurrent, { unrolled: ["group:/pick'1"] });
    const steps = root.items.find((item) => item.kind === "group");
    expect([steps?.frame?.direction, steps?.unrolled]).toEqual(["LR", 3]);
    expect(steps?.frame?.items.map((item) => item.name)).toEqual(["step 1", "step 2", "step 3"]);
  });

  it("shows the calls of one module side by side where each takes something new, and says that weights are shared", () => {
    expect(show(listened).root.items.find((item) => item.times === 3)?.detail).toMatch(/same weights$/);
    const steps = show(listened, { unrolled: ["cell"] }).root.items.find((item) => item.kind === "group");
    expect([steps?.frame?.direction, steps?.detail]).toEqual(["LR", "same weights"]);
    expect(steps?.frame?.items.map((item) => item.detail.includes("weights"))).toEqual([false, false, false]);
  });

  it("folds a loop over the results of one op into one step, which takes one of them", () => {
    const { root } = show(unbound);
    const step = root.items.find((item) => item.kind === "group");
    expect([step?.name, step?.times]).toEqual(["step", 3]);
    expect(step?.frame?.items.map((item) => item.name)).toEqual(["add", "tanh"]);
    expect(root.wires.filter(({ to }) => root.items[to] === step)).toHaveLength(2);
  });

  it("folds a loop over time that calls no module into one step, and shows its steps side by side", () => {
    const [, , step] = show(scan).root.items;
    expect([step?.name, step?.times, step?.detail, step?.loop]).toEqual(["step", 3, "", true]);
    expect(step?.frame?.items.map((item) => item.name)).toEqual(["[:, 0]", "add"]);
    const steps = show(scan, { unrolled: [step?.run ?? ""] }).root.items.find((item) => item.kind === "group");
    expect([steps?.frame?.direction, steps?.unrolled]).toEqual(["LR", 3]);
    expect(steps?.frame?.items.map((item) => item.frame?.items.map((inner) => inner.name).join(" "))).toEqual([
      ...["[:, 0] add", "[:, 1] add", "[:, 2] add"],
    ]);
  });

  it("leaves ops alone that pick the same, or pick side by side", () => {
    const same = structuredClone(scan);
    for (const node of same.nodes) if (node.kind === "op" && node.arguments) node.arguments = { key: ["::", 0] };
    const beside = sketch("x > getitem'0\nx > getitem'1\nx > getitem'2 > cat > y\ngetitem'0 > cat\ngetitem'1 > cat");
    for (const graph of [same, beside]) expect(show(graph).root.items.map((item) => item.times)).not.toContain(3);
  });

  it("does not fold together what does not hang together", () => {
    expect(show(loose).root.items.map((item) => item.kind)).not.toContain("group");
  });

  it("leaves equal siblings alone that do not hang on each other", () => {
    expect(show(parallel).root.items.map((item) => item.times)).toEqual([1, 1, 1, 1, 1, 1]);
  });
});

describe("rolling pairs", () => {
  it("leaves alone what takes one tensor twice first and two tensors then", () => {
    expect(names(show(crossed).root).sort()).toEqual(["a.0", "a.1", "b.0", "b.1", "x", "y", "z"]);
  });
});

describe("what is shown", () => {
  it("merges a module with its only child", () => {
    const [, item] = show(wrapped).root.items;
    expect([item?.id, item?.name, item?.detail]).toEqual(["outer", "outer.inner", "Inner"]);
    const open = show(wrapped, { expanded: ["outer"] }).root.items[1];
    expect(open?.frame?.items.map((inner) => inner.name)).toEqual(["linear", "relu"]);
  });

  it("lets reshapes pass, unless plumbing is wanted", () => {
    expect(names(show(plumbing).root)).toEqual(["x", "linear", "relu", "y"]);
    expect(names(show(plumbing, { plumbing: true }).root)).toContain("transpose");
  });

  it("draws additions of two tensors as glyphs", () => {
    expect(show(residual).root.items.find((item) => item.name === "add")?.glyph).toBe("add");
  });

  it("folds parts of one output into one", () => {
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

describe("memory", () => {
  it("makes new frames only for what a toggle touches", () => {
    const traced = index(chain);
    const start: State = { expanded: ["b.0", "b.2"], unrolled: ["b.0"], direction: "TB" };
    const before = view(traced, start).root.items.find((item) => item.id === "b.2")?.frame;
    const after = view(traced, toggle(start, "b.0")).root.items.find((item) => item.id === "b.2")?.frame;
    expect(before).not.toBeNull();
    expect(after).toBe(before);
  });
});

describe("the first picture", () => {
  it("opens what the author asks for, with everything around it", () => {
    expect(initialState(index(wrapped), { expand: ["Inner"] }).expanded).toEqual(["outer", "outer.inner"]);
    expect(initialState(index(chain), { expand: ["b.?"] }).expanded).toEqual(["b.0", "b.1", "b.2"]);
    expect(initialState(index(chain), { depth: 0 }).expanded).toEqual([]);
  });

  it("unrolls a run where one of its later members is asked for", () => {
    expect(initialState(index(chain), { expand: ["b.1"] })).toMatchObject({ expanded: ["b.1"], unrolled: ["b.0"] });
    expect(initialState(index(chain), { expand: ["b.0"] }).unrolled).toEqual([]);
  });

  it("leaves closed what the author wants closed, whatever else is said", () => {
    expect(initialState(index(chain), { collapse: ["b.0"] }).expanded).toEqual([]);
    expect(initialState(index(chain), { expand: ["b.*"], collapse: ["b.1"] }).expanded).toEqual(["b.0", "b.2"]);
    expect(initialState(index(wrapped), { depth: 9, collapse: ["Inner"] }).expanded).toEqual([]);
  });

  it("turns the inside of what a pattern matches, the last pattern counting", () => {
    const state = initialState(index(chain), {
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

  it("opens what stays readable when nobody asks", () => {
    expect(initialState(index(chain)).expanded).toEqual(["b.0"]);
  });

  it("is made once per graph and state", () => {
    const traced = index(chain);
    const state = initialState(traced);
    expect(shownIndex(traced, state)).toBe(shownIndex(traced, { ...state }));
  });
});

/**
 *     x ─ [enc [enc.0] ─ [enc.1] ─ [enc.2]] ─ y        all that there is in a module is a run; m goes to each of it
 */
const layers = [0, 1, 2].map((i) => [`enc.${i}/norm`, `enc.${i}/mul`]);
const encoder = sketch([`x > ${layers.flat().join(" > ")} > y`, ...layers.map(([norm]) => `m > ${norm}`)].join("\n"), {
  enc: "Encoder",
  "enc.0": "Layer",
  "enc.1": "Layer",
  "enc.2": "Layer",
});

describe("a module with nothing but a run in it", () => {
  const start: State = { expanded: [], unrolled: [], direction: "TB" };
  const traced = index(encoder);
  const box = (state: State) => view(traced, state).root.items.find((item) => item.id === "enc");
  const inside = (state: State) => box(state)?.frame?.items.map((item) => item.name);

  it("is one box with it, closed and open", () => {
    expect(names(view(traced, start).root)).toEqual(["x", "m", "enc.0–2 ×3", "y"]);
    expect([box(start)?.run, box(start)?.detail, box(start)?.expandable]).toEqual(["enc.0", "Layer", true]);
    const open = view(traced, toggle(start, "enc")).root;
    expect(inside(toggle(start, "enc"))).toEqual(["norm", "mul"]);
    // whatever reaches or leaves it does so at a port
    const place = open.items.findIndex((item) => item.id === "enc");
    const ports = open.wires.map(({ from, to, fromPort, toPort }) =>
      from === place ? fromPort : to === place && toPort,
    );
    expect(ports).toHaveLength(3);
    expect(ports).not.toContain(-1);
    expect(new Set(open.wires.filter(({ to }) => to === place).map(({ toPort }) => toPort)).size).toBe(2);
  });

  it("is a panel around the run that is shown one by one, and becomes the box again", () => {
    const unrolled = toggleRun(traced, start, "enc.0");
    expect(inside(unrolled)).toEqual(["Layer", "Layer", "Layer"]);
    expect(box(unrolled)?.frame?.items.map((item) => item.frame)).toEqual([null, null, null]);
    expect(toggleRun(traced, unrolled, "enc.0")).toEqual(start);
    const open = toggleRun(traced, toggle(start, "enc"), "enc.0");
    expect(box(open)?.frame?.items.map((item) => item.frame !== null)).toEqual([true, false, false]);
    expect(inside(toggleRun(traced, open, "enc.0"))).toEqual(["norm", "mul"]);
    expect(inside(toggleRun(traced, toggle(open, "enc.0"), "enc.0"))).toBeUndefined();
  });

  it("stays a panel where tensors leave from several of the run", () => {
    const graph = sketch(
      [`x > ${layers.flat().join(" > ")} > y`, "enc.0/mul > first", "enc.1/mul > second"].join("\n"),
      { enc: "Encoder", "enc.0": "Layer", "enc.1": "Layer", "enc.2": "Layer" },
    );
    expect(names(show(graph).root)).toEqual(["x", "enc", "y", "first", "second"]);
  });

  it("stays a panel where it is one of a run itself: a box says one number", () => {
    const ids = [0, 1, 2].flatMap((stage) => [0, 1].map((block) => `s.${stage}.${block}`));
    const classes = { ...Object.fromEntries(ids.map((id) => [id, "Block"])), "s.0": "S", "s.1": "S", "s.2": "S" };
    const graph = sketch(`x > ${ids.map((id) => `${id}/norm > ${id}/mul`).join(" > ")} > y`, classes);
    expect(names(show(graph).root)).toEqual(["x", "s.0–2 ×3", "y"]);
    const [, stage] = show(graph, { expanded: ["s.0"] }).root.items;
    expect(stage?.frame && names(stage.frame)).toEqual(["0–1 ×2"]);
  });
});

describe("a model that is one layer", () => {
  const bare = sketch("x > linear > y\nweight > linear");
  const weight = bare.nodes.find((node) => node.id === "input:weight");
  const nodes = bare.nodes.map((node) => (node === weight ? { ...node, kind: "parameter" as const } : node));
  const linear = (name: string): Graph => ({
    ...bare,
    nodes: nodes as Graph["nodes"],
    model: { ...bare.model, class: name, attributes: { in_features: 768, out_features: 3072 } },
  });

  it("is drawn as it is in other models, and with its weights where all is asked for", () => {
    const layer = linear("torch.nn.modules.linear.Linear");
    const [, box] = show(layer).root.items;
    expect(names(show(layer).root)).toEqual(["x", "Linear", "y"]);
    expect([box?.kind, box?.detail, box?.id, box?.expandable]).toEqual(["module", "768 → 3072", "/linear", false]);
    expect(names(show(layer, { plumbing: true }).root)).toEqual(["x", "weight", "linear", "y"]);
  });

  it("is shown from inside where it is the author's own", () => {
    expect(names(show(linear("pkg.Scale")).root)).toEqual(["x", "weight", "linear", "y"]);
  });
});
