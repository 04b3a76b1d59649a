/** Graphs of several cases, for tests. */
import type { GraphData } from "../src/graph/graph.js";
import { sketch } from "./sketch.js";

type Case = NonNullable<GraphData["cases"]>[number];

export function caseOf(name: string, more: Partial<Case> = {}): Case {
  const model = { name: "Sketch", class: "test.Sketch", parameters: { own: 0, total: 0, trainable: 0 } };
  return { name, model, status: { state: "complete" }, ...more };
}

/** The graph with cases; `where` names the cases of nodes and, as `a > b`, of edges. Modules run where a part does. */
export function withCases(graph: GraphData, cases: Case[], where: Record<string, number[]>): GraphData {
  const ids = new Map(graph.nodes.map(({ id }) => [id, where[id]]));
  const within = (id: string, holder: string) => {
    for (let at = graph.hierarchy[id] ?? null; at !== null; at = graph.hierarchy[at] ?? null)
      if (at === holder) return true;
    return false;
  };
  for (const { id, kind } of graph.nodes) {
    const parts = graph.nodes
      .filter((node) => node.kind === "op" && within(node.id, id))
      .map((node) => ids.get(node.id));
    if (kind === "module" && parts.every((part) => part !== undefined)) ids.set(id, [...new Set(parts.flat())].sort());
  }
  const all = cases.map((_, i) => i);
  const nodes = graph.nodes.map((node) => ({ ...node, cases: ids.get(node.id) ?? [] }));
  const adjacency = Object.fromEntries(
    Object.entries(graph.adjacency).map(([from, edges]) => [
      from,
      edges.map((edge) => {
        const ends = [from, edge.to].map((id) => ids.get(id) ?? all);
        const own = where[`${from} > ${edge.to}`] ?? all;
        const both = all.filter((one) => [...ends, own].every((some) => some.includes(one)));
        return { ...edge, cases: both.length === all.length ? [] : both };
      }),
    ]),
  );
  return { ...graph, nodes: nodes as GraphData["nodes"], adjacency, cases };
}

/**
 *     x ─ [stem] ┬ [cls] mean ─────────── c        in `cls`
 *                └ [seg] conv ─ interpolate ─ s    in `seg`
 *                drop: in `seg` alone, before it a bare edge in `cls`
 */
export function heads(): GraphData {
  const graph = sketch(`
    x > stem/linear > stem/relu > drop > norm > cls/mean > cls/linear > c
    stem/relu > norm
    norm > seg/conv > seg/interpolate > s
    seg/conv > seg/interpolate
  `);
  const [cls, seg] = [[0], [1]];
  return withCases(
    graph,
    [
      caseOf("cls"),
      caseOf("seg", {
        tensors: {
          "input:x:0": { shape: [2, 8], dtype: "float32" },
          "stem/relu:0": { shape: [2, 8], dtype: "float32" },
        },
      }),
    ],
    {
      "/drop": seg,
      "stem/relu > /norm": cls,
      "cls/mean": cls,
      "cls/linear": cls,
      "output:c": cls,
      "seg/conv": seg,
      "seg/interpolate": seg,
      "output:s": seg,
    },
  );
}
