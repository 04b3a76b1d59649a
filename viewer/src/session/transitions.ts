/** From one state to another: expanding and collapsing many modules, making a node visible, isolating a module. */
import { ancestors, contentsOf, type GraphIndex, isGroup, ROOT } from "../graph/graph.js";
import { isExpandable, singleChain } from "../view/boxes.js";
import { toggle, toggleRun } from "../view/expand/toggle.js";
import { runId, runsIn, shownContents } from "../view/repeats/contents.js";
import { findRuns } from "../view/repeats/repeats.js";
import type { SessionState } from "./diagram_data.js";

/** What a session shows, and the graphs that it has. */
interface Graphs {
  readonly state: SessionState;
  readonly traced: GraphIndex;
  /** The trace with calls of functions as nodes. */
  readonly grouped: GraphIndex;
  visibleGraph(state?: SessionState): GraphIndex;
}

/** Makes other states of a session's, and leaves that as it is. */
export class Transitions {
  constructor(readonly session: Graphs) {}

  /** Expand or collapse a module. */
  toggle(id: string): SessionState {
    return toggle(this.session.visibleGraph(), this.session.state, id);
  }

  /** Show the repeats of a run one by one, or as one. */
  toggleRun(run: string): SessionState {
    return toggleRun(this.session.visibleGraph(), this.session.state, run);
  }

  /** Expand a module and every module inside it, down to a depth below it. */
  expandBelow(id: string, depth = Number.POSITIVE_INFINITY, state = this.session.state): SessionState {
    const index = this.session.visibleGraph();
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
  collapseBelow(id: string): SessionState {
    const { state } = this.session;
    const index = this.session.visibleGraph();
    const isInside = (other: string) => index.nodes.has(other) && ancestors(index, other).includes(id);
    return withExpanded(
      state,
      state.expanded.filter((other) => other !== id && !isInside(other)),
    );
  }

  /** Expand exactly this many levels, everywhere. */
  expandTo(depth: number): SessionState {
    const collapsed = this.collapseBelow(ROOT);
    return depth === 0 ? collapsed : this.expandBelow(ROOT, depth, collapsed);
  }

  /** Expand a module and its siblings. */
  expandSiblings(id: string): SessionState {
    const { state } = this.session;
    const index = this.session.visibleGraph();
    const siblings = contentsOf(index, index.parent.get(id) ?? ROOT).children;
    return withExpanded(state, [
      ...state.expanded,
      ...siblings.filter((sibling) => isOrHoldsExpandable(index, sibling)),
    ]);
  }

  /** Make a node visible: leave another isolated module, expand the modules around it, unroll runs, show plumbing. */
  reveal(id: string, state = this.session.state): SessionState {
    let shown = this.#withoutOtherRoot(state, id);
    const visible = this.session.visibleGraph(shown);
    if (!visible.nodes.has(id) && !seriesOf(visible, id)) shown = { ...shown, plumbing: true };
    const index = this.session.visibleGraph(shown);
    if (!index.nodes.has(id)) return shown;
    const unrolled = new Set(shown.unrolled);
    const path = [id, ...ancestors(index, id)].reverse();
    path.slice(1).forEach((child, i) => {
      unroll(index, unrolled, path[i] ?? ROOT, child);
    });
    const above = ancestors(index, id).filter((module) => isOrHoldsExpandable(index, module));
    return { ...withExpanded(shown, [...shown.expanded, ...above]), unrolled: [...unrolled].sort() };
  }

  /** Show one module or function call as the whole picture, or the module that it only wraps; without an id, the model. */
  isolate(id: string | undefined, state = this.session.state): SessionState {
    return { ...state, root: id === undefined ? undefined : singleChain(this.session.traced, id).at(-1) };
  }

  /** Whether a module or function call can be the whole picture: it holds more than one thing. */
  canIsolate(id: string): boolean {
    const index = this.#indexWith(id);
    return index.nodes.has(id) && contentsOf(index, id).children.length > 1; // the whole model is the picture already
  }

  /** The visible node that a node is, or is inside of. */
  visibleAncestor(id: string, isVisible: (id: string) => boolean): string | undefined {
    const index = this.session.visibleGraph();
    const path = index.nodes.has(id) ? [id, ...ancestors(index, id)] : [id];
    return [seriesOf(index, id) ?? ROOT, ...path].find((at) => at !== ROOT && isVisible(at));
  }

  /** The trace, with calls of functions only where the id is of one. */
  #indexWith(id: string): GraphIndex {
    return this.session.traced.nodes.has(id) ? this.session.traced : this.session.grouped;
  }

  /** The whole model where what is isolated does not hold the node. */
  #withoutOtherRoot(state: SessionState, id: string): SessionState {
    const { root } = state;
    const isInside = (index: GraphIndex, around: string) =>
      index.nodes.has(id) && ancestors(index, id).includes(around);
    if (root === undefined || isInside(this.#indexWith(root), root)) return state;
    return this.session.visibleGraph(state).nodes.has(id) ? state : { ...state, root: undefined };
  }
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
