/** Ways through the code in a picture: conditions on values, loops until one, lists that ran in part, recursion. */
import { describe, expect, it } from "vitest";
import type { GraphData, OpNode } from "../../src/graph/graph.js";
import { index } from "../../src/graph/indexing.js";
import { layout } from "../../src/layout/layout.js";
import { initialState } from "../../src/view/expand/initial_state.js";
import { view } from "../../src/view/view.js";
import { caseOf } from "../cases.js";
import { recurrent } from "../fixtures.js";
import { moduleOf, sketch } from "../sketch.js";

type Way = NonNullable<GraphData["ways"]>[number];

function way(more: Partial<Way>): Way {
  return {
    source: "model.py:10",
    statement: "if",
    condition: "x.mean() > 0",
    waits_for: "value",
    function: "Net.forward",
    classes: ["test.Sketch"],
    sides: [
      { name: "yes", line: 11, taken: true },
      { name: "no", line: 14, taken: false },
    ],
    ...more,
  };
}

/** The graph with these lines of ops; ends named `bool` pass a value to Python instead of being outputs. */
function at(graph: GraphData, lines: Record<string, number>, ways: Way[]): GraphData {
  const nodes = graph.nodes.map((node) => {
    const line = lines[node.id];
    const own = line === undefined ? node : { ...node, source: `model.py:${line}` };
    return /[:/]bool/.test(node.id) ? { ...own, kind: "op", name: "torch.Tensor.__bool__", outputs: [] } : own;
  });
  return { ...graph, nodes: nodes as GraphData["nodes"], ways };
}

function items(graph: GraphData, more: object = {}) {
  return view(index(graph), { expanded: [], unrolled: [], direction: "TB", ...more }).root.items;
}

describe("a condition on a tensor's value", () => {
  const branch = sketch("x > relu > gelu > y\nrelu > mean > gt > bool");
  const lines = { "/mean": 10, "/gt": 10, "output:bool": 10, "/gelu": 11 };
  const decided = () => at(branch, lines, [way({})]);

  it("is a box with its text, without the arithmetic before it", () => {
    const { items: boxes, wires } = view(index(decided()), { expanded: [], unrolled: [], direction: "TB" }).root;
    const decision = boxes.find(({ marks }) => marks.includes("decision"));
    expect(decision?.name).toBe("x.mean() > 0");
    expect(boxes.map(({ id }) => id)).not.toContain("/gt");
    expect(wires.filter(({ to }) => boxes[to]?.id === "output:bool").map(({ from }) => boxes[from]?.id)).toEqual([
      "/relu",
    ]);
  });

  it("tells the side that was not traced", () => {
    const decision = items(decided()).find(({ id }) => id === "output:bool");
    expect(decision?.hint).toBe("if x.mean() > 0\nyes: line 11\nno: other side not traced (line 14)");
  });

  it("tells the side that only a forced pass took", () => {
    const sides = [
      { name: "yes", line: 11, taken: true },
      { name: "no", line: 14, taken: true, cases: [1] },
    ];
    const graph = { ...decided(), ways: [way({ sides })], cases: [caseOf("seen"), caseOf("no", { forced: true })] };
    expect(items(graph).find(({ id }) => id === "output:bool")?.hint).toMatch(/no: forced, not seen \(line 14\)$/);
  });

  it("says that its answer was assumed", () => {
    const guesses = [{ node: "output:bool", value: false, reason: "not computed" }];
    const graph = { ...decided(), status: { state: "complete" as const, guesses } };
    expect(items(graph).find(({ id }) => id === "output:bool")?.detail).toBe("assumed: no");
  });

  it("isn't one where something else decided", () => {
    for (const waits_for of ["mode", "input", "size"] as const) {
      const ids = items({ ...decided(), ways: [way({ waits_for })] }).map(({ id }) => id);
      expect(ids).not.toContain("output:bool");
    }
  });

  it("that reads several values is one", () => {
    const graph = sketch("x > relu > gelu > y\nrelu > mean > bool\nrelu > sum > bool'2");
    const two = at(graph, { "/mean": 10, "output:bool": 10, "/sum": 10, "output:bool'2": 10 }, [way({})]);
    expect(items(two).filter(({ marks }) => marks.includes("decision"))).toHaveLength(1);
  });

  it("is one for steps of a loop in which nothing else ran", () => {
    const graph = sketch("x > relu > any > bool\nrelu > any'2 > bool'2\nrelu > gelu > y\ngelu > any'3 > bool'3");
    const order = "input:x /relu /any output:bool /any'2 output:bool'2 /gelu /any'3 output:bool'3 output:y".split(" ");
    const nodes = order.flatMap((id) => graph.nodes.filter((node) => node.id === id));
    const lines = Object.fromEntries(["", "'2", "'3"].map((step) => [`output:bool${step}`, 10]));
    const boxes = items(at({ ...graph, nodes }, lines, [way({})]));
    const decisions = boxes.filter(({ marks }) => marks.includes("decision"));
    expect(decisions.map(({ id }) => id)).toEqual(["output:bool", "output:bool'3"]);
  });

  it("in a closed module has a sign on the module", () => {
    const inner = sketch("x > a/relu > a/gelu > a/tanh > y\na/relu > a/bool");
    const graph = at(inner, { "a/bool": 10 }, [way({})]);
    expect(items(graph).map(({ id, decides }) => [id, decides === true])).toContainEqual(["a", true]);
    expect(items(graph, { expanded: ["a"] }).find(({ id }) => id === "a")?.decides).toBeUndefined();
  });
});

