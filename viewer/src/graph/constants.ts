/** Removes ops whose result depends on neither an input nor a parameter. */
import { each, type Steps } from "../shared/slices.js";
import { containersOf, type Edge, type Graph, type OpNode } from "./graph.js";
import { shortName } from "./names.js";
import { withNames, withoutSteps } from "./without.js";
import { isDrawn, isInPlace, writersOf } from "./writes.js";

/** Ops that produce new values without a tensor input. */
const RANDOM = /rand|normal|bernoulli|multinomial|uniform|poisson/;

/** Removes constant ops, such as position indices and masks. Modules that hold nothing else stay, with what reads them. */
export function* withoutConstants(graph: Graph): Steps<Graph> {
  const constants = yield* constantNodes(graph);
  yield;
  const modules = modulesWhollyIn(graph, constants);
  yield;
  const kept = yield* withFollowing(graph, modules);
  const removed = new Set([...constants].filter((id) => !kept.has(id)));
  // a model of constants only, such as a table, stays as it is
  const hasVariableOps = graph.nodes.some((node) => node.kind === "op" && !constants.has(node.id));
  if (!hasVariableOps) return graph;
  const named = withNames(graph, removed);
  yield;
  return yield* withoutSteps(named, removed);
}

function* constantNodes(graph: Graph): Steps<Set<string>> {
  const variable = new Set<string>();
  const writers = writersOf(graph);
  const error = graph.status.error?.node;
  yield* each(graph.nodes, (node) => {
    const source = node.kind === "input" || node.kind === "parameter" || node.kind === "output" || node.id === error;
    const edges = graph.adjacency.get(node.id) ?? [];
    if (source || (node.kind === "op" && isVariable(node, edges))) variable.add(node.id);
    if (!variable.has(node.id)) return;
    for (const edge of edges) if (isDrawn(edge, writers)) variable.add(edge.to);
  });
  return new Set(graph.nodes.filter((node) => node.kind !== "module" && !variable.has(node.id)).map((node) => node.id));
}

/** Whether an op uses weights or random numbers. Counters such as `num_batches_tracked` are not variable. */
function isVariable(node: OpNode, edges: Edge[]): boolean {
  if (edges.length === 0 && isInPlace(node)) return false;
  return Object.keys(node.weights ?? {}).length > 0 || node.opaque === true || RANDOM.test(shortName(node.name));
}

/** Modules that hold only these nodes, such as rotary tables. */
function modulesWhollyIn(graph: Graph, nodes: ReadonlySet<string>): Set<string> {
  const whole = new Set(graph.nodes.filter((node) => node.kind === "module").map((node) => node.id));
  for (const node of graph.nodes) {
    if (node.kind === "module" || nodes.has(node.id)) continue;
    for (const at of containersOf(graph.hierarchy, node.id)) if (!whole.delete(at)) break;
  }
  return whole;
}

/** The nodes in these modules and everything that uses their results: a box without its readers would be wrong. */
function* withFollowing(graph: Graph, modules: ReadonlySet<string>): Steps<Set<string>> {
  const found = new Set<string>();
  yield* each(graph.nodes, ({ id }) => {
    if (modules.has(graph.hierarchy.get(id) ?? "")) found.add(id);
    if (!found.has(id)) return;
    for (const edge of graph.adjacency.get(id) ?? []) if (edge.flow !== "shape") found.add(edge.to);
  });
  return found;
}
