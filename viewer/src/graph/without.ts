/** A graph without some of its nodes. */
import { atOnce, each, type Steps } from "../shared/slices.js";
import { containersOf, type Edge, type Graph, type GraphNode } from "./graph.js";

/** The graph without some nodes, their edges, and modules that become empty. */
export function without(graph: Graph, removed: ReadonlySet<string>): Graph {
  return atOnce(withoutSteps(graph, removed));
}

/** The same in steps. */
export function* withoutSteps(graph: Graph, removed: ReadonlySet<string>): Steps<Graph> {
  if (removed.size === 0) return graph;
  const emptied = emptiedModules(graph, removed);
  yield;
  const nodes = graph.nodes.filter((node) => !removed.has(node.id) && !emptied.has(node.id));
  const adjacency = new Map<string, Edge[]>();
  yield* each(nodes, (node) => {
    const edges = (graph.adjacency.get(node.id) ?? []).filter((edge) => !removed.has(edge.to));
    if (edges.length > 0) adjacency.set(node.id, edges);
  });
  return { ...graph, nodes, adjacency };
}

export function emptiedModules(graph: Graph, removed: ReadonlySet<string>): Set<string> {
  const emptied = new Set<string>();
  const nonEmpty = new Set<string>();
  for (const node of graph.nodes) {
    if (node.kind === "module" || removed.has(node.id)) continue;
    for (const at of containersOf(graph.hierarchy, node.id)) {
      if (nonEmpty.has(at)) break;
      nonEmpty.add(at);
    }
  }
  for (const id of removed) {
    for (const at of containersOf(graph.hierarchy, id)) {
      if (nonEmpty.has(at)) break;
      emptied.add(at);
    }
  }
  return emptied;
}

/** Names removed constants and weights at the ops that use them. */
export function withNames(graph: Graph, removed: ReadonlySet<string>): Graph {
  const used = new Map<string, Record<string, string>>();
  for (const node of graph.nodes) {
    if (!removed.has(node.id) || !("name" in node) || !node.name || node.kind === "op") continue;
    for (const { to, argument } of graph.adjacency.get(node.id) ?? []) {
      used.set(to, { ...used.get(to), [argument ?? ""]: node.name });
    }
  }
  const named = (node: GraphNode): GraphNode =>
    node.kind === "op" && used.has(node.id) ? { ...node, weights: { ...node.weights, ...used.get(node.id) } } : node;
  return used.size === 0 ? graph : { ...graph, nodes: graph.nodes.map(named) };
}
