/** The union of two graphs and its picture. */
import { describe, expect, it, vi } from "vitest";
import { comparisonOf } from "../../src/diff/difference.js";
import { comparedGraphs, unionOf } from "../../src/diff/union/union.js";
import { draw } from "../../src/draw/draw.js";
import { drawLabel } from "../../src/draw/wires.js";
import type { GraphData, OnlyIn } from "../../src/graph/graph.js";
import { index } from "../../src/graph/indexing.js";
import { withoutPlumbing } from "../../src/graph/plumbing.js";
import { layout } from "../../src/layout/layout.js";
import { atOnce } from "../../src/shared/slices.js";
import type { Frame, Item } from "../../src/view/frame.js";
import { markSign } from "../../src/view/labels/marks.js";
import { view } from "../../src/view/view.js";
import { caseOf, heads } from "../cases.js";
import { chain, residual } from "../fixtures.js";
import { moduleOf, sketch } from "../sketch.js";

const plain = sketch("x > norm > add > y\nx > add");
const shorter = sketch(
  ["x > b.0/norm", "b.0/norm > b.0/mul", "m > b.0/mul", "b.0/mul > b.0/add", "x > b.0/add"]
    .concat(["b.0/add > b.1/norm > b.1/mul > b.1/add", "m > b.1/mul", "b.0/add > b.1/add", "b.1/add > y"])
    .join("\n"),
);
const branched = sketch(`
  x > block/norm > block/linear > block/relu > y
  block/norm > block/gate/sigmoid > block/mul > y
  block/linear > block/mul
`);
const unbranched = sketch("x > block/norm > block/linear > block/relu > y");

const PAIRS: [string, GraphData, GraphData][] = [
  ["an op", residual, plain],
  ["a block of a chain", chain, shorter],
  ["a branch with a module", branched, unbranched],
];

function union(before: GraphData, after: GraphData, details = true): GraphData {
  const found = comparisonOf(JSON.stringify(before), JSON.stringify(after));
  return unionOf(before, after, found, details);
}

/** Calls of one module after each other, inside these modules if there are any. */
function calls(times: number, path: string, inside = (_: number) => ""): GraphData {
  const ids = Array.from({ length: times }, (_, i) => `${inside(i)}call${i}`);
  const graph = sketch(`x > ${ids.map((id) => `${id}/linear`).join(" > ")} > y`);
  ids.forEach((id, i) => {
    Object.assign(moduleOf(graph, id), { path, class: "test.Shared", signature: "shared", call: i + 1 });
  });
  return graph;
}

function gonePathsIn(graph: GraphData): string[] {
  return graph.nodes.flatMap((node) => (node.kind === "module" && node.id.startsWith("−") ? [node.path] : []));
}

