/** Merges series of inputs or outputs, such as the keys and values of a cache. */
import { append } from "./append.js";
import type { Edge, Graph, GraphNode, InputNode, OutputNode } from "./graph.js";

/** A simplified graph. */
export interface Simplified {
  graph: Graph;
  /** Id of an input or output that stands for several → the ids of all of them. */
  series: Map<string, string[]>;
}

/** Fewest inputs or outputs with a common name that are merged. */
const MIN_NAMED = 3;
/** Fewest outputs without names (`[0]`, `[1]`) that are merged; a few may be different things. */
const MIN_UNNAMED = 9;

/** Merge inputs (or outputs) that belong to one argument. */
export function foldSeries(graph: Graph): Simplified {
  const stems = new Map<string, (InputNode | OutputNode)[]>();
  for (const node of graph.nodes) {
    if (node.kind !== "input" && node.kind !== "output") continue;
    const key = `${node.kind} ${stem(node.name)}`;
    append(stems, key, node);
  }
  const series = new Map<string, string[]>();
  const leader = new Map<string, string>();
  for (const members of stems.values()) {
    const [first] = members;
    const least = stem(first?.name ?? "") === "" ? MIN_UNNAMED : MIN_NAMED;
    if (first === undefined || members.length < least) continue;
    series.set(
      first.id,
      members.map((member) => member.id),
    );
    for (const member of members) leader.set(member.id, first.id);
  }
  return { graph: series.size === 0 ? graph : merged(graph, series, leader), series };
}

function stem(name: string): string {
  return name.split(/[.[]/, 1)[0] ?? "";
}

/** Keep the first of each series, with the edges of all. */
function merged(graph: Graph, series: Map<string, string[]>, leader: Map<string, string>): Graph {
  const adjacency = new Map<string, Edge[]>();
  const merge = (id: string) => leader.get(id) ?? id;
  for (const [id, edges] of graph.adjacency) {
    for (const edge of edges) append(adjacency, merge(id), { ...edge, to: merge(edge.to) });
  }
  const outputsOf = new Map(graph.nodes.map((node) => [node.id, node.kind === "input" ? (node.outputs ?? []) : []]));
  const nodes: GraphNode[] = [];
  for (const node of graph.nodes) {
    const members = series.get(node.id);
    if (members === undefined) {
      if (!leader.has(node.id)) nodes.push(node);
    } else if (node.kind === "input") {
      nodes.push({ ...node, name: stem(node.name), outputs: members.flatMap((id) => outputsOf.get(id) ?? []) });
    } else if (node.kind === "output") {
      nodes.push({ ...node, name: stem(node.name) || "outputs" });
    }
  }
  return { ...graph, nodes, adjacency };
}
