/** Glyphs of ops, and marks of nodes: failed, of unknown origin, called again, changed. */

import { ancestors, type Contents, type GraphIndex, type GraphNode } from "../../graph/graph.js";
import { memoByObject } from "../../shared/memo.js";
import type { Item } from "../frame.js";
import { type Glyph, glyph } from "./op_families.js";
import { operandKey } from "./op_words.js";

/** The glyph of an op that combines at least two tensors; null for others, such as `x + 1`. */
export function glyphOf(node: GraphNode, contents: Contents): Glyph | null {
  if (node.kind !== "op") return null;
  const sign = glyph(node.name);
  if (sign === undefined) return null;
  const args = node.arguments ?? {};
  const hasNumber = sign !== "cat" && (operandKey(args) !== undefined || (args.alpha ?? 1) !== 1);
  return hasNumber || (takenIn(contents).get(node.id) ?? 0) < 2 ? null : sign;
}

/** Child → the number of tensors that it reads. */
const takenIn = memoByObject((contents: Contents) => {
  const counts = new Map<string, number>();
  for (const links of [contents.links, contents.returns ?? []])
    for (const { to } of links) if (to !== null) counts.set(to, (counts.get(to) ?? 0) + 1);
  return counts;
});

/** The sign of each mark of a difference, so that none is recognised by its colour alone. */
const SIGNS: Readonly<Record<string, string>> = { added: "+", removed: "−", changed: "~" };

/** The sign of an item in a difference; empty if it is unchanged. */
export function markSign({ marks, changes }: Item): string {
  return changes === undefined ? "" : (marks.map((mark) => SIGNS[mark]).find((sign) => sign !== undefined) ?? "");
}

/** In a difference: the item with the changes of its modules and its text in each graph. */
export function withDifference(index: GraphIndex, item: Item, chain: readonly string[]): Item {
  if (index.graph.marks === undefined) return item;
  const marked = withMarks(index, item, chain);
  const texts = item.members.length > 0 ? undefined : index.graph.texts?.get(item.id);
  if (texts === undefined) return marked;
  const [was, now] = texts.map(([name, detail]) => ({
    name,
    // the words of a change apply to both
    detail: marked.detail === item.detail ? detail : marked.detail,
  }));
  return { ...marked, ...now, ...(was && { former: was }) };
}

/** A container of changes is marked as changed while it is closed. */
function withMarks({ graph }: GraphIndex, item: Item, chain: readonly string[]): Item {
  const found = chain.flatMap((id) => graph.marks?.get(id) ?? []);
  const mark = found.find(({ status }) => status !== "holds") ?? found[0];
  const add = (name: string) => ({ ...item, marks: [...item.marks, name] });
  if (mark === undefined) return item.frame === null ? add("same") : item;
  if (mark.status === "holds") {
    const holds = add("holds");
    return item.frame === null ? { ...holds, marks: [...holds.marks, "changed"], changes: [] } : holds;
  }
  return { ...add(mark.status), detail: mark.words || item.detail, glyph: null, changes: mark.changes };
}

export function marksOf(index: GraphIndex, node: GraphNode): string[] {
  const { error, unseen } = index.graph.status;
  const marks: string[] = [];
  const at = error?.node;
  if (
    at &&
    (at === node.id || (/^(module|bundle|function)$/.test(node.kind) && ancestors(index, at).includes(node.id)))
  )
    marks.push("error");
  if (
    "outputs" in node &&
    Array.isArray(node.outputs) &&
    unseen?.some((tensor) => index.producer.get(tensor) === node.id)
  ) {
    marks.push("unseen");
  }
  if (node.kind === "module" && (node.call ?? 1) > 1) marks.push("again");
  if (index.graph.passWays?.decisions.has(node.id)) marks.push("decision");
  return marks;
}
