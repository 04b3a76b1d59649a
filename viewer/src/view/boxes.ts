/** Modules that are shown as one box. */
import { contentsOf, type GraphIndex, isGroup } from "../graph/graph.js";
import { type FoldedRun, firstMember, isMember, onlyRun } from "./repeats/contents.js";

/** A module followed by its only child, the only child of that, and so on, while these are modules. */
export function singleChain(index: GraphIndex, id: string): string[] {
  const chain = [id];
  for (;;) {
    const { children } = contentsOf(index, chain[chain.length - 1] ?? id);
    const only = children.length === 1 ? index.nodes.get(children[0] ?? "") : undefined;
    if (only?.kind !== "module") return chain;
    chain.push(only.id);
  }
}

/** Modules that are shown as one box, outermost first. */
export interface ModuleBox {
  chain: string[];
  /** The run that the box represents; its first member is in the chain. */
  run: FoldedRun | null;
}

/** The box of a module: its chain of only children and, if nothing else is in the last one, a folded run. */
export function boxOf(index: GraphIndex, id: string, unrolled: ReadonlySet<string>): ModuleBox {
  if (contentsOf(index, id).children.length === 0 || isGroup(index.nodes.get(id))) return { chain: [id], run: null };
  const chain = singleChain(index, id);
  // a box has one badge only
  const run = isMember(index, id) ? null : onlyRun(index, chain[chain.length - 1] ?? id);
  if (run === null || unrolled.has(run.id)) return { chain, run: null };
  return { chain: [...chain, ...singleChain(index, firstMember(run.id))], run };
}

/** Whether a container has several children. With one, expanding it would show the same box again. */
export function isExpandable(index: GraphIndex, id: string): boolean {
  return contentsOf(index, id).children.length > 1;
}
