/** The edges of the union of two graphs, and which graphs have each. */
import { append } from "../../graph/append.js";
import type { Edge, GraphData, GraphNode, Mark, TensorSpec } from "../../graph/graph.js";
import { replacedOps } from "../changes/replaced.js";

/** Prefix of the ids, names and tensors of removed nodes, which no trace has. */
export const GONE = "−";

/** Two graphs as one. */
export interface Union {
  before: GraphData;
  pairs: ReadonlyMap<string, string>;
  /** Removed node of the earlier graph → its id in the union. */
  gone: Map<string, string>;
  /** Nodes of the union, those of the later graph first. */
  nodes: Map<string, GraphNode>;
  /** Id of each node of the union → its position. */
  order: string[];
  position: Map<string, number>;
  hierarchy: Map<string, string | null>;
}

/** An edge, with its ends as nodes of the union. */
interface Ended {
  from: string;
  source: GraphNode;
  edge: Edge;
}

/** The edges of the later graph, and those of the earlier graph alone unless they would run backwards. */
export function adjacencyOf(union: Union, after: GraphData, marks: ReadonlyMap<string, Mark>): Record<string, Edge[]> {
  const paired = new Set(union.pairs.values());
  const isAdded = (id: string) => marks.get(id)?.status === "added" && !paired.has(id);
  const isHere = (id: string) => paired.has(id) || isAdded(id);
  const replaced = replacedOps([union.before, after], union.pairs, [(id) => here(union, id) !== undefined, isHere]);
  const nameNow = (id: string) => (isHere(id) ? id : replaced.after.get(id));
  const now = edgesBetween(after, nameNow);
  const then = edgesBetween(union.before, (id) => here(union, id) ?? replaced.before.get(id));
  const [keysNow, keysThen] = [new Set(now.map(keyOf)), new Set(then.map(keyOf))];
  const pathsOf = pathsIn(after, nameNow);
  const isNew = (source: string, edge: Edge) => {
    const keys = pathsOf(source, edge);
    return isAdded(source) || isAdded(edge.to) || (keys.length > 0 && keys.every((key) => !keysThen.has(key)));
  };
  const found = new Map(
    Object.entries(after.adjacency).map(([from, edges]) => [
      from,
      edges.map((edge): Edge => (isNew(from, edge) ? { ...edge, only: "after" } : edge)),
    ]),
  );
  const read = new Set(Object.values(after.adjacency).flatMap((edges) => edges.map(({ tensor }) => tensor)));
  const opsIn = new Map<string, string[]>();
  for (const [op, module] of replaced.after) append(opsIn, module, op);
  for (const one of then) {
    if (keysNow.has(keyOf(one)) || one.from === one.edge.to) continue;
    const ended = withOps(one, opsIn);
    const edge = edgeHere(union, ended, read);
    if (edge !== undefined) append(found, ended.from, edge);
  }
  return Object.fromEntries(found);
}

/** The earlier specs of tensors in both graphs, where they differ. */
export function formerTensors({ before, pairs, nodes }: Union, after: GraphData): Record<string, TensorSpec> {
  const [then, now] = [new Map(Object.entries(before.tensors)), new Map(Object.entries(after.tensors))];
  const found = before.nodes.flatMap((node) => {
    const here = outputsOf(nodes.get(pairs.get(node.id) ?? ""));
    return outputsOf(node).flatMap((tensor, i): [string, TensorSpec][] => {
      const [was, is] = [then.get(tensor), now.get(here[i] ?? "")];
      return was === undefined || is === undefined || look(was) === look(is) ? [] : [[here[i] ?? "", was]];
    });
  });
  return Object.fromEntries(found);
}

function look({ shape, dtype }: TensorSpec): string {
  return JSON.stringify([shape, dtype]);
}

function keyOf({ from, source, edge }: Ended): string {
  return `${startOf(from, source, edge)}${edge.to}`;
}

/** A node and the index of its output. */
function startOf(from: string, source: GraphNode | undefined, { tensor }: Edge): string {
  return `${from}\n${outputsOf(source).indexOf(tensor)}\n`;
}

