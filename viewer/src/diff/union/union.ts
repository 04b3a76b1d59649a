import { renumbered } from "../../graph/cases.js";
import {
  ancestors,
  containersOf,
  type GraphData,
  type GraphIndex,
  type GraphNode,
  type Mark,
  type ModuleNode,
  type Texts,
} from "../../graph/graph.js";
import { index } from "../../graph/indexing.js";
import { singleChain } from "../../view/boxes.js";
import { boxedWords } from "../../view/labels/group_names.js";
import type { Change } from "../changes/facts.js";
import { wordsOf } from "../changes/texts.js";
import { type Comparison, comparisonOf, type Difference } from "../difference.js";
import { insert, isContained, type Next } from "./insert.js";
import { adjacencyOf, formerTensors, GONE, type Union } from "./union_edges.js";

/** Joins two graphs into one with the nodes of both, marked with their changes, for the picture of a difference. */

/** The later graph with the removed nodes of the earlier one in their places. */
export function unionOf(
  earlier: GraphData,
  after: GraphData,
  { difference, pairs }: Comparison,
  details: boolean,
): GraphData {
  const before = renumbered(earlier, after);
  const union: Union = {
    before,
    pairs,
    gone: goneIn(before, pairs, difference.changes),
    nodes: new Map(after.nodes.map((node) => [node.id, node])),
    order: [],
    position: new Map(),
    hierarchy: new Map(Object.entries(after.hierarchy)),
  };
  union.order = withGone(union);
  union.position = new Map(union.order.map((id, i) => [id, i]));
  const marks = marksOf(union, difference.changes, details);
  const nodes = union.order.map((id) => union.nodes.get(id) as GraphNode);
  return {
    ...after,
    // names of one version say nothing of the other
    sizes: null,
    functions: {},
    nodes: nodes.map((node) => plain(node.kind === "module" ? signed(node, union, marks) : node)),
    hierarchy: Object.fromEntries(union.hierarchy),
    adjacency: adjacencyOf(union, after, marks),
    tensors: { ...after.tensors, ...renamed(before.tensors, (spec) => spec) },
    parameters: { ...after.parameters, ...renamed(before.parameters, (spec) => ({ ...spec, tied: [] })) },
    marks: Object.fromEntries(marks),
    formerTensors: formerTensors(union, after),
    texts: textsOf(union, after),
  };
}

function renamed<T>(values: Record<string, T>, of: (value: T) => T): Record<string, T> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [`${GONE}${name}`, of(value)]));
}

/** Without the function of an op: pictures of differences have no boxes for functions. */
function plain(node: GraphNode): GraphNode {
  return "scope" in node ? { ...node, scope: null } : node;
}

// -- what is gone -----------------------------------------------------------------------------------------------------

/** Removed nodes, with their contents unless these are elsewhere now. */
function goneIn(
  before: GraphData,
  pairs: ReadonlyMap<string, string>,
  changes: readonly Change[],
): Map<string, string> {
  const named = new Set(changes.flatMap(({ places }) => places.flatMap(([x, y]) => (y === null ? (x ?? []) : []))));
  const rewritten = rewrittenIn(changes, 0);
  const gone = new Map<string, string>();
  for (const { id, kind } of before.nodes) {
    const parent = before.hierarchy[id] ?? "";
    const isNamed = named.has(id) || gone.has(parent) || (kind === "op" && rewritten.has(parent));
    if (isNamed && !pairs.has(id)) gone.set(id, `${GONE}${id}`);
  }
  return gone;
}

/** Modules with another computation, each with the index of the change: it includes all their ops without counterpart. */
function rewrittenIn(changes: readonly Change[], side: 0 | 1): Map<string, number> {
  const places = changes.flatMap((change, i) =>
    change.id === "rewritten" ? change.places.map((place) => [place[side], i] as const) : [],
  );
  return new Map(places.flatMap(([id, i]) => (id === null ? [] : [[id, i]])));
}

/** The node of the union for a node of the earlier graph. */
export function here({ gone, pairs, nodes }: Union, id: string): string | undefined {
  const found = gone.get(id) ?? pairs.get(id);
  return found === undefined || !nodes.has(found) ? undefined : found;
}

