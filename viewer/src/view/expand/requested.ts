/** What an author's options ask for: directions, modules to open, runs to unroll. */
import { append } from "../../graph/append.js";
import {
  ancestors,
  childrenOf,
  contentsOf,
  type GraphIndex,
  type GraphNode,
  type ModuleNode,
  ROOT,
} from "../../graph/graph.js";
import type { ViewOptions } from "../options.js";
import { matcher, modules } from "../patterns.js";
import { runId, runsIn, shownContents } from "../repeats/contents.js";
import { findRuns, repeat } from "../repeats/repeats.js";
import type { Direction, State } from "../state.js";
import { isOpenable } from "./openable.js";

/** The direction of the root frame; null if the options don't set it. */
export function mainDirection({ direction }: ViewOptions): Direction | null {
  if (direction == null || typeof direction === "string") return direction ?? null;
  return lastFirst(direction).find(([pattern]) => pattern === "*")?.[1] ?? "TB";
}

/** Modules whose direction differs from the root's. */
export function turned(index: GraphIndex, rules: ViewOptions["direction"], main: Direction): Pick<State, "turned"> {
  if (rules == null || typeof rules === "string") return {};
  const tests = lastFirst(rules).map(([pattern, direction]) => ({ matches: matcher([pattern]), direction }));
  const directionOf = (node: ModuleNode) => tests.find(({ matches }) => matches(node))?.direction ?? main;
  const other = modules(index).filter((node) => directionOf(node) !== main);
  return other.length === 0 ? {} : { turned: other.map((node) => node.id).sort() };
}

function lastFirst<T>(rules: readonly T[]): T[] {
  return [...rules].reverse();
}

/** Expandable modules down to a depth: 1 means direct children of the model. */
export function shallow(index: GraphIndex, depth: number): string[] {
  const holdsModules = ({ kind, id }: GraphNode) =>
    kind === "function" && childrenOf(index, id).some((child) => index.nodes.get(child)?.kind === "module");
  return index.graph.nodes
    .filter((node) => node.kind === "module" || holdsModules(node))
    .filter((node) => ancestors(index, node.id).length <= depth && isOpenable(index, node.id))
    .map((node) => node.id);
}

/** Runs to unroll: those with a requested member that isn't expanded like the first. */
export function unrolledFor(index: GraphIndex, requested: ReadonlySet<string>, expanded: string[]): string[] {
  const inside = expandedInside(index, expanded);
  const containers = new Set([...requested].map((id) => index.parent.get(id) ?? ROOT));
  const differs = (first: string, later: string) =>
    requested.has(later) && (inside.get(later) ?? "") !== (inside.get(first) ?? "");
  const unrolled = new Set<string>();
  for (const id of containers) {
    const contents = contentsOf(index, id);
    for (const run of findRuns(index, contents)) {
      const firsts = repeat(contents, run, 0);
      const later = contents.children.slice(run.start + run.period, run.start + run.period * run.times);
      if (later.some((member, i) => differs(firsts[i % run.period] ?? "", member))) unrolled.add(runId(contents, run));
    }
    // a repeat may contain a shorter run
    for (const { id: run, members } of runsIn(shownContents(index, id, unrolled)))
      if (members.some((member) => differs(members[0] ?? "", member))) unrolled.add(run);
  }
  return [...unrolled].sort();
}

/** Module → a key of what is expanded inside it, equal for equal modules expanded in the same way. */
function expandedInside(index: GraphIndex, expanded: string[]): Map<string, string> {
  const orderOf = (id: string) => index.order.get(id) ?? 0;
  const inside = new Map<string, number[]>();
  for (const id of expanded) {
    for (const parent of [id, ...ancestors(index, id)]) append(inside, parent, orderOf(id) - orderOf(parent));
  }
  return new Map([...inside].map(([id, offsets]) => [id, offsets.sort((a, b) => a - b).join()]));
}
