/** Calls of one module side by side, as the towers of a siamese network: they are open or closed together. */
import { contentsOf, type GraphIndex, type Link, type ModuleNode, ROOT } from "../graph/graph.js";
import { isMember } from "./contents.js";

/** The parallel calls of a module in one container, itself included; only itself if it belongs to a run. */
export function twinsOf(index: GraphIndex, id: string): string[] {
  const node = index.nodes.get(id);
  if (node?.kind !== "module" || isMember(index, id)) return [id];
  const parent = index.parent.get(id) ?? ROOT;
  const { children, links } = contentsOf(index, parent);
  const calls = children.filter((other) => isCallOf(index, other, node));
  const isRow = calls.length === 1 || calls.some((call) => calls.some((other) => reached(links, call).has(other)));
  return isRow || calls.some((call) => isMember(index, call)) ? [id] : calls;
}

function isCallOf(index: GraphIndex, id: string, { path, signature }: ModuleNode): boolean {
  const node = index.nodes.get(id);
  return node?.kind === "module" && node.path === path && node.signature === signature;
}

/** The children of a container that links lead to from one of them. */
export function reached(links: readonly Link[], from: string): Set<string> {
  const found = new Set<string>();
  const add = (at: string) => {
    for (const link of links) if (link.from === at && link.to !== null) found.add(link.to);
  };
  add(from);
  // iterating a set includes elements added meanwhile
  for (const at of found) add(at);
  return found;
}