/** How many members `indexOf` and `splice` go through. */
function scanned(work: () => void): number {
  let total = 0;
  const spies = (["indexOf", "splice"] as const).map((name) => {
    const original = Array.prototype[name] as (...values: unknown[]) => unknown;
    return vi.spyOn(Array.prototype, name).mockImplementation(function (this: unknown[], ...values: unknown[]) {
      total += this.length;
      return original.apply(this, values) as never;
    });
  });
  try {
    work();
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
  return total;
}

function both(of: (before: GraphData, after: GraphData) => void): void {
  for (const [, before, after] of PAIRS) {
    of(before, after);
    of(after, before);
  }
}

function shown(graph: GraphData, expanded: string[] = []): Item[] {
  const all = (frame: Frame): Item[] =>
    frame.items.flatMap((item) => [item, ...(item.frame === null ? [] : all(item.frame))]);
  return all(view(index(graph), { expanded, unrolled: [], direction: "TB" }).root);
}

function told(items: Item[]): string[] {
  return items.filter((item) => item.changes !== undefined).map((item) => `${markSign(item)} ${item.name}`);
}

describe("the union of two graphs", () => {
  it("is the later graph where nothing is gone", () => {
    both((before, after) => {
      const graph = union(before, after);
      const isGone = (id: string) => graph.marks?.[id]?.status === "removed";
      const kept = graph.nodes.filter(({ id }) => !isGone(id)).map(({ id }) => id);
      expect(kept).toEqual(after.nodes.map(({ id }) => id));
      for (const id of kept) {
        const edges = (graph.adjacency[id] ?? []).filter(({ only }) => only !== "before");
        expect(edges.map(({ only: _, ...edge }) => edge)).toEqual(after.adjacency[id] ?? []);
      }
    });
  });

  it("has every edge of each graph on its side, and no other", () => {
    both((before, after) => {
      const graph = union(before, after);
      const { pairs } = comparisonOf(JSON.stringify(before), JSON.stringify(after));
      const here = (id: string) => pairs.get(id) ?? `−${id}`;
      const onSide = (other: OnlyIn) =>
        Object.entries(graph.adjacency).flatMap(([from, edges]) =>
          edges.filter(({ only }) => only !== other).map(({ to }) => `${from} > ${to}`),
        );
      const order = new Map(graph.nodes.map(({ id }, i) => [id, i]));
      const isForward = ([from = "", to = ""]: string[]) => (order.get(from) ?? 0) < (order.get(to) ?? 0);
      const edgesOf = (of: GraphData, name: (id: string) => string) =>
        Object.entries(of.adjacency)
          .flatMap(([from, edges]) => edges.map(({ to }) => [name(from), name(to)]))
          .filter(isForward)
          .map((ends) => ends.join(" > "));
      expect(new Set(onSide("before"))).toEqual(new Set(edgesOf(after, (id) => id)));
      expect(new Set(onSide("after"))).toEqual(new Set(edgesOf(before, here)));
    });
  });

  it("leads edges through a module that took the place of another", () => {
    const was = sketch("x > norm > act/relu > add > y");
    const is = sketch("x > norm > act/gelu > mul > add > y");
    for (const graph of [was, is])
      Object.assign(moduleOf(graph, "act"), { class: graph === was ? "test.ReLU" : "test.GELU" });
    const graph = union(was, is);
    const only = (side: OnlyIn) =>
      Object.entries(graph.adjacency).flatMap(([from, edges]) =>
        edges.filter((edge) => edge.only === side).map(({ to }) => `${from} > ${to}`),
      );
    expect(only("before")).toEqual(["act/gelu > /add"]);
    expect(only("after")).toEqual(["act/gelu > /mul", "/mul > /add"]);
  });

  it("knows which graph has an edge by the output that it comes from", () => {
    const graphs = [":0", ":1"].map((output) => {
      const graph = sketch("x > norm > chunk > relu > y\nnorm > add\nchunk > add > z");
      const node = graph.nodes.find(({ id }) => id === "/chunk");
      Object.assign(node ?? {}, { outputs: ["/chunk:0", "/chunk:1"] });
      graph.tensors["/chunk:1"] = { shape: [1, 8], dtype: "float32" };
      for (const edge of graph.adjacency["/chunk"] ?? []) if (edge.to === "/add") edge.tensor = `/chunk${output}`;
      return graph;
    });
    const found = union(graphs[0] as GraphData, graphs[1] as GraphData).adjacency["/chunk"];
    expect(found?.map(({ to, tensor, only }) => [to, tensor, only])).toEqual([
      ["/relu", "/chunk:0", undefined],
      ["/add", "/chunk:1", "after"],
      ["/add", "/chunk:0", "before"],
    ]);
  });

  it("knows which graph has edges of an op that has no counterpart and no mark", () => {
    const was = sketch("x > norm > relu > add > y\nnorm > add");
    const is = sketch("x > norm > relu\nx > view > add\nrelu > add > y");
    const sides = Object.fromEntries(
      Object.entries(union(was, is, false).adjacency).flatMap(([from, edges]) =>
        edges.map(({ to, only }) => [`${from} > ${to}`, only]),
      ),
    );
    expect(sides["input:x > /view"]).toBe("after");
    expect(sides["/view > /add"]).toBe("after");
    expect(sides["/norm > /add"]).toBe("before");
    const rearranged = union(
      sketch("x > norm > add > y\nx > add"),
      sketch("x > norm > view > add > y\nx > add"),
      false,
    );
    expect(Object.values(rearranged.adjacency).flatMap((edges) => edges.map(({ only }) => only))).toEqual(
      Array(5).fill(undefined),
    );
  });

  it("labels an edge that is gone with the shape that it had", () => {
    const was = sketch("x > norm > relu\nx > block/tanh > block/mul\nrelu > block/mul > y");
    for (const spec of Object.values(was.tensors)) spec.shape = [7, 7];
    const is = sketch("x > norm > relu\nx > block/tanh\nrelu > block/mul > y");
    const shown = view(index(union(was, is)), { expanded: ["block"], unrolled: [], direction: "TB" }).root;
    const inside = shown.items.find(({ id }) => id === "block")?.frame?.wires ?? [];
    expect(inside.map(({ only, label, former }) => [only, label, former])).toContainEqual(["before", "7×7", undefined]);
    const others = [...shown.wires, ...inside].filter(({ only }) => only === undefined);
    expect(others.map(({ label, former }) => [label, former])).toEqual(others.map(() => ["1×8", "7×7"]));
  });

  it("labels a tensor that both graphs have on either side, whatever reads it in only one", () => {
    for (const graph of [union(residual, plain), union(plain, residual)]) {
      const { root } = layout(view(index(graph), { expanded: [], unrolled: [], direction: "TB" }), null);
      const labels = root.geometry.labels.map((label) => drawLabel(label, root.frame));
      const onOneSide = labels.filter((text) => /mg-edge-(gone|new)/.test(text));
      expect(onOneSide.map((text) => /data-tensor="−?([^"]+)/.exec(text)?.[1])).toEqual(["/linear:0"]);
    }
  });

  it("draws no path through plumbing that neither graph has", () => {
    const graph = sketch("x > norm\nx > relu > view > add > z\nnorm > view > mul > y");
    const only = {
      "/norm/view": "before",
      "/view/mul": "before",
      "/relu/view": "after",
      "/view/add": "after",
    } as const;
    const sides = new Map<string, OnlyIn>(Object.entries(only));
    for (const [from, edges] of Object.entries(graph.adjacency))
      graph.adjacency[from] = edges.map((edge) => ({ ...edge, only: sides.get(from + edge.to) }));
    const { adjacency } = atOnce(withoutPlumbing(index(graph).graph));
    const from = (id: string) => adjacency.get(id)?.map((edge) => `${edge.to} ${edge.only}`);
    expect([from("/norm"), from("/relu")]).toEqual([["/mul before"], ["/add after"]]);
  });

  it("knows what tensors were where they were something else", () => {
    const wider = JSON.parse(JSON.stringify(plain)) as GraphData;
    for (const spec of Object.values(wider.tensors)) spec.shape = [7, 7];
    const former = union(wider, plain).formerTensors ?? {};
    expect(Object.keys(former).sort()).toEqual(Object.keys(plain.tensors).sort());
    expect(Object.values(former).every(({ shape }) => JSON.stringify(shape) === "[7,7]")).toBe(true);
    const wires = view(index(union(wider, plain)), { expanded: [], unrolled: [], direction: "TB" }).root.wires;
    expect(wires.map(({ former }) => former)).toEqual(wires.map(() => "7×7"));
  });

  it("knows what boxes said before where nothing marks them", () => {
    const classes = { "b.fc": "Linear", "b.last": "Linear" };
    const [was, is] = [16, 32].map((size) => {
      const graph = sketch("x > b.fc/linear > b.last/linear > y", classes);
      moduleOf(graph, "b.fc").attributes = { in_features: 8, out_features: size };
      moduleOf(graph, "b.last").attributes = { in_features: size, out_features: 8 };
      graph.tensors["b.fc/linear:0"] = { shape: [1, size], dtype: "float32" };
      for (const [id, total] of [["b.fc", 8 * size] as const, ["b.last", 8 * size] as const, ["b", 16 * size] as const])
        if (graph.nodes.some((node) => node.id === id))
          moduleOf(graph, id).parameters = { own: 0, total, trainable: 0 };
      return graph;
    }) as [GraphData, GraphData];
    const items = shown(union(was, is), ["b"]);
    const told = items.map(({ name, marks, detail, former }) => [name, marks.join(), detail, former?.detail]);
    expect(told).toContainEqual(["b.last", "same", "Linear 32 → 8", "Linear 16 → 8"]);
    expect(told).toContainEqual(["b.fc", "changed", "16 → 32", "16 → 32"]);
    const opened = view(index(union(was, is)), { expanded: ["b"], unrolled: [], direction: "TB" });
    expect(draw(layout(opened, null))).toContain('data-former="Linear 16 → 8"');
  });

  it("has edges forwards only, between nodes that it has, with tensors that it has", () => {
    both((before, after) => {
      const graph = union(before, after);
      const order = new Map(graph.nodes.map(({ id }, i) => [id, i]));
      const edges = Object.entries(graph.adjacency).flatMap(([from, all]) => all.map((edge) => ({ from, edge })));
      for (const { from, edge } of edges) {
        expect(order.get(from) ?? Number.NaN).toBeLessThan(order.get(edge.to) ?? Number.NaN);
        expect(graph.tensors).toHaveProperty([edge.tensor]);
      }
      for (const [id, parent] of Object.entries(graph.hierarchy)) {
        if (parent !== null) expect(order.get(parent)).toBeLessThan(order.get(id) ?? Number.NaN);
      }
    });
  });

  it("shows what is gone where it was, and what came", () => {
    expect(told(shown(union(residual, plain)))).toEqual(["− linear"]);
    expect(told(shown(union(plain, residual)))).toEqual(["+ linear"]);
    const graph = union(residual, plain);
    const gone = graph.nodes.find(({ id }) => id.startsWith("−"))?.id ?? "";
    expect(graph.adjacency["/norm"]?.map(({ to }) => to)).toContain(gone);
    expect(graph.adjacency[gone]?.map(({ to }) => to)).toEqual(["/add"]);
  });

  it("fades what is as before, and closes it", () => {
    const items = shown(union(plain, residual));
    expect(items.filter(({ marks }) => marks.includes("same")).map(({ name }) => name)).toEqual([
      "x",
      "norm",
      "add",
      "y",
    ]);
  });

  it("says of a closed container that something inside changed", () => {
    const graph = union(unbranched, branched);
    const [closed] = shown(graph).filter(({ id }) => id === "block");
    expect([closed?.marks, markSign(closed as Item)]).toEqual([["holds", "changed"], "~"]);
    const [open] = shown(graph, ["block"]).filter(({ id }) => id === "block");
    expect([open?.marks, markSign(open as Item)]).toEqual([["holds"], ""]);
    expect(told(shown(graph, ["block"]))).toEqual(["+ mul", "+ block/gate"]);
  });

  it("draws blocks that changed alike as one, apart from the others", () => {
    const items = shown(union(shorter, chain));
    expect(
      items.map((item) => `${markSign(item)}${item.name} ×${item.times}`).filter((text) => /b/.test(text)),
    ).toEqual(["b.0–1 ×2", "+b.2 ×1"]);
  });

  it("leaves out changes without effect unless details are asked for", () => {
    const renamed = JSON.parse(JSON.stringify(branched).replaceAll("block", "stage")) as GraphData;
    expect(Object.keys(union(branched, renamed, false).marks ?? {})).toEqual([]);
  });

  it("gives one path to all calls of a module that is gone, with one prime where it is taken", () => {
    const empty = sketch("x > relu > y");
    const taken = sketch("x > sh/conv > sh/relu > y");
    expect(gonePathsIn(union(calls(5, "sh"), empty))).toEqual(Array(5).fill("sh"));
    expect(gonePathsIn(union(calls(5, "sh"), taken))).toEqual(Array(4).fill("sh′"));
  });

  it("gives a module that is called inside of others the path of its owner", () => {
    const paths = gonePathsIn(
      union(
        calls(3, "sh", (i) => `b.${i}/`),
        sketch("x > relu > y"),
      ),
    );
    expect(paths.filter((path) => path.endsWith("sh"))).toEqual(["sh", "sh", "sh"]);
  });

  it("takes steps in proportion to what is gone", () => {
    const [before, after] = [calls(200, "sh"), sketch("x > relu > y")];
    const found = comparisonOf(JSON.stringify(before), JSON.stringify(after));
    expect(scanned(() => unionOf(before, after, found, true))).toBeLessThan(10 * before.nodes.length);
  });
});

describe("graphs of several cases", () => {
  it("have the cases of the later one, by name", () => {
    const before = heads();
    const [cls = caseOf("cls"), seg = caseOf("seg")] = before.cases ?? [];
    // the same with the cases in the other order, and without one op
    const swapped = <T extends { cases?: number[] }>(part: T): T => ({
      ...part,
      cases: part.cases?.map((one) => 1 - one),
    });
    const after: GraphData = {
      ...before,
      cases: [seg, cls],
      nodes: before.nodes.filter(({ id }) => id !== "/drop").map(swapped),
      adjacency: Object.fromEntries(
        Object.entries(before.adjacency)
          .filter(([from]) => from !== "/drop")
          .map(([from, edges]) => [from, edges.filter(({ to }) => to !== "/drop").map(swapped)]),
      ),
    };
    const { graph } = comparedGraphs(JSON.stringify(before), JSON.stringify(after), false);
    const gone = graph.nodes.find(({ id }) => id.endsWith("/drop"));
    expect(gone).toMatchObject({ cases: [0] });
  });
});
