/** Modules that show as one box. */
import { contentsOf, type GraphIndex, isGroup } from "../graph/graph.js";
import { type FoldedRun, firstMember, isMember, onlyRun } from "./repeats/contents.js";

/** A module and its chain of only children, as long as each is a module. */
export function singleChain(index: GraphIndex, id: string): string[] {
  const chain = [id];
  for (;;) {
    const { children } = contentsOf(index, chain[chain.length - 1] ?? id);
    const only = children.length === 1 ? index.nodes.get(children[0] ?? "") : undefined;
    if (only?.kind !== "module") return chain;
    chain.push(only.id);
  }
}

/** Modules that show as one box, outermost first. */
export interface ModuleBox {
  chain: string[];
  /** The run that the box stands for; its first member is in the chain. */
  run: FoldedRun | null;
}

/** The box of a module: its chain of only children, continued by a folded run if that is the only content. */
export function boxOf(index: GraphIndex, id: string, unrolled: ReadonlySet<string>): ModuleBox {
  if (contentsOf(index, id).children.length === 0 || isGroup(index.nodes.get(id))) return { chain: [id], run: null };
  const chain = singleChain(index, id);
  // a box has one badge only
  const run = isMember(index, id) ? null : onlyRun(index, chain[chain.length - 1] ?? id);
  if (run === null || unrolled.has(run.id)) return { chain, run: null };
  return { chain: [...chain, ...singleChain(index, firstMember(run.id))], run };
}

/** Whether a container has more than one child; expanding it would otherwise show the same box again. */
export function isExpandable(index: GraphIndex, id: string): boolean {
  return contentsOf(index, id).children.length > 1;
}
