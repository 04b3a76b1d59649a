/** Removes ops that only Python reads, such as checks, sizes and counts that no output depends on. */
import { each, type Steps } from "../shared/slices.js";
import { append } from "./append.js";
import type { Edge, Graph, GraphNode, OpNode, Way } from "./graph.js";
import { shortName } from "./names.js";
import { withoutSteps } from "./without.js";
import { isDrawn, writersOf } from "./writes.js";

/** Ops that decide what a model does next, such as sampling a token, even if only Python reads the result. */
const DECIDING = /^(argmax|argmin|multinomial|topk|sort|argsort|bernoulli|categorical|nms)$/;
/** Ops that compute nothing: if nothing reads the result, only its shape was wanted. */
const PART = /^(getitem|select|narrow|slice|view|reshape|expand)$/;
const DISCRETE = /^(u?int|bool)/;

/**
 * The graph without dead ends: ops whose values Python reads (`item`, `tolist`, asserts) with the plain arithmetic before
 * them, and integers and parts of tensors that nothing reads. Losses, decisions and ops with weights stay.
 */
export function* withoutDeadEnds(graph: Graph): Steps<Graph> {
  // a failed trace ends anywhere, and without outputs every op is a dead end
  if (graph.status.state !== "complete" || !graph.nodes.some(({ kind }) => kind === "output")) return graph;
  const removed = yield* deadEnds(graph);
  return yield* withoutSteps(withDecisions(graph, removed), removed);
}

/** Keeps the ops whose value decides what runs next, and connects them with what the arithmetic before them reads. */
function withDecisions(graph: Graph, removed: Set<string>): Graph {
  const kept = keptDecisions(graph, removed);
  if (kept.length === 0) return graph;
  for (const id of kept) removed.delete(id);
  const arriving = new Map<string, Arrival[]>();
  for (const [from, edges] of graph.adjacency) for (const edge of edges) append(arriving, edge.to, { from, edge });
  const adjacency = new Map(graph.adjacency);
  for (const to of kept) {
    for (const { from, edge } of sourcesOf(to, arriving, removed))
      adjacency.set(from, [...(adjacency.get(from) ?? []), { ...edge, to }]);
  }
  return { ...graph, adjacency };
}

/** The ops to keep: of a loop's steps in which nothing else ran, such as those of experts without input, the first. */
function keptDecisions({ passWays, nodes, hierarchy }: Graph, removed: ReadonlySet<string>): string[] {
  const decisions = passWays?.decisions ?? new Map<string, Way>();
  if (decisions.size === 0) return [];
  const isShown = ({ id, kind }: GraphNode) => (kind === "op" || kind === "module") && !removed.has(id);
  const placeOf = (id: string, way: Way) => `${way.source} ${way.condition} ${hierarchy.get(id)}`;
  const kept: string[] = [];
  let last = "";
  for (const node of nodes) {
    const way = removed.has(node.id) ? decisions.get(node.id) : undefined;
    if (isShown(node)) last = "";
    if (way === undefined || placeOf(node.id, way) === last) continue;
    kept.push(node.id);
    last = placeOf(node.id, way);
  }
  return kept;
}

interface Arrival {
  from: string;
  edge: Edge;
}

/** The edges by which tensors reach an op through removed ones. */
function sourcesOf(id: string, arriving: ReadonlyMap<string, Arrival[]>, removed: ReadonlySet<string>): Arrival[] {
  const found = new Map<string, Arrival>();
  const passed = new Set([id]);
  // a set that is walked grows
  for (const at of passed) {
    const arrivals = (arriving.get(at) ?? []).filter(({ edge }) => edge.flow !== "shape");
    for (const arrival of arrivals) {
      if (removed.has(arrival.from)) passed.add(arrival.from);
      else if (at !== id) found.set(arrival.edge.tensor, arrival);
    }
  }
  return [...found.values()];
}

function* deadEnds(graph: Graph): Steps<Set<string>> {
  const writers = writersOf(graph);
  const found = new Set<string>();
  /** Dead ends whose value Python reads. */
  const read = new Set<string>();
  yield* each([...graph.nodes].reverse(), (node) => {
    if (node.kind !== "op" || stays(node)) return;
    const readers = (graph.adjacency.get(node.id) ?? []).filter((edge) => isDrawn(edge, writers)).map(({ to }) => to);
    const isRead = (node.outputs ?? []).length === 0 || readers.some((id) => read.has(id));
    const isPlain = isRead && !node.name.startsWith("torch.nn.functional.");
    const isSpare = isDiscrete(graph, node) || PART.test(shortName(node.name));
    if (!readers.every((id) => found.has(id)) || !(isPlain || isSpare)) return;
    found.add(node.id);
    if (isRead) read.add(node.id);
  });
  return found;
}

function stays({ name, weights, opaque }: OpNode): boolean {
  return opaque === true || Object.keys(weights ?? {}).length > 0 || DECIDING.test(shortName(name));
}

function isDiscrete(graph: Graph, { outputs = [] }: OpNode): boolean {
  return outputs.every((tensor) => DISCRETE.test(graph.tensors.get(tensor)?.dtype ?? ""));
}