/** Finds the keys of all paths between nodes of the union that contain an edge. */
function pathsIn(
  { nodes, adjacency }: GraphData,
  nameOf: (id: string) => string | undefined,
): (source: string, edge: Edge) => string[] {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const edgesOf = new Map(Object.entries(adjacency));
  /** For nodes that the union lacks: where paths through them start and end. */
  const starts = new Map<string, Set<string>>();
  const ends = new Map<string, Set<string>>();
  const startsOf = (id: string, edge: Edge): Iterable<string> => {
    const name = nameOf(id);
    return name === undefined ? (starts.get(id) ?? []) : [startOf(name, byId.get(id), edge)];
  };
  const endsOf = (id: string): Iterable<string> => {
    const name = nameOf(id);
    return name === undefined ? (ends.get(id) ?? []) : [name];
  };
  for (const { id } of nodes) {
    for (const edge of edgesOf.get(id) ?? []) {
      if (nameOf(edge.to) !== undefined) continue;
      const known = starts.get(edge.to) ?? new Set();
      starts.set(edge.to, known);
      for (const start of startsOf(id, edge)) known.add(start);
    }
  }
  for (const { id } of [...nodes].reverse()) {
    if (nameOf(id) === undefined) ends.set(id, new Set((edgesOf.get(id) ?? []).flatMap(({ to }) => [...endsOf(to)])));
  }
  return (source, edge) =>
    [...startsOf(source, edge)].flatMap((start) =>
      [...endsOf(edge.to)].flatMap((end) => (start.startsWith(`${end}\n`) ? [] : [start + end])),
    );
}

/** The node of the union for a node of the earlier graph; modules pass tensors on and have no edges. */
function here({ gone, pairs, nodes }: Union, id: string): string | undefined {
  const found = gone.get(id) ?? pairs.get(id);
  const node = nodes.get(found ?? "");
  return node === undefined || node.kind === "module" ? undefined : found;
}

/** The edges between nodes of the union. Nodes that it lacks, such as a reshape that is elsewhere now, are bridged. */
function edgesBetween(graph: GraphData, nameOf: (id: string) => string | undefined): Ended[] {
  const edgesOf = new Map(Object.entries(graph.adjacency));
  return graph.nodes.flatMap((source) => {
    const from = nameOf(source.id);
    if (from === undefined) return [];
    const found: Ended[] = [];
    const seen = new Set<string>();
    const waiting = (edgesOf.get(source.id) ?? []).map((edge) => ({ edge, first: edge }));
    for (let at = waiting.shift(); at !== undefined; at = waiting.shift()) {
      const { edge, first } = at;
      const to = nameOf(edge.to);
      if (to !== undefined) found.push({ from, source, edge: { ...edge, to, tensor: first.tensor } });
      else if (!seen.has(edge.to)) {
        seen.add(edge.to);
        waiting.push(...(edgesOf.get(edge.to) ?? []).map((next) => ({ edge: next, first })));
      }
    }
    return found;
  });
}

/** Adds the first and last ops of modules without any paired node inside. */
function withOps({ from, source, edge }: Ended, opsIn: ReadonlyMap<string, string[]>): Ended {
  const [first] = opsIn.get(edge.to) ?? [];
  return { from: opsIn.get(from)?.at(-1) ?? from, source, edge: { ...edge, to: first ?? edge.to } };
}

/**
 * An edge of the earlier graph, with the tensor of its source in the union or, if nothing reads that any more, with its own
 * tensor; undefined if it would run backwards.
 */
function edgeHere(
  { nodes, position }: Union,
  { from, source, edge }: Ended,
  read: ReadonlySet<string>,
): Edge | undefined {
  const tensor = outputsOf(nodes.get(from))[outputsOf(source).indexOf(edge.tensor)];
  const isForward = (position.get(from) ?? 0) < (position.get(edge.to) ?? 0);
  if (tensor === undefined || !isForward) return undefined;
  const isOwn = !read.has(tensor) && !tensor.startsWith(GONE);
  return { ...edge, tensor: isOwn ? `${GONE}${edge.tensor}` : tensor, only: "before" };
}

function outputsOf(node: GraphNode | undefined): string[] {
  return node !== undefined && "outputs" in node && Array.isArray(node.outputs) ? node.outputs : [];
}
