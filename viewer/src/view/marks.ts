/** Glyphs of ops, and marks for failed nodes and for tensors of unknown origin. */
import { ancestors, type Contents, type GraphIndex, type GraphNode, type OnlyIn } from "../graph/graph.js";
import type { Item, Wire } from "./frame.js";
import type { Words } from "./labels.js";
import { type Glyph, glyph } from "./op_families.js";
import { scalarOperand } from "./op_words.js";

/** The glyph of an op that combines at least two tensors; null for others, such as `x + 1`. */
export function glyphOf(node: GraphNode, contents: Contents): Glyph | null {
  if (node.kind !== "op") return null;
  const sign = glyph(node.name);
  if (sign === undefined) return null;
  const args = node.arguments ?? {};
  const hasNumber = sign !== "cat" && (scalarOperand(args) !== undefined || (args.alpha ?? 1) !== 1);
  return hasNumber || (takenIn(contents).get(node.id) ?? 0) < 2 ? null : sign;
}

/** Contents → child → the number of tensors it takes; contents never change. */
const taken = new WeakMap<Contents, Map<string, number>>();

function takenIn(contents: Contents): Map<string, number> {
  let counts = taken.get(contents);
  if (counts === undefined) {
    counts = new Map();
    for (const { to } of [...contents.links, ...(contents.returns ?? [])])
      if (to !== null) counts.set(to, (counts.get(to) ?? 0) + 1);
    taken.set(contents, counts);
  }
  return counts;
}

/** The sign of each mark of a difference, so that none is told by its look alone. */
const SIGNS: Readonly<Record<string, string>> = { added: "+", removed: "−", changed: "~" };

/** The sign of an item in a difference; empty for what is as before. */
export function signOf({ marks, changes }: Item): string {
  return changes === undefined ? "" : (marks.map((mark) => SIGNS[mark]).find((sign) => sign !== undefined) ?? "");
}

/** The item with what changed in its modules, as far as a difference is shown, and with its text in the earlier graph. */
export function withDifference(
  index: GraphIndex,
  item: Item,
  chain: readonly string[],
  wordsIn: (index: GraphIndex) => Words,
): Item {
  const { marks, formerNodes } = index.graph;
  if (marks === undefined) return item;
  const marked = withMarks(index, item, chain);
  if (!chain.some((id) => formerNodes?.has(id) || marks.get(id)?.status === "holds")) return marked;
  const [was, now] = [wordsIn(sideOf(index, "before")), wordsIn(sideOf(index, "after"))];
  // words of a change hold for both
  const isOwn = marked.detail === wordsIn(index).detail;
  const former = { name: was.name, detail: isOwn ? was.detail : marked.detail };
  const later = { ...marked, name: now.name, detail: isOwn ? now.detail : marked.detail };
  return former.name === later.name && former.detail === later.detail ? later : { ...later, former };
}

const sides = new WeakMap<GraphIndex, Map<OnlyIn, GraphIndex>>();

/** One of the two graphs, as far as words need it: its nodes, and what is inside of each. */
function sideOf(index: GraphIndex, side: OnlyIn): GraphIndex {
  const known = sides.get(index) ?? new Map<OnlyIn, GraphIndex>();
  sides.set(index, known);
  const found = known.get(side) ?? onSide(index, side);
  known.set(side, found);
  return found;
}

function onSide(index: GraphIndex, side: OnlyIn): GraphIndex {
  const { marks, formerNodes } = index.graph;
  const other = side === "before" ? "added" : "removed";
  const isHere = (id: string) => marks?.get(id)?.status !== other;
  const nodeOf = (id: string, node: GraphNode) => (side === "before" ? (formerNodes?.get(id) ?? node) : node);
  return {
    ...index,
    nodes: new Map([...index.nodes].map(([id, node]) => [id, nodeOf(id, node)])),
    contents: new Map(
      [...index.contents].map(([id, inside]) => [id, { ...inside, children: inside.children.filter(isHere) }]),
    ),
  };
}

/** What holds changes shows so while it is closed. */
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

/** A tensor that only the earlier of two graphs reads has the label that it had there. */
export function withFormerLabels(wires: Wire[]): Wire[] {
  const keyOf = (wire: Wire) => `${wire.from} ${wire.source}`;
  const kept = new Set(wires.flatMap((wire) => (wire.only === "before" ? [] : [keyOf(wire)])));
  return wires.map(({ former, ...wire }) => {
    if (former === undefined) return wire;
    return kept.has(keyOf(wire)) ? { ...wire, former } : { ...wire, label: former };
  });
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
