/** Calls of functions: boxes that open like modules. */
import { describe, expect, it } from "vitest";
import { contentsOf, type GraphData, ROOT } from "../../../src/graph/graph.js";
import { index } from "../../../src/graph/indexing.js";
import { Costs } from "../../../src/session/costs.js";
import { detailsOf } from "../../../src/session/details.js";
import { pathOf } from "../../../src/session/naming.js";
import { SearchIndex } from "../../../src/session/search_index.js";
import { Session } from "../../../src/session/session.js";
import { initialState } from "../../../src/view/expand/initial_state.js";
import type { Frame } from "../../../src/view/frame.js";
import { shownIndex } from "../../../src/view/grouping/shown_index.js";
import { familyOf } from "../../../src/view/labels/op_families.js";
import { outlineRows } from "../../../src/view/outline_rows.js";
import { matching } from "../../../src/view/patterns.js";
import type { State } from "../../../src/view/state.js";
import { view } from "../../../src/view/view.js";
import { sketch } from "../../sketch.js";

const CLOSED: State = { expanded: [], unrolled: [], direction: "TB" };

/** A sketch whose ops are in these functions: id of a function → names of its ops; `f() in g()` is inside another. */
function inFunctions(text: string, functions: Record<string, string[]>): GraphData {
  const graph = sketch(text);
  const calls: NonNullable<GraphData["functions"]> = {};
  const scopes = new Map<string, string>();
  for (const [key, ops] of Object.entries(functions)) {
    const [id = "", outer] = key.split(" in ");
    const name = id.replace(/^.*\/|\(\).*$/g, "");
    const module = id.slice(0, id.lastIndexOf("/"));
    calls[id] = {
      id,
      name,
      function: `pkg.${name}`,
      parent: outer ?? (module || null),
      call_site: "pkg.py:7",
      source: "pkg.py:1",
    };
    for (const op of ops) scopes.set(op, id);
  }
  const scoped = graph.nodes.map((node) => {
    const scope = scopes.get(node.id);
    return scope === undefined ? node : { ...node, scope };
  });
  return { ...graph, nodes: scoped as GraphData["nodes"], functions: calls };
}

const rope = inFunctions("x > m/lin > m/a > m/neg > m/tanh > m/b > m/mm > y\nm/a > m/b", {
  "m/rope()": ["m/a", "m/b"],
  "m/half() in m/rope()": ["m/neg", "m/tanh"],
});

function frame(graph: GraphData, state: Partial<State> = {}): Frame {
  return view(index(graph), { ...CLOSED, ...state }).root;
}

function names(graph: GraphData, state: Partial<State> = {}): string[] {
  return frame(graph, state).items.map(({ name, times }) => (times > 1 ? `${name} ×${times}` : name));
}

const NORM = ["pow", "mean", "rsqrt"];
const norms = (count: number) => Array.from({ length: count }, (_, i) => NORM.map((op) => `${op}.${i}`));

