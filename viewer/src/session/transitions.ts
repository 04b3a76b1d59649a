/** From one state to another: expanding and collapsing many modules, making a node visible, isolating a module. */
import { ancestors, contentsOf, type GraphIndex, isGroup, ROOT } from "../graph/graph.js";
import { isExpandable, singleChain } from "../view/boxes.js";
import { runId, runsIn, shownContents } from "../view/repeats/contents.js";
import { findRuns } from "../view/repeats/repeats.js";
import type { SessionState } from "./diagram_data.js";

/** The graphs of a session: as it was traced, and the part of it that a state shows. */
interface Graphs {
  readonly traced: GraphIndex;
  /** As it was traced, with calls of functions as nodes. */
  readonly grouped: GraphIndex;
  visibleGraph(state?: SessionState): GraphIndex;
}

/** Expand a module and every module inside it, down to a depth below it. */
export function expandBelow(
  index: GraphIndex,
  state: SessionState,
  id: string,
  depth = Number.POSITIVE_INFINITY,
): SessionState {
  const level = id === ROOT ? 0 : ancestors(index, id).length;
  const inside = index.graph.nodes.filter((node) => {
    const above = ancestors(index, node.id);
    return node.id === id || (above.includes(id) && above.length <= level + depth);
  });
  return withExpanded(state, [
    ...state.expanded,
    ...inside.filter((node) => isOrHoldsExpandable(index, node.id)).map((node) => node.id),
  ]);
}

/** Collapse a module and every module inside it. */
export function collapseBelow(index: GraphIndex, state: SessionState, id: string): SessionState {
  const isInside = (other: string) => index.nodes.has(other) && ancestors(index, other).includes(id);
  return withExpanded(
    state,
    state.expanded.filter((other) => other !== id && !isInside(other)),
  );
}

/** Expand exactly this many levels, everywhere. */
export function expandTo(index: GraphIndex, state: SessionState, depth: number): SessionState {
  const collapsed = collapseBelow(index, state, ROOT);
  return depth === 0 ? collapsed : expandBelow(index, collapsed, ROOT, depth);
}

/** Expand a module and its siblings. */
export function expandSiblings(index: GraphIndex, state: SessionState, id: string): SessionState {
  const siblings = contentsOf(index, index.parent.get(id) ?? ROOT).children;
  return withExpanded(state, [...state.expanded, ...siblings.filter((sibling) => isOrHoldsExpandable(index, sibling))]);
}

/** Make a node visible: leave another isolated module, expand the modules around it, unroll runs, show plumbing. */
export function withNode(graphs: Graphs, state: SessionState, id: string): SessionState {
  let shown = leaveOtherRoot(graphs, state, id);
  const visible = graphs.visibleGraph(shown);
  if (!visible.nodes.has(id) && !seriesOf(visible, id)) shown = { ...shown, plumbing: true };
  const index = graphs.visibleGraph(shown);
  if (!index.nodes.has(id)) return shown;
  const unrolled = new Set(shown.unrolled);
  const path = [id, ...ancestors(index, id)].reverse();
  path.slice(1).forEach((child, i) => {
    unroll(index, unrolled, path[i] ?? ROOT, child);
  });
  const above = ancestors(index, id).filter((module) => isOrHoldsExpandable(index, module));
  return { ...withExpanded(shown, [...shown.expanded, ...above]), unrolled: [...unrolled].sort() };
}

/** Unroll every run that hides a child of a container behind the run's first member. */
function unroll(index: GraphIndex, unrolled: Set<string>, container: string, child: string): void {
  const contents = contentsOf(index, container);
  const position = contents.children.indexOf(child);
  for (const run of findRuns(index, contents)) {
    const offset = position - run.start;
    if (offset >= run.period && offset < run.period * run.times) unrolled.add(runId(contents, run));
  }
  // a panel around several children may hold a shorter run
  for (const run of runsIn(shownContents(index, container, unrolled)))
    if (run.members.indexOf(child) > 0) unrolled.add(run.id);
}

/** The visible node that a node is, or is inside of. */
export function visibleAncestor(graphs: Graphs, id: string, isVisible: (id: string) => boolean): string | undefined {
  const index = graphs.visibleGraph();
  const series = seriesOf(index, id);
  const path = index.nodes.has(id) ? [id, ...ancestors(index, id)] : [id];
  return [...(series === undefined ? [] : [series]), ...path].find((at) => at !== ROOT && isVisible(at));
}

/** Whether a module or function call can be the whole picture: it holds more than one thing. */
export function canIsolate(graphs: Graphs, id: string): boolean {
  const index = indexWith(graphs, id);
  return index.nodes.has(id) && contentsOf(index, id).children.length > 1; // the whole model is the picture already
}

/** The trace, with calls of functions only where the id is of one. */
function indexWith(graphs: Graphs, id: string): GraphIndex {
  return graphs.traced.nodes.has(id) ? graphs.traced : graphs.grouped;
}

/** A module or function call as the whole picture; a module that only wraps another one gives way to it. */
export function isolate(graphs: Graphs, state: SessionState, id: string | undefined): SessionState {
  if (id === undefined) return { ...state, root: undefined };
  const chain = singleChain(graphs.traced, id);
  return { ...state, root: chain[chain.length - 1] };
}

/** The whole model where what is isolated does not hold the node. */
function leaveOtherRoot(graphs: Graphs, state: SessionState, id: string): SessionState {
  const { root } = state;
  const isInside = (index: GraphIndex, around: string) => index.nodes.has(id) && ancestors(index, id).includes(around);
  if (root === undefined || isInside(indexWith(graphs, root), root)) return state;
  return graphs.visibleGraph(state).nodes.has(id) ? state : { ...state, root: undefined };
}

/** The input or output that represents the series a node belongs to. */
function seriesOf(index: GraphIndex, id: string): string | undefined {
  for (const [series, members] of index.series) if (members.includes(id)) return series;
  return undefined;
}

/** Also true for a module that is shown as one box with the only module inside it, and for groups. */
function isOrHoldsExpandable(index: GraphIndex, id: string): boolean {
  const node = index.nodes.get(id);
  if (node?.kind !== "module") return isGroup(node);
  const chain = singleChain(index, id);
  return isExpandable(index, chain[chain.length - 1] ?? id);
}

/** Sorted, so that equal states are equal text. */
function withExpanded(state: SessionState, expanded: Iterable<string>): SessionState {
  return { ...state, expanded: [...new Set(expanded)].sort() };
}
