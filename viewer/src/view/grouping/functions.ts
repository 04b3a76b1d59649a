/** Calls of functions as nodes: a box around the ops that one Python function ran, which opens like a module. */
import { append } from "../../graph/append.js";
import { containersOf, type FunctionNode, type Graph, type GraphNode, ROOT } from "../../graph/graph.js";
import { atOnce, each, type Steps } from "../../shared/slices.js";

/** A function with fewer visible ops says less than its ops. */
const MIN_OPS = 3;

/**
 * The graph with a node for every function call that still has several ops and isn't all there is in its container. The
 * calls can be limited to `isListed`. Groups made by the author always become nodes.
 */
export function withFunctions(graph: Graph, isListed: (id: string) => boolean = () => true): Graph {
  return atOnce(groupFunctions(graph, isListed));
}

/** The same in steps. */
export function* groupFunctions(graph: Graph, isListed: (id: string) => boolean): Steps<Graph> {
  const calls = Object.values(graph.functions ?? {});
  if (calls.length === 0) return graph;
  const around = yield* surroundings(graph);
  yield;
  const kept = new Set([...(yield* keptFunctions(graph, around))].filter((id) => isGroup(graph, id) || isListed(id)));
  const keptAround = (id: string) => (around.get(id) ?? []).find((call) => kept.has(call));
  const hierarchy = new Map(graph.hierarchy);
  const beginning = new Map<string, FunctionNode[]>();
  const begun = new Set<string>();
  yield* each(graph.nodes, (node) => {
    const inside = (around.get(node.id) ?? []).filter((id) => kept.has(id));
    if (inside[0] !== undefined) hierarchy.set(node.id, inside[0]);
    for (const id of [...inside].reverse()) {
      const call = graph.functions?.[id];
      if (begun.has(id) || call === undefined) continue;
      begun.add(id);
      hierarchy.set(id, keptAround(id) ?? graph.hierarchy.get(node.id) ?? null);
      append(beginning, node.id, { ...call, kind: "function" });
    }
  });
  const nodes = graph.nodes.flatMap((node): GraphNode[] => [...(beginning.get(node.id) ?? []), node]);
  return { ...graph, nodes, hierarchy };
}

/** Whether a function call is a group that the author made. */
function isGroup({ functions = {} }: Graph, id: string): boolean {
  return (functions[id] as FunctionNode | undefined)?.group === true;
}

/** Node or function call → the function calls around it in its module call, innermost first. */
function* surroundings(graph: Graph): Steps<Map<string, string[]>> {
  const around = new Map<string, string[]>();
  const functions = new Map(Object.entries(graph.functions ?? {}));
  // outer calls come before inner ones
  for (const [id, { parent }] of functions) {
    around.set(id, parent && functions.has(parent) ? [parent, ...(around.get(parent) ?? [])] : []);
  }
  const byId = (scope: string | null | undefined) => (scope ? [scope, ...(around.get(scope) ?? [])] : []);
  yield;
  for (const node of graph.nodes) if ("scope" in node && isCall(node)) around.set(node.id, byId(node.scope));
  yield* each(graph.nodes, (node) => {
    if (!("scope" in node) || isCall(node)) return;
    // a weight that represents a series may have readers elsewhere
    const readers = (graph.adjacency.get(node.id) ?? []).map(
      ({ to }) => around.get(childTowards(graph, node, to)) ?? [],
    );
    around.set(
      node.id,
      byId(node.scope).filter((call) => readers.every((calls) => calls.includes(call))),
    );
  });
  return around;
}

/** The sibling of a node that is or contains another node. */
function childTowards(graph: Graph, { id }: GraphNode, other: string): string {
  const parent = graph.hierarchy.get(id) ?? null;
  return (
    [other, ...containersOf(graph.hierarchy, other)].find((at) => (graph.hierarchy.get(at) ?? null) === parent) ?? other
  );
}

function isCall({ kind }: GraphNode): boolean {
  return kind === "op" || kind === "module";
}

/** Function calls with several ops that aren't all there is in their container. */
function* keptFunctions(graph: Graph, around: ReadonlyMap<string, string[]>): Steps<Set<string>> {
  const callsAround = (id: string) => around.get(id) ?? [];
  const steps = new Map<string, number>();
  const ops = new Map<string, number>();
  const modules = new Map<string, string>();
  yield* each(graph.nodes.filter(isCall), ({ id, kind }) => {
    const module = graph.hierarchy.get(id) ?? ROOT;
    count(steps, [module, ...callsAround(id)]);
    for (const call of callsAround(id)) modules.set(call, module);
    if (kind === "op") count(ops, [id, ...containersOf(graph.hierarchy, id)].flatMap(callsAround));
  });
  const kept = new Set<string>();
  const isInformative = (id: string, inside: number) => {
    const outer = callsAround(id).find((call) => kept.has(call)) ?? modules.get(id) ?? ROOT;
    return (ops.get(id) ?? 0) >= MIN_OPS && inside > 1 && inside < (steps.get(outer) ?? 0);
  };
  for (const id of Object.keys(graph.functions ?? {})) {
    const inside = steps.get(id) ?? 0;
    if (isGroup(graph, id) ? inside > 0 : isInformative(id, inside)) kept.add(id);
  }
  return kept;
}

function count(counts: Map<string, number>, ids: string[]): void {
  for (const id of ids) counts.set(id, (counts.get(id) ?? 0) + 1);
}