describe("functions", () => {
  it("are closed at first and open like modules", () => {
    const graph = inFunctions("x > pow > mean > rsqrt > lin > y", { "/norm()": ["/pow", "/mean", "/rsqrt"] });
    expect(names(graph)).toEqual(["x", "norm", "lin", "y"]);
    const [, norm] = frame(graph).items;
    expect([norm?.kind, norm?.detail, norm?.expandable]).toEqual(["function", "function", true]);
    const [, opened] = frame(graph, { expanded: ["/norm()"] }).items;
    expect(opened?.frame?.items.map(({ name }) => name)).toEqual(NORM);
    expect(names(graph, { functions: false })).toEqual(["x", ...NORM, "lin", "y"]);
  });

  it("need three visible ops, and are in each other and in modules", () => {
    const [, module] = frame(rope, { expanded: ["m"] }).items;
    expect(module?.frame?.items.map(({ name }) => name)).toEqual(["lin", "rope", "mm"]);
    const inner = frame(rope, { expanded: ["m", "m/rope()"] }).items[1]?.frame?.items[1]?.frame;
    expect(inner?.items.map(({ id }) => id)).toEqual(["m/a", "m/neg", "m/tanh", "m/b"]);
  });

  it("with all that a module has are none", () => {
    const graph = inFunctions("x > m/pow > m/mean > m/rsqrt > lin > y", { "m/norm()": ["m/pow", "m/mean", "m/rsqrt"] });
    const [, module] = frame(graph, { expanded: ["m"] }).items;
    expect(module?.frame?.items.map(({ name }) => name)).toEqual(NORM);
  });

  it("count what is left without plumbing", () => {
    const graph = inFunctions("x > view > mul > add > lin > y", { "/f()": ["/view", "/mul", "/add"] });
    expect(names(graph)).toEqual(["x", "mul", "add", "lin", "y"]);
    expect(names(graph, { plumbing: true })).toEqual(["x", "f", "lin", "y"]);
  });

  it("that only rearrange axes are a box, but not those that split them", () => {
    const graph = inFunctions("x > lin > view > permute > contiguous > reshape > mm > y", {
      "/partition()": ["/view", "/permute", "/contiguous", "/reshape"],
    });
    expect(names(graph)).toEqual(["x", "lin", "partition", "mm", "y"]);
    const heads = inFunctions("x > lin > view > transpose > contiguous > mm > y", {
      "/split_heads()": ["/view", "/transpose", "/contiguous"],
    });
    expect(names(heads)).toEqual(["x", "lin", "mm", "y"]);
  });

  it("repeat as one", () => {
    const all = norms(3);
    const graph = inFunctions(`x > ${all.flat().join(" > ")} > lin > y`, {});
    const nodes = graph.nodes.map((node) =>
      node.kind === "op" ? { ...node, name: node.id.replace(/^\/|\.\d$/g, ""), scope: /\d$/.exec(node.id)?.[0] } : node,
    );
    const calls = Object.fromEntries(all.map((_, i) => [`/norm()#${i}`, { id: `/norm()#${i}`, name: "norm" }]));
    const scoped = nodes.map((node) =>
      "scope" in node && node.scope ? { ...node, scope: `/norm()#${node.scope}` } : node,
    );
    const data = { ...graph, nodes: scoped, functions: calls } as GraphData;
    expect(names(data)).toEqual(["x", "norm ×3", "lin", "y"]);
    expect(names(data, { unrolled: ["/norm()#0"] })).toEqual(["x", "norm", "norm", "norm", "lin", "y"]);
  });

  it("have the colour of what they are called or contain", () => {
    const family = (ops: string[], name: string) => {
      const graph = inFunctions(`x > ${ops.join(" > ")} > lin > y`, { [`/${name}()`]: ops.map((op) => `/${op}`) });
      const shown = shownIndex(index(graph), {});
      const node = shown.nodes.get(`/${name}()`);
      return node && familyOf(shown, node);
    };
    expect(family(["pow", "mean", "rsqrt"], "rms_norm")).toBe("normalisation");
    expect(family(["matmul", "mul", "mm"], "mix")).toBe("linear");
    expect(family(["mul", "add", "exp"], "mix")).toBe("elementwise");
  });

  it("are expanded by name", () => {
    const traced = index(rope);
    expect(matching(shownIndex(traced, {}), ["rope"])).toEqual(["m/rope()"]);
    const state = initialState(traced, { expand: ["rope"] }, () => ({ width: 1, height: 1 }));
    expect(state.expanded).toEqual(["m", "m/rope()"]);
    expect(initialState(traced, { functions: false, depth: 2 }, () => ({ width: 1, height: 1 })).functions).toBe(false);
  });

  it("are in the outline, in search and in details", () => {
    expect(outlineRows(index(rope)).map(({ name, parent, shared }) => [name, parent, shared])).toEqual([
      ["m", null, false],
      ["rope", 0, false],
    ]);
    const session = new Session({ graph: rope, state: CLOSED });
    expect(new SearchIndex(session.grouped).search("rope").groups).toMatchObject([{ ids: ["m/rope()"] }]);
    expect(session.transitions.reveal("m/rope()").expanded).toEqual(["m"]);
    const facts = new Map(detailsOf(session, "m/rope()").facts.map(({ label, lines }) => [label, lines]));
    expect(facts.get("calledAt")).toEqual(["pkg.py:7"]);
    expect([facts.get("inputs"), facts.get("outputs")]).toEqual([["1×8 float32"], ["1×8 float32"]]);
    expect(detailsOf(session, "m/rope()")).toMatchObject({ title: "m/rope()", type: "pkg.rope", source: "pkg.py:1" });
  });

  it("are inside a module that is shown alone", () => {
    const session = new Session({ graph: rope, state: CLOSED });
    const shown = session.visibleGraph(session.transitions.isolate("m"));
    expect(shown.parent.get("m/rope()")).toBe("");
    expect(shown.parent.get("m/neg")).toBe("m/rope()");
  });

  const swirl = inFunctions("x > m/lin > m/a > m/neg > m/tanh > m/cos > m/b > m/mm > y\nm/a > m/b", {
    "m/rope()": ["m/a", "m/b"],
    "m/half() in m/rope()": ["m/neg", "m/tanh", "m/cos"],
  });
  Object.assign(swirl.functions?.["m/rope()"] ?? {}, { inputs: { q: "m/lin:0" }, flops: 6 });

  it("are shown alone with what is in them, and their arguments by name", () => {
    const session = new Session({ graph: swirl, state: CLOSED });
    expect(["m", "m/rope()", "m/half()", "m/a", "m/gone()"].map((id) => session.transitions.canIsolate(id))).toEqual([
      true,
      true,
      true,
      false,
      false,
    ]);
    const alone = session.transitions.isolate("m/rope()");
    const shown = session.visibleGraph(alone);
    const top = contentsOf(shown, ROOT).children.map((id) => shown.nodes.get(id));
    expect(top.map((node) => node && pathOf(node))).toEqual(["q", "m/a", "m/half()", "m/b", "b"]);
    const inside = new Session({ graph: swirl, state: session.transitions.isolate("m/half()") });
    expect(inside.isolatedPath().map(({ name }) => name)).toEqual(["m", "rope", "half"]);
    expect(inside.transitions.reveal("m/tanh").root).toBe("m/half()");
    expect(inside.transitions.reveal("m/mm").root).toBeUndefined();
  });

  it("can't be shown alone where the author leaves them out", () => {
    const session = new Session({ graph: swirl, state: { ...CLOSED, functions: false } });
    expect(session.transitions.canIsolate("m/rope()")).toBe(false);
    const shown = session.visibleGraph(session.transitions.isolate("m/rope()"));
    expect(shown.nodes.has("m/lin")).toBe(true);
  });

  it("have their arguments in details, and colours by class and by cost", () => {
    const session = new Session({ graph: swirl, state: CLOSED });
    const { facts } = detailsOf(session, "m/rope()");
    expect(facts.find(({ label }) => label === "inputs")?.lines).toEqual(["q: 1×8 float32"]);
    const ids = ["m/rope()", "m/a"];
    expect(session.classScale(ids).entries.map(({ text }) => text)).toContain("rope");
    expect(new Costs(session.grouped).of(["m/rope()"]).flops).toBeGreaterThan(0);
  });
});
