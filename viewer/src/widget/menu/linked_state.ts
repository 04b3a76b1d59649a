/** What a link shows → the state that shows it, and the other way round. */
import { ancestors } from "../../graph/graph.js";
import type { SessionState } from "../../session/diagram_data.js";
import type { Session } from "../../session/session.js";
import { nodesOf } from "../../session/steps.js";
import { pathOf, scopeOf } from "../picture/path_scope.js";
import type { LinkedView } from "./link_text.js";

/** A state, and the names of the link that the model doesn't have, each with the nearest that it has. */
export interface Linked {
  state: SessionState;
  at: string | undefined;
  more: LinkedView["more"];
  gone: Map<string, string>;
}

/** The difference of a session's state from what its author shows. */
export function differences(session: Session): Partial<LinkedView> {
  const { state, initial } = session;
  const open = without(state.expanded, initial.expanded).filter((id) => isInSight(session, id));
  const close = without(initial.expanded, state.expanded);
  return {
    open: open.filter((id) => !open.some((other) => isInside(session, other, id))),
    close: close.filter((id) => !close.some((other) => isInside(session, id, other))),
    each: without(state.unrolled, initial.unrolled),
    once: without(initial.unrolled, state.unrolled),
    alone: state.root,
    plumbing: hasPlumbing(state) === hasPlumbing(initial) ? undefined : hasPlumbing(state),
    direction: state.direction === initial.direction ? undefined : state.direction,
  };
}

/** The state that a link shows; what is missing is replaced by what is around it. */
export function linkedState(session: Session, view: LinkedView): Linked {
  const gone = new Map<string, string>();
  const find = (name: string) => found(session, name, gone);
  const start = { ...session.initial, ...turned(view), plumbing: view.plumbing ?? hasPlumbing(session.initial) };
  const root = view.alone === undefined ? undefined : find(view.alone)[0];
  const alone = session.transitions.isolate(root && session.transitions.canIsolate(root) ? root : undefined, start);
  const rolled = unrolled(session, alone, view);
  const closed = { ...rolled, expanded: without(rolled.expanded, view.close.flatMap(find)) };
  const opened = view.open.flatMap(find).reduce((state, id) => withOpen(session, state, id, view.isExact), closed);
  const at = view.at === undefined ? undefined : find(view.at)[0];
  const scope = scopeOf(view.more.path ?? "");
  const pathTo = typeof scope === "string" ? undefined : find(scope.pathTo)[0];
  const ends = view.isExact ? [] : [at, pathTo].filter((id) => id !== undefined);
  const shown = ends.reduce((state, id) => inSight(session, state, id), opened);
  const path = typeof scope === "string" ? scope : pathTo === undefined ? "near" : { pathTo };
  return { state: shown, at, more: { ...view.more, path: pathOf(path) }, gone };
}

function withOpen(session: Session, state: SessionState, id: string, isExact: boolean): SessionState {
  const shown = isExact ? state : inSight(session, state, id);
  return { ...shown, expanded: [...new Set([...shown.expanded, id])].sort() };
}

/** With a node in sight, unless one module is alone that does not hold it. */
function inSight(session: Session, state: SessionState, id: string): SessionState {
  const shown = session.transitions.reveal(id, state);
  return shown.root === state.root ? shown : state;
}

function hasPlumbing({ plumbing }: SessionState): boolean {
  return plumbing === true;
}

function turned({ direction }: LinkedView): Partial<SessionState> {
  return direction === "TB" || direction === "LR" ? { direction } : {};
}

/** Runs of repeats shown one by one that a link shows so, and as one the others. */
function unrolled(session: Session, state: SessionState, { each, once }: LinkedView): SessionState {
  const runs = (names: string[]) => names.flatMap((name) => session.runOf(name) ?? []);
  const all = new Set([...state.unrolled, ...runs(each)]);
  return { ...state, unrolled: without([...all], runs(once)).sort() };
}

function found(session: Session, name: string, gone: Map<string, string>): string[] {
  if (session.grouped.nodes.has(name) || session.visibleGraph(session.initial).nodes.has(name)) return [name];
  const ids = nodesOf(session, name);
  if (ids.length > 0) return ids;
  const nearest = nearestOf(session, name);
  gone.set(name, nearest);
  return nearest === "" ? [] : [nearest];
}

/** What was around a node that is gone; empty for the whole model. */
function nearestOf(session: Session, name: string): string {
  for (
    let rest = name;
    rest !== "";
    rest = rest.slice(0, Math.max(0, ...[...".#/"].map((sign) => rest.lastIndexOf(sign))))
  )
    if (session.grouped.nodes.has(rest)) return rest;
  return "";
}

/** Whether nothing has to be opened to see a node. */
function isInSight(session: Session, id: string): boolean {
  const { state } = session;
  const shown = session.transitions.reveal(id);
  return [shown.expanded, shown.unrolled].flat().every((one) => [state.expanded, state.unrolled].flat().includes(one));
}

function isInside({ grouped }: Session, id: string, around: string): boolean {
  return id !== around && grouped.nodes.has(id) && ancestors(grouped, id).includes(around);
}

function without(some: readonly string[], others: readonly string[]): string[] {
  return some.filter((id) => !others.includes(id));
}
