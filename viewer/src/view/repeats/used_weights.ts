/** The weights that ops and module calls use: two calls of one module may use different parts of it. */
import { append } from "../../graph/append.js";
import { contentsOf, type GraphIndex, type ModuleNode } from "../../graph/graph.js";

type Names = ReadonlySet<string>;

/** Node → its weights, cached per graph. */
const known = new WeakMap<GraphIndex, Map<string, Names>>();

/** Names of the parameters that an op, or the ops inside a module call, use. */
export function weightsUsed(index: GraphIndex, id: string): Names {
  let cache = known.get(index);
  if (cache === undefined) {
    cache = weightsOfOps(index);
    known.set(index, cache);
  }
  const found =
    cache.get(id) ?? new Set(contentsOf(index, id).children.flatMap((child) => [...weightsUsed(index, child)]));
  cache.set(id, found);
  return found;
}

function weightsOfOps(index: GraphIndex): Map<string, Names> {
  const names = new Map<string, string[]>();
  // buffers and constants have names, too
  const isParameter = (name: string) => (index.graph.parameters.get(name)?.kind ?? "parameter") === "parameter";
  for (const node of index.graph.nodes) {
    const used = node.kind === "op" ? Object.values(node.weights ?? {}).filter(isParameter) : [];
    for (const name of used) append(names, node.id, name);
    const readers = node.kind === "parameter" ? (index.graph.adjacency.get(node.id) ?? []) : [];
    // the node may stand for several
    for (const { to, tensor } of readers) append(names, to, tensor);
  }
  return new Map([...names].map(([id, all]) => [id, new Set(all)]));
}

/** Path of a module → its calls, cached per graph. */
const callsByGraph = new WeakMap<GraphIndex, Map<string, ModuleNode[]>>();

/** Whether two modules or ops, or two groups of them, use the same weights. */
export function haveSameWeights(index: GraphIndex, some: string[], others: string[]): boolean {
  const used = (ids: string[]) => new Set(ids.flatMap((id) => [...weightsUsed(index, id)]));
  const [one, other] = [used(some), used(others)];
  return one.size === other.size && [...one].every((name) => other.has(name));
}

/** Whether earlier calls of the same module used all weights that this call uses. */
export function usesSameWeights(index: GraphIndex, node: ModuleNode): boolean {
  if ((node.call ?? 1) < 2 || node.parameters.total === 0) return false;
  const earlier = callsOf(index, node.path).filter(({ call = 1 }) => call < (node.call ?? 1));
  const used = new Set(earlier.flatMap(({ id }) => [...weightsUsed(index, id)]));
  return [...weightsUsed(index, node.id)].every((name) => used.has(name));
}

function callsOf(index: GraphIndex, path: string): ModuleNode[] {
  let calls = callsByGraph.get(index);
  if (calls === undefined) {
    calls = new Map();
    for (const node of index.graph.nodes) if (node.kind === "module") append(calls, node.path, node);
    callsByGraph.set(index, calls);
  }
  return calls.get(path) ?? [];
}
