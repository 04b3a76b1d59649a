/** Runs: children that repeat the same computation, shown as one. */
import { describe, expect, it } from "vitest";
import type { GraphData } from "../../../src/graph/graph.js";
import { index } from "../../../src/graph/indexing.js";
import { toggleRun } from "../../../src/view/expand/toggle.js";
import type { Frame, View } from "../../../src/view/frame.js";
import type { State } from "../../../src/view/state.js";
import { view } from "../../../src/view/view.js";
import {
  alternating,
  calledAgain,
  chain,
  choosing,
  crossed,
  listened,
  loose,
  parallel,
  recurrent,
  scan,
  unbound,
} from "../../fixtures.js";
import { sketch, withParameter } from "../../sketch.js";

function show(graph: GraphData, state: Partial<State> = {}): View {
  return view(index(graph), { expanded: [], unrolled: [], direction: "TB", ...state });
}

function names(frame: Frame): string[] {
  return frame.items.map((item) => (item.times > 1 ? `${item.name} ×${item.times}` : item.name));
}

describe("folding runs", () => {
  it("folds a chain of equal blocks that share an input", () => {
    const { root } = show(chain);
    expect(names(root)).toEqual(["x", "m", "b.0–2 ×3", "y"]);
    expect(root.wires).toHaveLength(3);
  });

  it("unrolls a run and folds it again", () => {
    const traced = index(chain);
    const start: State = { expanded: [], unrolled: [], direction: "TB" };
    const open = toggleRun(traced, start, "b.0");
    expect(names(view(traced, open).root).filter((name) => name.startsWith("b"))).toEqual(["b.0", "b.1", "b.2"]);
    expect(toggleRun(traced, open, "b.0")).toEqual(start);
  });

  it("expands the first member for all", () => {
    const block = show(chain, { expanded: ["b.0"] }).root.items.find((item) => item.id === "b.0");
    expect(block?.times).toBe(3);
    expect(block?.frame?.items.map((item) => item.name)).toEqual(["norm", "mul", "add"]);
    expect(block?.frame?.outputs).toHaveLength(1);
  });

  it("puts a panel around a period of several blocks", () => {
    const group = show(alternating).root.items.find((item) => item.kind === "group");
    expect(group?.times).toBe(2);
    expect(group?.frame?.items.map((item) => item.name)).toEqual(["a.0–1", "b.0–1"]);
  });

  it.each([
    ["b.0.attn", "b.0.mlp", "b.2.mlp", "b.0–2"],
    ["b0.attn", "b0.mlp", "b2.mlp", "b0–2"],
    ["attn.0", "mlp.0", "mlp.2", "attn.0 … mlp.2"],
  ])("names a period of %s and %s, up to %s: %s", (one, other, last, name) => {
    const repeats = [0, 1, 2].map((i) => [one, other].map((path) => path.replace("0", String(i))));
    const classes = repeats.flatMap(([a = "", b = ""]) => [[a, "Attention"] as const, [b, "Mlp"] as const]);
    expect(classes[classes.length - 1]?.[0]).toBe(last);
    const chained = classes.map(([path]) => `${path}/norm > ${path}/mul`).join(" > ");
    const { root } = show(sketch(`x > ${chained} > y`, Object.fromEntries(classes)));
    expect(root.items.find(({ times }) => times === 3)?.name).toBe(name);
  });

  it("unrolls a period of several blocks and folds it again", () => {
    const traced = index(alternating);
    const start: State = { expanded: [], unrolled: [], direction: "TB" };
    const group = view(traced, start).root.items.find((item) => item.kind === "group");
    const open = toggleRun(traced, start, group?.run ?? "");
    const items = view(traced, open).root.items;
    expect(items.map((item) => item.kind)).not.toContain("group");
    expect(items.filter((item) => item.unrolled > 1).map((item) => item.run)).toEqual([group?.run]);
    expect(toggleRun(traced, open, group?.run ?? "")).toEqual(start);
  });

  it("folds equal branches of one list and unrolls them", () => {
    const graph = structuredClone(parallel);
    for (const [id, edges] of Object.entries(graph.adjacency)) {
      for (const edge of edges) if (edge.to === "/cat") edge.argument = `tensors[${id.slice(2, 3)}]`;
    }
    const { root } = show(graph);
    expect(names(root)).toEqual(["x", "e.0–2 ×3", "cat", "y"]);
    expect(root.wires).toHaveLength(3);
    expect(names(show(graph, { unrolled: ["e.0"] }).root)).toEqual(["x", "e.0", "e.1", "e.2", "cat", "y"]);
  });

  it("folds a loop of calls of one module, including the first step", () => {
    const { root } = show(recurrent);
    const step = root.items.find((item) => item.kind === "group");
    expect([step?.name, step?.times]).toEqual(["step", 3]);
    expect(step?.frame?.items.map((item) => item.name)).toEqual(["pick", "cell"]);
  });

  it("keeps a block apart that lacks what the others read: its sum has no skip", () => {
    const blocks = Object.fromEntries([0, 1, 2, 3].map((i) => [`b.${i}`, "Block"]));
    const layers = [0, 1, 2, 3].map((i) => `b.${i}/linear > b.${i}/add`);
    const skips = [1, 2, 3].map((i) => `b.${i - 1}/add > b.${i}/add`);
    const all = sketch([`x > ${layers.join(" > ")} > y`, ...skips].join("\n"), blocks);
    const queries = sketch([`x > ${layers.join(" > ")} > y`, "x > b.0/add", ...skips].join("\n"), blocks);
    expect(names(show(all).root)).toEqual(["x", "b.0", "b.1–3 ×3", "y"]);
    expect(names(show(queries).root)).toEqual(["x", "b.0–3 ×4", "y"]);
  });

  it("folds the equal blocks in each step of a loop", () => {
    const ids = ["b.0", "b.1", "b.2", "b.0@2", "b.1@2", "b.2@2"];
    const text = `x > ${ids.map((id) => `${id}/linear > ${id}/relu`).join(" > ")} > y`;
    const graph = calledAgain(sketch(text, Object.fromEntries(ids.map((id) => [id, "Block"]))));
    const group = show(graph).root.items.find((item) => item.kind === "group");
    expect(group?.times).toBe(2);
    expect(group?.frame && names(group.frame)).toEqual(["b.0–2 ×3"]);
  });

  it("shows the steps of an unrolled loop from left to right", () => {
    const { root } = show(recurrent, { unrolled: ["group:/pick'1"] });
    const steps = root.items.find((item) => item.kind === "group");
    expect([steps?.frame?.direction, steps?.unrolled]).toEqual(["LR", 3]);
    expect(steps?.frame?.items.map((item) => item.name)).toEqual(["step 1", "step 2", "step 3"]);
  });

  it("shows the calls of one module on different inputs as steps with the same weights", () => {
    expect(show(listened).root.items.find((item) => item.times === 3)?.detail).toMatch(/same weights$/);
    const steps = show(listened, { unrolled: ["cell"] }).root.items.find((item) => item.kind === "group");
    expect([steps?.frame?.direction, steps?.detail]).toEqual(["LR", "same weights"]);
    expect(steps?.frame?.items.map((item) => item.detail.includes("weights"))).toEqual([false, false, false]);
  });

  it("says nothing of the same weights where every call of a module uses another layer", () => {
    const rolled = show(choosing, { expanded: ["b"] }).root.items.find((item) => item.times === 3);
    expect([rolled?.detail, rolled?.loop]).toEqual(["Blocks · 1.2K", false]);
    expect(rolled?.frame?.items.map((item) => item.name)).toEqual(["layers.0–2", "relu"]);
    const calls = show(choosing, { unrolled: ["b"], expanded: ["b", "b@2"] }).root.items.slice(1, 4);
    expect(calls.map((item) => item.detail)).toEqual(["Blocks · 1.2K", "Blocks · 1.2K", "Blocks · 1.2K"]);
    expect(calls.map((item) => item.frame?.items[0]?.name)).toEqual(["layers.0", "layers.1", undefined]);
  });

  it("says that calls use the same weights only where one of them uses no others", () => {
    const graph = structuredClone(choosing);
    for (const node of graph.nodes)
      if (node.kind === "op" && node.weights) node.weights = { weight: "b.layers.0.weight" };
    const rolled = show(graph).root.items.find((item) => item.times === 3);
    expect([rolled?.detail, rolled?.loop]).toEqual(["Blocks · 1.2K · same weights", true]);
  });

  const each = (count: number, part: (i: number) => string) => Array.from({ length: count }, (_, i) => part(i));

  it("folds ten equal iterations of plain ops, but not two or three", () => {
    const iterated = (times: number) =>
      sketch(`x > ${each(times, (i) => `mul'${i} > sin'${i} > tanh'${i}`).join(" > ")} > y`);
    const step = show(iterated(10)).root.items[1];
    expect([step?.name, step?.times, step?.loop]).toEqual(["step", 10, true]);
    expect(step?.frame?.items.map(({ name }) => name)).toEqual(["mul", "sin", "tanh"]);
    expect(show(iterated(3)).root.items).toHaveLength(11);
    const tanh = show(sketch(`x > ${each(10, (i) => `tanh'${i}`).join(" > ")} > y`)).root.items[1];
    expect([tanh?.name, tanh?.times, tanh?.loop]).toEqual(["tanh", 10, true]);
  });

  it("folds equal branches of plain ops, which are no loop", () => {
    const branches = [
      ...each(10, (i) => `x > mul'${i} > sin'${i}`),
      ...each(10, (i) => `sin'${i} > stack`),
      "stack > y",
    ];
    const graph = sketch(branches.join("\n"));
    for (const edges of Object.values(graph.adjacency)) {
      for (const edge of edges) if (edge.to === "/stack") edge.argument = `tensors[${edge.argument}]`;
    }
    const branch = show(graph).root.items[1];
    expect([branch?.name, branch?.times, branch?.loop, branch?.detail]).toEqual(["repeat", 10, false, ""]);
  });

  it("tells loops of plain ops with one weight from those that take another each time", () => {
    const weigh = (name: (i: number) => string) => {
      const graph = sketch(`x > ${each(10, (i) => `linear'${i} > relu'${i}`).join(" > ")} > y`);
      for (const [i, node] of graph.nodes.filter(({ id }) => id.includes("linear")).entries()) {
        Object.assign(node, { weights: { weight: name(i) } });
        graph.parameters[name(i)] = { shape: [8], dtype: "float32", owner: "" };
      }
      const { name: title, detail, loop } = show(graph).root.items[1] ?? {};
      return [title, detail, loop];
    };
    expect(weigh(() => "w")).toEqual(["step", "same weights", true]);
    expect(weigh((i) => `w.${i}`)).toEqual(["repeat", "", false]);
  });

  it("names the weights of all repeats", () => {
    const plain = sketch(`x > ${each(10, (i) => `matmul'${i} > relu'${i}`).join(" > ")} > y`);
    const graph = each(10, String).reduce((made, i) => withParameter(made, `ws.${i}`, "ws", [`/matmul'${i}`]), plain);
    const repeats = show(graph).root.items[1];
    expect(repeats?.frame?.items.map(({ name }) => name)).toEqual(["ws.0–9", "matmul", "relu"]);
  });

  it("folds a loop over the results of one op into a step with one of them", () => {
    const { root } = show(unbound);
    const step = root.items.find((item) => item.kind === "group");
    expect([step?.name, step?.times]).toEqual(["step", 3]);
    expect(step?.frame?.items.map((item) => item.name)).toEqual(["add", "tanh"]);
    expect(root.wires.filter(({ to }) => root.items[to] === step)).toHaveLength(2);
  });

  it("folds and unrolls a loop over time that calls no module", () => {
    const [, , step] = show(scan).root.items;
    expect([step?.name, step?.times, step?.detail, step?.loop]).toEqual(["step", 3, "", true]);
    expect(step?.frame?.items.map((item) => item.name)).toEqual(["[:, 0]", "add"]);
    const steps = show(scan, { unrolled: [step?.run ?? ""] }).root.items.find((item) => item.kind === "group");
    expect([steps?.frame?.direction, steps?.unrolled]).toEqual(["LR", 3]);
    expect(steps?.frame?.items.map((item) => item.frame?.items.map((inner) => inner.name).join(" "))).toEqual([
      ...["[:, 0] add", "[:, 1] add", "[:, 2] add"],
    ]);
  });

  it("does not fold ops with equal indices, or parallel indexing", () => {
    const same = structuredClone(scan);
    for (const node of same.nodes) if (node.kind === "op" && node.arguments) node.arguments = { key: ["::", 0] };
    const beside = sketch("x > getitem'0\nx > getitem'1\nx > getitem'2 > cat > y\ngetitem'0 > cat\ngetitem'1 > cat");
    for (const graph of [same, beside]) expect(show(graph).root.items.map((item) => item.times)).not.toContain(3);
  });

  it("does not fold repeats of unconnected blocks", () => {
    expect(show(loose).root.items.map((item) => item.kind)).not.toContain("group");
  });

  it("does not fold parallel blocks that feed no common list", () => {
    expect(show(parallel).root.items.map((item) => item.times)).toEqual([1, 1, 1, 1, 1, 1]);
  });
});

describe("folding pairs", () => {
  it("does not fold pairs that read one tensor twice, then two tensors", () => {
    expect(names(show(crossed).root).sort()).toEqual(["a.0", "a.1", "b.0", "b.1", "x", "y", "z"]);
  });
});
