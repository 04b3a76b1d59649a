/** Parallel calls of one module, such as the towers of a siamese network: they are open or closed together. */
import { append } from "../../graph/append.js";
import { contentsOf, type GraphIndex, type Link, type ModuleNode, ROOT } from "../../graph/graph.js";
import { isMember } from "../repeats/contents.js";

/** All parallel calls of a module in its container; only the call itself if it belongs to a run. */
export function twinsOf(index: GraphIndex, id: string): string[] {
  const node = index.nodes.get(id);
  if (node?.kind !== "module" || isMember(index, id)) return [id];
  const parent = index.parent.get(id) ?? ROOT;
  const { children, links } = contentsOf(index, parent);
  const calls = children.filter((other) => isCallOf(index, other, node));
  if (calls.length === 1 || calls.some((call) => isMember(index, call))) return [id];
  const isRow = calls.some((call) => {
    const behind = reached(links, call);
    return calls.some((other) => behind.has(other));
  });
  return isRow ? [id] : calls;
}

function isCallOf(index: GraphIndex, id: string, { path, signature }: ModuleNode): boolean {
  const node = index.nodes.get(id);
  return node?.kind === "module" && node.path === path && node.signature === signature;
}

/** The children of a container that are reached from one of them. */
export function reached(links: readonly Link[], from: string): Set<string> {
  const readers = new Map<string, string[]>();
  for (const link of links) if (link.from !== null && link.to !== null) append(readers, link.from, link.to);
  const found = new Set(readers.get(from));
  // iterating a set includes elements added meanwhile
  for (const at of found) for (const to of readers.get(at) ?? []) found.add(to);
  return found;
}
