/** From one state to another: opening and closing many modules, bringing a node to light, one module alone. */
import { ancestors, contentsOf, type GraphIndex, ROOT } from "../graph.js";
import { findRuns } from "../roll.js";
import { runId, runsIn, surface } from "../surface.js";
import { isExpandable, singleChain } from "../view.js";
import type { Session, Shown } from "./session.js";

/** Open a module and every module inside it, down to a depth below it. */
export function expandBelow(index: GraphIndex, state: Shown, id: string, depth = Number.POSITIVE_INFINITY): Shown {
  const level = id === ROOT ? 0 : ancestors(index, id).length;
  const inside = index.graph.nodes.filter((node) => {
    const above = ancestors(index, node.id);
    return node.id === id || (above.includes(id) && above.length <= level + depth);
  });
  return withExpanded(state, [
    ...state.expanded,
    ...inside.filter((node) => opens(index, node.id)).map(({ id }) => id),
  ]);
}

/** Close every module inside one, and the module itself. */
export function collapseBelow(index: GraphIndex, state: Shown, id: string): Shown {
  return withExpanded(
    state,
    state.expanded.filter((other) => other !== id && !(index.nodes.has(other) && ancestors(index, other).includes(id))),
  );
}

/** Exactly so many levels open, everywhere. */
export function expandTo(index: GraphIndex, state: Shown, depth: number): Shown {
  return depth === 0
    ? collapseBelow(index, state, ROOT)
    : expandBelow(index, collapseBelow(index, state, ROOT), ROOT, depth);
}

/** Open the modules beside one, and itself. */
export function expandSiblings(index: GraphIndex, state: Shown, id: string): Shown {
  const siblings = contentsOf(index, index.holder.get(id) ?? ROOT).children;
  return withExpanded(state, [...state.expanded, ...siblings.filter((sibling) => opens(index, sibling))]);
}

/** A node made visible, with everything around it: modules opened, runs unrolled, plumbing shown. */
export function withNode(session: Session, state: Shown, id: string): Shown {
  let shown = inPicture(session, state, id);
  if (!session.shown(shown).nodes.has(id) && !standsInSeries(session.shown(shown), id))
    shown = { ...shown, plumbing: true };
  const index = session.shown(shown);
  if (!index.nodes.has(id)) return shown;
  const unrolled = new Set(shown.unrolled);
  const path = [id, ...ancestors(index, id)].reverse();
  path.slice(1).forEach((child, i) => {
    unroll(index, unrolled, path[i] ?? ROOT, child);
  });
  const above = ancestors(index, id).filter((holder) => opens(index, holder));
  return { ...withExpanded(shown, [...shown.expanded, ...above]), unrolled: [...unrolled].sort() };
}

/** Unroll what hides a child of a container behind the first of its kind. */
function unroll(index: GraphIndex, unrolled: Set<string>, container: string, child: string): void {
  const contents = contentsOf(index, container);
  const place = contents.children.indexOf(child);
  for (const run of findRuns(index, contents)) {
    const offset = place - run.start;
    if (offset >= run.period && offset < run.period * run.times) unrolled.add(runId(contents, run));
  }
  // a panel around several children may hold a shorter run
  for (const run of runsIn(surface(index, container, unrolled)))
    if (run.members.indexOf(child) > 0) unrolled.add(run.id);
}

/** The node on screen that a node is, or is inside of. */
export function shownAs(session: Session, id: string, isShown: (id: string) => boolean): string | undefined {
  const index = session.shown();
  const member = standsInSeries(index, id);
  const way = index.nodes.has(id) ? [id, ...ancestors(index, id)] : [id];
  return [...(member === undefined ? [] : [member]), ...way].find((at) => at !== ROOT && isShown(at));
}

/** Whether a module can be a picture of its own: there is something in it. */
export function standsAlone({ traced }: Session, id: string): boolean {
  return traced.nodes.get(id)?.kind === "module" && contentsOf(traced, id).children.length > 1;
}

/** One module alone. What holds a single module is that module. */
export function alone(session: Session, state: Shown, id: string | undefined): Shown {
  if (id === undefined) return { ...state, root: undefined };
  const chain = singleChain(session.traced, id);
  return { ...state, root: chain[chain.length - 1] };
}

/** The whole model where one module alone would not show the node. */
function inPicture(session: Session, state: Shown, id: string): Shown {
  const { root } = state;
  const inside = root === undefined || (session.traced.nodes.has(id) && ancestors(session.traced, id).includes(root));
  return inside || session.shown(state).nodes.has(id) ? state : { ...state, root: undefined };
}

/** The input or output that stands for a node and others of its kind. */
function standsInSeries(index: GraphIndex, id: string): string | undefined {
  for (const [stand, members] of index.series) if (members.includes(id)) return stand;
  return undefined;
}

/** Also true for what shows as one box with the only module inside it: whichever of them is on screen is opened. */
function opens(index: GraphIndex, id: string): boolean {
  if (index.nodes.get(id)?.kind !== "module") return false;
  const chain = singleChain(index, id);
  return isExpandable(index, chain[chain.length - 1] ?? id);
}

/** Sorted, so that equal states are equal text. */
function withExpanded(state: Shown, expanded: Iterable<string>): Shown {
  return { ...state, expanded: [...new Set(expanded)].sort() };
}