/** Adds removed nodes; returns the order of all nodes. */
function withGone(union: Union): string[] {
  const { before, gone, nodes, hierarchy } = union;
  const ids = [...nodes.keys()];
  const next: Next = new Map(ids.map((id, i) => [ids[i - 1] ?? null, id]));
  const pathHere = gonePaths(union);
  let previous: string | null = null;
  for (const node of before.nodes) {
    const name = gone.get(node.id);
    if (name !== undefined) {
      const parent = parentHere(union, node.id);
      nodes.set(name, goneNode(node, name, pathHere));
      hierarchy.set(name, parent);
      insert(next, hierarchy, name, parent, previous);
    }
    previous = here(union, node.id) ?? previous;
  }
  const order: string[] = [];
  for (let at = next.get(null); at !== undefined; at = next.get(at)) order.push(at);
  return order;
}

function pathOf(node: GraphNode | undefined): string {
  return node?.kind === "module" ? node.path : "";
}

/** The module of the union for the former parent of a node. */
function parentHere(union: Union, id: string): string | null {
  for (let at = union.before.hierarchy[id] ?? null; at !== null; at = union.before.hierarchy[at] ?? null) {
    const found = here(union, at);
    if (found !== undefined && union.nodes.get(found)?.kind === "module") return found;
  }
  return null;
}

/** Paths of removed modules in the union: one for all calls of a module, with a prime if it is taken. */
function gonePaths(union: Union): (node: ModuleNode) => string {
  const { before, nodes } = union;
  const taken = new Set([...nodes.values()].map(pathOf));
  const byId = new Map(before.nodes.map((node) => [node.id, node]));
  const known = new Map<string, string>();
  return ({ id, path }) => {
    const found = known.get(path);
    if (found !== undefined) return found;
    const outer = (of: string) => before.hierarchy[of] ?? null;
    const isOwner = (of: string) => path.startsWith(`${pathOf(byId.get(of))}.`);
    let inner = id;
    for (let at = outer(id); at !== null && !isOwner(at); at = outer(at)) inner = at;
    const owner = pathOf(byId.get(outer(inner) ?? ""));
    const local = owner === "" ? path : path.slice(owner.length + 1);
    const parent = pathOf(nodes.get(parentHere(union, inner) ?? ""));
    let result = parent === "" ? local : `${parent}.${local}`;
    while (taken.has(result)) result += "′";
    taken.add(result);
    known.set(path, result);
    return result;
  };
}

/** A copy without names from the later graph. */
function goneNode(node: GraphNode, id: string, pathHere: (node: ModuleNode) => string): GraphNode {
  const prefixed = (values: Record<string, string> = {}) =>
    Object.fromEntries(Object.entries(values).map(([key, name]) => [key, `${GONE}${name}`]));
  if (node.kind === "op")
    return {
      ...node,
      id,
      outputs: (node.outputs ?? []).map((one) => `${GONE}${one}`),
      weights: prefixed(node.weights),
    };
  if (node.kind === "module") return { ...node, id, path: pathHere(node), inputs: {}, outputs: {} };
  return "outputs" in node && Array.isArray(node.outputs)
    ? ({ ...node, id, outputs: node.outputs.map((one) => `${GONE}${one}`) } as GraphNode)
    : { ...node, id };
}

/** The texts of nodes in both graphs, where they differ. */
function textsOf({ before, pairs, nodes }: Union, after: GraphData): Record<string, Texts> {
  const [then, now] = [index(before), index(after)];
  const textIn = (graph: GraphIndex, id: string) => {
    const { name, detail } = boxedWords(graph, singleChain(graph, id), []);
    return [name, detail] as const;
  };
  const texts = [...pairs].flatMap(([id, here]): [string, Texts][] => {
    if (id === "" || then.nodes.get(id)?.kind !== now.nodes.get(here)?.kind || !nodes.has(here)) return [];
    const [was, is] = [textIn(then, id), textIn(now, here)];
    return was[0] === is[0] && was[1] === is[1] ? [] : [[here, [was, is]]];
  });
  return Object.fromEntries(texts);
}

// -- marks ------------------------------------------------------------------------------------------------------------

function marksOf(union: Union, changes: readonly Change[], details: boolean): Map<string, Mark> {
  const marks = new Map<string, Mark>();
  changes.forEach((change, i) => {
    if (change.level === "detail" && !details) return;
    for (const place of change.places) markPlace(union, marks, change, place, i);
  });
  markRewritten(union, marks, changes);
  spread(union, marks);
  return new Map(union.order.flatMap((id) => (marks.has(id) ? [[id, marks.get(id) as Mark]] : [])));
}

