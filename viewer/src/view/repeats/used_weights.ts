/** The weights that ops and module calls use: two calls of one module may use different parts of it. */

import { append } from "../../graph/append.js";
import { contentsOf, type GraphIndex, type ModuleNode } from "../../graph/graph.js";
import { memoByObject, memoInObject } from "../../shared/memo.js";

type Names = ReadonlySet<string>;

/** Names of the parameters that an op, or the ops inside a module call, use. */
export const weightsUsed = memoInObject(
  (index: GraphIndex, id: string): Names =>
    weightsOfOps(index).get(id) ??
    new Set(contentsOf(index, id).children.flatMap((child) => [...weightsUsed(index, child)])),
);

const weightsOfOps = memoByObject((index: GraphIndex): Map<string, Names> => {
  const names = new Map<string, string[]>();
  // buffers and constants have names too
  const isParameter = (name: string) => (index.graph.parameters.get(name)?.kind ?? "parameter") === "parameter";
  for (const node of index.graph.nodes) {
    const used = node.kind === "op" ? Object.values(node.weights ?? {}).filter(isParameter) : [];
    for (const name of used) append(names, node.id, name);
    const readers = node.kind === "parameter" ? (index.graph.adjacency.get(node.id) ?? []) : [];
    // the node may represent a series
    for (const { to, tensor } of readers) append(names, to, tensor);
  }
  return new Map([...names].map(([id, all]) => [id, new Set(all)]));
});

/** Whether two modules or ops, or two groups of them, use the same weights. */
export function haveSameWeights(index: GraphIndex, some: string[], others: string[]): boolean {
  const used = (ids: string[]) => new Set(ids.flatMap((id) => [...weightsUsed(index, id)]));
  const [one, other] = [used(some), used(others)];
  return one.size === other.size && [...one].every((name) => other.has(name));
}

/** Whether earlier calls of the same module used all weights that this call uses. */
export function usesSameWeights(index: GraphIndex, node: ModuleNode): boolean {
  if ((node.call ?? 1) < 2 || node.parameters.total === 0) return false;
  const earlier = (callsIn(index).get(node.path) ?? []).filter(({ call = 1 }) => call < (node.call ?? 1));
  const used = new Set(earlier.flatMap(({ id }) => [...weightsUsed(index, id)]));
  return [...weightsUsed(index, node.id)].every((name) => used.has(name));
}

/** Path of a module → its calls. */
const callsIn = memoByObject((index: GraphIndex) => {
  const calls = new Map<string, ModuleNode[]>();
  for (const node of index.graph.nodes) if (node.kind === "module") append(calls, node.path, node);
  return calls;
});
