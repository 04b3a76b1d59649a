/** Finds modules with a stack of equal blocks inside, as encoders and decoders have. */

import { contentsOf, type GraphIndex } from "../../graph/graph.js";
import { memoInObject } from "../../shared/memo.js";
import type { Frame } from "../frame.js";
import { foldedContents, runsIn } from "./contents.js";

/** Marks the items of a frame that are or hold stacks, if the frame has several inputs. */
export function markStacks(index: GraphIndex, { items, inputs }: Frame): void {
  if (inputs.length + items.filter(({ kind }) => kind === "input").length < 2) return;
  for (const item of items) {
    item.stack = item.times > 1 || item.unrolled > 1 || (item.expandable && holdsStack(index, item.id));
  }
}

/** Whether a module or a module inside it repeats a block. */
const holdsStack = memoInObject((index: GraphIndex, id: string): boolean => {
  const isModule = (one: string) => index.nodes.get(one)?.kind === "module";
  return (
    runsIn(foldedContents(index, id)).some(({ members }) => members.some(isModule)) ||
    contentsOf(index, id).children.some((child) => isModule(child) && holdsStack(index, child))
  );
});
