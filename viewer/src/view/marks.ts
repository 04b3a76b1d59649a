/** Glyphs of ops, and marks for failed nodes and for tensors of unknown origin. */
import { ancestors, type Contents, type GraphIndex, type GraphNode } from "../graph/graph.js";
import { type Glyph, glyph } from "./op_families.js";
import { scalarOperand } from "./op_words.js";

/** The glyph of an op that combines at least two tensors; null for others, such as `x + 1`. */
export function glyphOf(node: GraphNode, contents: Contents): Glyph | null {
  if (node.kind !== "op") return null;
  const sign = glyph(node.name);
  if (sign === undefined) return null;
  const args = node.arguments ?? {};
  const hasNumber = sign !== "cat" && (scalarOperand(args) !== undefined || (args.alpha ?? 1) !== 1);
  const tensors = [...contents.links, ...(contents.returns ?? [])].filter((link) => link.to === node.id).length;
  return hasNumber || tensors < 2 ? null : sign;
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
  return marks;
}
