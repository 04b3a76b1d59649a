/** Merges series of inputs, outputs or weights, such as the keys and values of a cache, or a list of parameters. */
import { each, type Steps } from "../shared/slices.js";
import { append } from "./append.js";
import { type Edge, type Graph, type GraphNode, isWeight } from "./graph.js";

/** A simplified graph. */
export interface Simplified {
  graph: Graph;
  /** Id of an input, output or weight that represents several → the ids of all of them. */
  series: Map<string, string[]>;
}

/** Fewest nodes with a common name that are merged. */
const MIN_NAMED = 3;
/** Fewest nodes of different kinds of tensors that are merged: one label would be wrong for the others. */
const MIN_MIXED = 9;
/** Fewest outputs without names (`[0]`, `[1]`) that are merged: a few may be different things. */
const MIN_UNNAMED = 9;

type Member = Extract<GraphNode, { kind: "input" | "output" | "parameter" | "buffer" }>;

/** Merge inputs (or outputs) of one argument, and weights of one list that several modules read. */
export function* foldSeries(graph: Graph): Steps<Simplified> {
  const stems = new Map<string, Member[]>();
  yield* each(graph.nodes, (node) => {
    if (isMember(graph, node)) append(stems, `${node.kind} ${stem(node)}`, node);
  });
  const series = new Map<string, string[]>();
  const leader = new Map<string, string>();
  for (const members of stems.values()) {
    const [first] = members;
    if (first === undefined || members.length < (stem(first) === "" ? MIN_UNNAMED : MIN_NAMED)) continue;
    if (members.length < MIN_MIXED && isMixed(graph, members)) continue;
    series.set(
      first.id,
      members.map((member) => member.id),
    );
    for (const member of members) leader.set(member.id, first.id);
  }
  return { graph: series.size === 0 ? graph : yield* mergeSeries(graph, series, leader), series };
}

/** Whether some have another dtype or number of axes than others. */
function isMixed(graph: Graph, members: readonly Member[]): boolean {
  const kinds = members.flatMap((member) => {
    const tensors = isSource(member) ? (member.outputs ?? []) : [];
    return tensors.map((tensor) => graph.tensors.get(tensor)).map((spec) => `${spec?.dtype} ${spec?.shape?.length}`);
  });
  return new Set(kinds).size > 1;
}

/** A weight belongs to a series if ops of another container read it; otherwise it is drawn next to its reader. */
function isMember(graph: Graph, node: GraphNode): node is Member {
  if (node.kind === "input" || node.kind === "output") return true;
  if ((node.kind !== "parameter" && node.kind !== "buffer") || !/\.\d+$/.test(node.name)) return false;
  const parent = graph.hierarchy.get(node.id);
  return (graph.adjacency.get(node.id) ?? []).some(({ to }) => graph.hierarchy.get(to) !== parent);
}

/** `cache` of `cache[0].keys`, `layers.tables` of the weight `layers.tables.0`. */
function stem({ kind, name }: Member): string {
  return isWeight(kind) ? name.replace(/\.\d+$/, "") : (name.split(/[.[]/, 1)[0] ?? "");
}

/** Keep the first of each series, with the edges of all. */
function* mergeSeries(graph: Graph, series: Map<string, string[]>, leader: Map<string, string>): Steps<Graph> {
  const adjacency = new Map<string, Edge[]>();
  const merge = (id: string) => leader.get(id) ?? id;
  yield* each(graph.adjacency, ([id, edges]) => {
    for (const edge of edges) append(adjacency, merge(id), { ...edge, to: merge(edge.to) });
  });
  const outputsOf = new Map(graph.nodes.map((node) => [node.id, isSource(node) ? (node.outputs ?? []) : []]));
  yield;
  const nodes: GraphNode[] = [];
  for (const node of graph.nodes) {
    const members = series.get(node.id);
    if (members === undefined) {
      if (!leader.has(node.id)) nodes.push(node);
    } else if (isSource(node)) {
      nodes.push({ ...node, name: stem(node), outputs: members.flatMap((id) => outputsOf.get(id) ?? []) });
    } else if (node.kind === "output") {
      nodes.push({ ...node, name: stem(node) || "outputs" });
    }
  }
  return { ...graph, nodes, adjacency };
}

function isSource(node: GraphNode): node is Exclude<Member, { kind: "output" }> {
  return node.kind === "input" || node.kind === "parameter" || node.kind === "buffer";
}
