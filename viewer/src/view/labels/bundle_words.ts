/** The text on bundles: `… 214 ops` and `mul ×80, add ×60, sin, …`. */
import type { GraphIndex, GraphNode } from "../../graph/graph.js";
import { shortName } from "../../graph/names.js";
import { isPlain, kindsIn } from "./container_words.js";

const KINDS: readonly (readonly [kind: RegExp, one: string, several: string])[] = [
  [/input/, "input", "inputs"],
  [/output/, "output", "outputs"],
  [/module/, "module", "modules"],
  [/function/, "function", "functions"],
  [/op/, "op", "ops"],
  [/parameter|buffer/, "weight", "weights"],
  [/constant/, "constant", "constants"],
];
/** Most names, and most characters of all. */
const MAX_NAMES = 4;
const MAX_LENGTH = 40;

export function bundleWords(index: GraphIndex, ids: string[]): { name: string; content: string } {
  const nodes = ids.map((id) => index.nodes.get(id)).filter((node) => node !== undefined);
  const parts = KINDS.flatMap(([kind, one, several]) => {
    const count = nodes.filter((node) => kind.test(node.kind)).length;
    return count === 0 ? [] : [`${count} ${count === 1 ? one : several}`];
  });
  return { name: `… ${parts.join(", ")}`, content: contentOf(index, nodes) };
}

/** The most frequent classes and functions, or names of inputs and outputs. */
function contentOf(index: GraphIndex, nodes: GraphNode[]): string {
  const counts = new Map<string, number>();
  for (const node of nodes) {
    for (const [name, count] of namesOf(index, node)) counts.set(name, (counts.get(name) ?? 0) + count);
  }
  const named = [...counts].sort(([, a], [, b]) => b - a);
  const shown: string[] = [];
  for (const [name, count] of named.slice(0, MAX_NAMES)) {
    const text = count > 1 ? `${name} ×${count}` : name;
    if (shown.length > 0 && [...shown, text].join(", ").length > MAX_LENGTH) break;
    shown.push(text);
  }
  return [...shown, ...(shown.length < named.length ? ["…"] : [])].join(", ");
}

/** What a node is called, and how many of these it holds: plain containers say what is in them. */
function namesOf(index: GraphIndex, node: GraphNode): (readonly [name: string, count: number])[] {
  if (node.kind === "module") {
    const inside = isPlain(node) ? [...kindsIn(index, node).values()] : [];
    return inside.length > 0 ? inside.map(({ name, count }) => [name, count]) : [[shortName(node.class), 1]];
  }
  if (node.kind === "op") return [[shortName(node.name), 1]];
  return node.kind === "input" || node.kind === "output" || node.kind === "function" ? [[node.name, 1]] : [];
}