describe("a loop until a value", () => {
  /** One read before each step, and one after the last. */
  const makers = ["input:x", "cell/tanh", "cell@2/tanh", "cell@3/tanh"];
  const looped = (statement: Way["statement"]) => {
    const { nodes, hierarchy, adjacency, ...graph } = structuredClone(recurrent);
    const reads = makers.map((maker, i): OpNode => {
      const id = `/bool#${i + 1}`;
      adjacency[maker]?.push({ to: id, tensor: `${maker}:0`, argument: "self" });
      hierarchy[id] = null;
      return { kind: "op", id, name: "torch.Tensor.__bool__", source: "model.py:10" };
    });
    const inOrder = nodes.flatMap((node) => [node, ...reads.filter((_, i) => node.id === makers[i])]);
    return { ...graph, nodes: inOrder, adjacency, hierarchy, ways: [way({ statement, condition: "err > tol" })] };
  };

  it("has its condition's text", () => {
    const loop = items(looped("while")).find((item) => item.loop);
    expect([loop?.times, loop?.detail]).toEqual([3, "same weights · while err > tol"]);
  });

  it("says if the count was assumed", () => {
    const guesses = [{ node: "/bool#3", value: false, reason: "not computed" }];
    const graph = { ...looped("while"), status: { state: "complete" as const, guesses } };
    expect(items(graph).find(({ loop }) => loop)?.detail).toContain("while err > tol (assumed)");
  });
});

describe("modules that no pass called", () => {
  const parameters = { own: 0, total: 8, trainable: 8 };
  const uncalled = (paths: string[]) => paths.map((path) => ({ path, class: "test.Expert", parameters }));

  it("are counted at the module with the list of which others ran", () => {
    const graph = sketch("x > moe.experts.0/relu > moe.experts.0/mul > moe/add > y\nmoe.experts.0/relu > moe/add", {
      moe: "MoE",
      "moe.experts.0": "Expert",
    });
    const some = { ...graph, uncalled: uncalled(["moe.experts.1", "moe.experts.2", "teacher"]) };
    expect(items(some).find(({ id }) => id === "moe")?.detail).toContain("1 of 3 experts ran");
    expect(items({ ...graph, uncalled: uncalled(["teacher"]) }).find(({ id }) => id === "moe")?.detail).not.toContain(
      "ran",
    );
  });
});

it("counts no parts of a module that is no list", () => {
  const parameters = { own: 0, total: 0, trainable: 0 };
  const graph = sketch("x > attn.query/relu > attn/add > y", { attn: "Attention", "attn.query": "Linear" });
  const uncalled = [{ path: "attn.dropout", class: "torch.nn.Dropout", parameters }];
  expect(items({ ...graph, uncalled }).find(({ id }) => id === "attn")?.detail).not.toContain("ran");
});

describe("a module that calls itself", () => {
  const tree = sketch("x > t/relu > t.t2/relu > t.t2.t3/relu > t.t2.t3/mul > t.t2/mul > t/mul > y", {
    t: "Tree",
    "t.t2": "Tree",
    "t.t2.t3": "Tree",
  });
  for (const [call, id] of ["t", "t.t2", "t.t2.t3"].entries())
    Object.assign(moduleOf(tree, id), { path: "t", call: call + 1 });

  it("stays closed, and says how many calls are inside", () => {
    const graph = index(tree);
    const state = initialState(graph, {}, (one) => layout(view(graph, one), null));
    expect(state.expanded).toEqual(["t"]);
    const inner = view(graph, state)
      .root.items.find(({ id }) => id === "t")
      ?.frame?.items.find(({ id }) => id === "t.t2");
    expect(inner?.detail).toContain("recursion, 2 calls");
  });
});
