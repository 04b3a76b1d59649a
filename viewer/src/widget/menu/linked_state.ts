/** Turns the view of a link into a state, and the reverse. */
import { ancestors } from "../../graph/graph.js";
import type { SessionState } from "../../session/diagram_data.js";
import type { Session } from "../../session/session.js";
import { nodesOf } from "../../session/steps.js";
import { scopeOf, scopeText } from "../picture/path_scope.js";
import type { LinkedView } from "./link_text.js";

/** A state, and the names of the link that the model lacks, each with the nearest existing one. */
interface Linked {
  state: SessionState;
  at: string | undefined;
  more: LinkedView["more"];
  gone: Map<string, string>;
}

/** How the state of a session differs from the author's choice. */
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
    plumbing: changed(session, "plumbing"),
    numbers: changed(session, "numbers"),
    direction: state.direction === initial.direction ? undefined : state.direction,
  };
}

/** The state of a link; missing nodes are replaced by the nodes around them. */
export function linkedState(session: Session, view: LinkedView): Linked {
  const gone = new Map<string, string>();
  const find = (name: string) => found(session, name, gone);
  const isOn = (choice: Switch) => view[choice] ?? session.initial[choice] === true;
  const switches = { plumbing: isOn("plumbing"), numbers: isOn("numbers") };
  const start = { ...session.initial, ...turned(view), ...switches };
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
  return { state: shown, at, more: { ...view.more, path: scopeText(path) }, gone };
}

function withOpen(session: Session, state: SessionState, id: string, isExact: boolean): SessionState {
  const shown = isExact ? state : inSight(session, state, id);
  return { ...shown, expanded: [...new Set([...shown.expanded, id])].sort() };
}

/** Makes a node visible, unless a module without it is isolated. */
function inSight(session: Session, state: SessionState, id: string): SessionState {
  const shown = session.transitions.reveal(id, state);
  return shown.root === state.root ? shown : state;
}

type Switch = "plumbing" | "numbers";

/** A switch, if it isn't as at the start. */
function changed({ state, initial }: Session, choice: Switch): boolean | undefined {
  const [isOn, wasOn] = [state[choice] === true, initial[choice] === true];
  return isOn === wasOn ? undefined : isOn;
}

function turned({ direction }: LinkedView): Partial<SessionState> {
  return direction === "TB" || direction === "LR" ? { direction } : {};
}

/** Unrolls and folds runs of repeats as in a link. */
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

/** The nearest existing node around a missing one; empty for the whole model. */
function nearestOf(session: Session, name: string): string {
  for (
    let rest = name;
    rest !== "";
    rest = rest.slice(0, Math.max(0, ...[...".#/"].map((sign) => rest.lastIndexOf(sign))))
  )
    if (session.grouped.nodes.has(rest)) return rest;
  return "";
}

/** Whether a node is visible without opening anything. */
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
