/** Leaves out what an author hides; what it connects stays connected, with the tensors as they arrive. */
import { each, type Steps } from "../shared/slices.js";
import type { Edge, Flow, Graph, GraphNode } from "./graph.js";
import { leavingOut } from "./without.js";

/** From the weakest. */
const FLOWS: readonly Flow[] = ["shape", "inferred", "data"];

/** The graph without hidden nodes and what is inside of them. */
export function* withoutHidden(graph: Graph): Steps<Graph> {
  const hidden = hiddenIn(graph);
  if (hidden.size === 0) return graph;
  const adjacency = new Map<string, Edge[]>();
  const passedOn = new Map<string, string[]>();
  yield* each(graph.nodes, ({ id }) => {
    if (hidden.has(id)) return;
    const edges = (graph.adjacency.get(id) ?? []).flatMap((edge) => bridged(graph, hidden, edge));
    const distinct = [...new Map(edges.map((edge) => [`${edge.to} ${edge.argument} ${edge.tensor}`, edge])).values()];
    if (distinct.length > 0) adjacency.set(id, distinct);
    passedOn.set(
      id,
      distinct.map(({ tensor }) => tensor),
    );
  });
  // what arrives is known as made where it set out
  const nodes = graph.nodes.map((node): GraphNode => {
    if (node.kind === "module" || !("outputs" in node)) return node;
    return { ...node, outputs: [...new Set([...(node.outputs ?? []), ...(passedOn.get(node.id) ?? [])])] };
  });
  yield;
  return yield* leavingOut({ ...graph, nodes, adjacency }, hidden);
}

/** Ids of nodes that are hidden, or inside of what is. */
export function hiddenIn({ nodes, hierarchy, functions = {}, annotations }: Graph): Set<string> {
  const hidden = new Set([...(annotations ?? [])].filter(([, { hide }]) => hide).map(([id]) => id));
  if (hidden.size === 0) return hidden;
  const isInHiddenCall = (scope: string | null | undefined): boolean =>
    scope != null &&
    (hidden.has(scope) || (Object.hasOwn(functions, scope) && isInHiddenCall(functions[scope]?.parent)));
  // modules precede what is inside of them
  for (const node of nodes) {
    const parent = hierarchy.get(node.id) ?? null;
    if ((parent !== null && hidden.has(parent)) || ("scope" in node && isInHiddenCall(node.scope))) hidden.add(node.id);
  }
  return hidden;
}

/** The edges to the visible nodes that an edge reaches through hidden ones. */
function bridged(graph: Graph, hidden: ReadonlySet<string>, start: Edge): Edge[] {
  const found: Edge[] = [];
  const seen = new Set<string>();
  const pending = [start];
  for (let edge = pending.pop(); edge !== undefined; edge = pending.pop()) {
    const key = `${edge.to} ${edge.tensor} ${edge.argument} ${edge.flow}`;
    if (seen.has(key)) continue;
    seen.add(key);
    if (!hidden.has(edge.to)) found.push(edge);
    else for (const next of graph.adjacency.get(edge.to) ?? []) pending.push(joined(graph, edge, next));
  }
  return found;
}

/** Two edges in a row as one: where both tensors look the same, what arrives is the one that set out. */
function joined({ tensors }: Graph, one: Edge, next: Edge): Edge {
  const look = (tensor: string) => JSON.stringify([tensors.get(tensor)?.shape, tensors.get(tensor)?.dtype]);
  const tensor = look(one.tensor) === look(next.tensor) ? one.tensor : next.tensor;
  return { ...next, flow: weaker(one.flow, next.flow), tensor };
}

function weaker(one: Flow = "data", other: Flow = "data"): Flow {
  return FLOWS.indexOf(one) < FLOWS.indexOf(other) ? one : other;
}
