/** Stacks of equal blocks, wherever they are inside a module: what an encoder and a decoder have in common. */
import { contentsOf, type GraphIndex } from "../../graph/graph.js";
import type { Frame } from "../frame.js";
import { foldedContents, runsIn } from "./contents.js";

/** Graph → module → whether it holds a stack. */
const known = new WeakMap<GraphIndex, Map<string, boolean>>();

/** Marks the items of a frame that are stacks or hold them, if several inputs meet in it. */
export function markStacks(index: GraphIndex, { items, inputs }: Frame): void {
  if (inputs.length + items.filter(({ kind }) => kind === "input").length < 2) return;
  for (const item of items) {
    item.stack = item.times > 1 || item.unrolled > 1 || (item.expandable && holdsStack(index, item.id));
  }
}

/** Whether a module or a module inside it repeats a block. */
function holdsStack(index: GraphIndex, id: string): boolean {
  const inGraph = known.get(index) ?? new Map<string, boolean>();
  known.set(index, inGraph);
  const before = inGraph.get(id);
  if (before !== undefined) return before;
  const found = runsIn(foldedContents(index, id)).some(isOfModules(index)) || insideOf(index, id);
  inGraph.set(id, found);
  return found;
}

function isOfModules(index: GraphIndex): (run: { members: string[] }) => boolean {
  return ({ members }) => members.some((member) => index.nodes.get(member)?.kind === "module");
}

function insideOf(index: GraphIndex, id: string): boolean {
  const { children } = contentsOf(index, id);
  return children.some((child) => index.nodes.get(child)?.kind === "module" && holdsStack(index, child));
}
