import type { GraphData } from "../../src/graph/graph.js";
import { sketch } from "../sketch.js";

/** Three modules with these numbers of parameters. */
export function withParameters(counts: Record<string, number>): GraphData {
  const graph = sketch("x > a/norm > a/mul > b/norm > b/mul > c/norm > c/mul > y", {
    a: "Block",
    b: "Block",
    c: "Head",
  });
  const nodes = graph.nodes.map((node) => {
    const total = node.kind === "module" ? (counts[node.id] ?? 0) : 0;
    return node.kind === "module" ? { ...node, parameters: { own: 0, total, trainable: total } } : node;
  });
  return { ...graph, nodes, model: { ...graph.model, parameters: { own: 0, total: 1_010_100, trainable: 1_010_100 } } };
}
