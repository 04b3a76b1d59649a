/** The cases of a graph: several passes in one. What each node and tensor is in them, and the graph of one case alone. */
import type { Case } from "../../generated/format.js";
import { memoByObject, memoInObject } from "../shared/memo.js";
import { contentsOf, type Edge, type Graph, type GraphData, type GraphIndex, ROOT, type TensorSpec } from "./graph.js";

/** A case that readers can choose: it ran to its end, and no answer was forced. */
export interface ShownCase {
  /** In `Graph.cases`. */
  position: number;
  /** Its sign in pictures. */
  letter: string;
  name: string;
}

/** Positions in `Graph.cases`, in order; absent for all of them. */
export type Positions = readonly number[] | undefined;

const ofCases = memoByObject((cases: readonly Case[]): ShownCase[] =>
  cases
    .flatMap(({ name, forced, status }, position) =>
      forced || status.state !== "complete" ? [] : [{ position, name }],
    )
    .map((one, i) => ({ ...one, letter: String.fromCharCode("a".charCodeAt(0) + i) })),
);

/** The cases that readers can choose; empty for a graph of one pass. */
export function shownCases({ cases = [] }: Pick<GraphData, "cases">): readonly ShownCase[] {
  return cases.length === 0 ? [] : ofCases(cases);
}

export function hasCases({ cases = [] }: Pick<GraphData, "cases">): boolean {
  return cases.length > 0;
}

/** The shown cases among positions. */
function shownOf(graph: Graph, positions: Positions): readonly number[] {
  const shown = shownCases(graph).map(({ position }) => position);
  return positions === undefined || positions.length === 0 ? shown : shown.filter((one) => positions.includes(one));
}

/** The shown cases in which a node runs: none if only forced passes ran it. Bundles and groups run when a part does. */
export const casesIn = memoInObject((index: GraphIndex, id: string): readonly number[] => {
  const node = index.nodes.get(id);
  const isTold = node !== undefined && node.kind !== "bundle" && !(node.kind === "function" && node.group);
  if (isTold) return shownOf(index.graph, node.cases);
  const isEnd = (child: string) => /^(input|output)$/.test(index.nodes.get(child)?.kind ?? "");
  const parts = contentsOf(index, id).children.filter((child) => id !== ROOT || !isEnd(child));
  return parts.length === 0 ? shownOf(index.graph, undefined) : eitherOf(parts.map((part) => casesIn(index, part)));
});

/** The shown cases of each part of a container that not all its cases run, every set once. */
export const partCasesIn = memoInObject((index: GraphIndex, id: string): readonly (readonly number[])[] => {
  const { children, links } = contentsOf(index, id);
  const within = links.filter(({ from, to }) => from !== null && to !== null);
  const own = [
    ...children.map((child) => casesIn(index, child)),
    ...within.map((link) => casesOfEdge(index.graph, link)),
  ];
  const all = casesIn(index, id);
  const some = own.filter((cases) => cases.length > 0 && all.some((one) => !cases.includes(one)));
  return eachOnce([...some, ...children.flatMap((child) => partCasesIn(index, child))]);
});

export function eachOnce(sets: readonly (readonly number[])[]): readonly (readonly number[])[] {
  return [...new Map(sets.map((cases) => [cases.join(), cases])).values()];
}

/** The shown cases of an edge. */
export function casesOfEdge(graph: Graph, { cases }: { cases?: Positions }): readonly number[] {
  return shownOf(graph, cases);
}

export function eitherOf(sets: readonly (readonly number[])[]): readonly number[] {
  return [...new Set(sets.flat())].sort((a, b) => a - b);
}

/** The letters of shown cases: `a`, `a b`. */
export function lettersOf(graph: Graph, positions: readonly number[]): string {
  return shownCases(graph)
    .flatMap(({ position, letter }) => (positions.includes(position) ? [letter] : []))
    .join(" ");
}

/** What is in any of two sets of cases, for links that merge. */
export function joinCases(one: Positions, other: Positions): Positions {
  return one === undefined || other === undefined ? undefined : eitherOf([one, other]);
}

/** What is in both; null if there is none. */
export function meetCases(one: Positions, other: Positions): Positions | null {
  if (one === undefined || other === undefined) return one ?? other;
  const both = one.filter((position) => other.includes(position));
  return both.length === 0 ? null : both;
}

/** Positions of an edge or a node as stored, where none means all. */
export function positionsOf({ cases = [] }: Pick<Edge, "cases">): Positions {
  return cases.length === 0 ? undefined : cases;
}

/** Tensors with what they are in each shown case, where cases differ. */
export function withVariants(graph: Pick<GraphData, "cases" | "nodes">, tensors: Map<string, TensorSpec>): void {
  const shown = shownCases(graph);
  if (shown.length < 2) return;
  const varying = new Set(shown.flatMap(({ position }) => Object.keys(graph.cases?.[position]?.tensors ?? {})));
  const makers = new Map<string, Positions>();
  for (const node of graph.nodes) {
    if (!("outputs" in node) || !Array.isArray(node.outputs)) continue;
    for (const tensor of node.outputs) makers.set(tensor, positionsOf(node));
  }
  for (const tensor of varying) {
    const spec = tensors.get(tensor);
    if (spec === undefined) continue;
    const within = makers.get(tensor);
    const inCase = ({ position }: ShownCase) =>
      within === undefined || within.includes(position) ? (graph.cases?.[position]?.tensors?.[tensor] ?? spec) : null;
    tensors.set(tensor, { ...spec, variants: shown.map(inCase) });
  }
}

/** An earlier graph with the positions that its cases have in a later one; what only missing cases ran is in all. */
export function renumbered(before: GraphData, after: Pick<GraphData, "cases">): GraphData {
  if (!hasCases(before)) return before;
  const names = (after.cases ?? []).map(({ name }) => name);
  const found = (before.cases ?? []).map(({ name }) => names.indexOf(name));
  const moved = <T extends { cases?: number[] }>(part: T): T => {
    const cases = (part.cases ?? []).flatMap((position) => ((found[position] ?? -1) < 0 ? [] : [found[position] ?? 0]));
    return { ...part, cases: cases.sort((a, b) => a - b) };
  };
  const adjacency = Object.entries(before.adjacency).map(([from, edges]) => [from, edges.map(moved)]);
  return { ...before, nodes: before.nodes.map(moved), adjacency: Object.fromEntries(adjacency) };
}