/** The model itself has no box. */
function markPlace(
  { gone }: Union,
  marks: Map<string, Mark>,
  change: Change,
  [x, y]: Change["places"][number],
  i: number,
): void {
  if (y === null) {
    const id = gone.get(x ?? "");
    if (id !== undefined) add(marks, id, "removed", "", i);
  } else if (y !== "") {
    if (x === null) add(marks, y, "added", "", i);
    else add(marks, y, "changed", wordsOf(change), i);
  }
}

function markRewritten(
  { before, gone, pairs, order, nodes, hierarchy }: Union,
  marks: Map<string, Mark>,
  changes: readonly Change[],
): void {
  const known = new Set([...pairs.values(), ...gone.values(), ...marks.keys()]);
  const [then, now] = [rewrittenIn(changes, 0), rewrittenIn(changes, 1)];
  for (const [id, here] of gone) {
    const change = then.get(before.hierarchy[id] ?? "");
    if (change !== undefined && !marks.has(here)) add(marks, here, "removed", "", change);
  }
  for (const id of order) {
    const change = now.get(hierarchy.get(id) ?? "");
    if (change !== undefined && !known.has(id) && nodes.get(id)?.kind === "op") add(marks, id, "added", "", change);
  }
}

function add(marks: Map<string, Mark>, id: string, status: Mark["status"], words: string, change: number): void {
  const known = marks.get(id) ?? { status, words: "", changes: [] };
  const all = [known.words, words].filter((text) => text !== "").join(", ");
  marks.set(id, { ...known, words: all, changes: [...known.changes, change] });
}

/** Extends marks to the contents of added and removed nodes, and to containers of changes. */
function spread({ order, hierarchy, pairs }: Union, marks: Map<string, Mark>): void {
  const known = new Set(pairs.values());
  for (const id of order) {
    const outer = marks.get(hierarchy.get(id) ?? "");
    if (outer === undefined || marks.has(id) || known.has(id)) continue;
    if (outer.status === "added" || outer.status === "removed") marks.set(id, { ...outer, words: "" });
  }
  for (const id of [...marks.keys()]) {
    for (const at of containersOf(hierarchy, id)) {
      if (marks.has(at)) break;
      marks.set(at, { status: "holds", words: "", changes: [] });
    }
  }
}

/** Adds the marks inside to signatures, so that only blocks with equal changes are drawn as one. */
function signed(node: ModuleNode, { order, position, hierarchy }: Union, marks: ReadonlyMap<string, Mark>): ModuleNode {
  if (!node.signature || !marks.has(node.id)) return node;
  const start = position.get(node.id) ?? 0;
  const inside: string[] = [];
  for (
    let i = start;
    i < order.length && (i === start || isContained(hierarchy, order[i] as string, node.id));
    i += 1
  ) {
    const mark = marks.get(order[i] as string);
    if (mark !== undefined) inside.push(`${i - start} ${mark.status} ${mark.words}`);
  }
  return { ...node, signature: `${node.signature}\n${inside.join("\n")}` };
}

// -- places of changes ------------------------------------------------------------------------------------------------

/** The first node that shows a change; undefined for a change of the whole model. */
export function nodeWithChange({ graph }: GraphIndex, change: number): string | undefined {
  for (const [id, { changes }] of graph.marks ?? []) if (changes.includes(change)) return id;
  return undefined;
}

/** The status of a node; undefined if it didn't change. */
export function statusOf({ graph }: GraphIndex, id: string): Mark["status"] | undefined {
  return graph.marks?.get(id)?.status;
}

/** The changes of a node or, if it has none, of its contents. */
export function changesInside(index: GraphIndex, id: string): number[] {
  const own = index.graph.marks?.get(id);
  if (own === undefined || own.changes.length > 0) return own?.changes ?? [];
  const inside = [...(index.graph.marks ?? [])].filter(([other]) => ancestors(index, other).includes(id));
  return [...new Set(inside.flatMap(([, { changes }]) => changes))].sort((a, b) => a - b);
}

/** What changed between two graphs, and the graph for the picture. */

export interface Compared {
  difference: Difference;
  /** Both graphs in one, with marks. */
  graph: GraphData;
}

/** Compare two graphs, each as JSON text; `details` also marks changes that have no effect on results. */
export function comparedGraphs(before: string, after: string, details: boolean): Compared {
  const found = comparisonOf(before, after);
  return { difference: found.difference, graph: unionOf(JSON.parse(before), JSON.parse(after), found, details) };
}
