/** Leaves out what an author hides, and connects its neighbours. */
import { each, type Steps } from "../shared/slices.js";
import type { Edge, Flow, Graph, GraphNode } from "./graph.js";
import { withoutSteps } from "./without.js";

/** From the weakest. */
const FLOWS: readonly Flow[] = ["shape", "inferred", "data"];

/** The graph without hidden nodes and what is inside them. */
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
  // a tensor that arrives counts as made where its path began
  const nodes = graph.nodes.map((node): GraphNode => {
    if (node.kind === "module" || !("outputs" in node)) return node;
    return { ...node, outputs: [...new Set([...(node.outputs ?? []), ...(passedOn.get(node.id) ?? [])])] };
  });
  yield;
  return yield* withoutSteps({ ...graph, nodes, adjacency }, hidden);
}

/** Ids of hidden nodes and of nodes inside hidden ones. */
export function hiddenIn({ nodes, hierarchy, functions = {}, annotations }: Graph): Set<string> {
  const hidden = new Set([...(annotations ?? [])].filter(([, { hide }]) => hide).map(([id]) => id));
  if (hidden.size === 0) return hidden;
  const isInHiddenCall = (scope: string | null | undefined): boolean =>
    scope != null &&
    (hidden.has(scope) || (Object.hasOwn(functions, scope) && isInHiddenCall(functions[scope]?.parent)));
  // modules precede what is inside them
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

/** Two consecutive edges as one. Of two tensors with equal shape and dtype, the first is kept. */
function joined({ tensors }: Graph, one: Edge, next: Edge): Edge {
  const look = (tensor: string) => JSON.stringify([tensors.get(tensor)?.shape, tensors.get(tensor)?.dtype]);
  const tensor = look(one.tensor) === look(next.tensor) ? one.tensor : next.tensor;
  return { ...next, flow: weaker(one.flow, next.flow), tensor };
}

function weaker(one: Flow = "data", other: Flow = "data"): Flow {
  return FLOWS.indexOf(one) < FLOWS.indexOf(other) ? one : other;
}
