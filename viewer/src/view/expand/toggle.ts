/** The state after a click: a module expanded or collapsed, a run unrolled or folded. */
import { ancestors, type GraphIndex } from "../../graph/graph.js";
import { boxOf } from "../boxes.js";
import { firstMember } from "../repeats/contents.js";
import type { State } from "../state.js";
import { twinsOf } from "./twins.js";

/** The state with a module, and its twins, expanded or collapsed. */
export function toggle(index: GraphIndex, state: State, id: string): State {
  const twins = twinsOf(index, id);
  const others = state.expanded.filter((other) => !twins.includes(other));
  return { ...state, expanded: state.expanded.includes(id) ? others : [...others, ...twins].sort() };
}

/**
 * The state with a run unrolled or folded. If a container and its run share a box, unrolling expands the container, and
 * folding collapses it if the run's first member is collapsed.
 */
export function toggleRun(index: GraphIndex, state: State, id: string): State {
  const head = firstMember(id);
  const parents = ancestors(index, head).filter((parent) => boxOf(index, parent, new Set()).run?.id === id);
  const box = parents[parents.length - 1];
  const next: State = { ...state, unrolled: flipped(state.unrolled, id) };
  if (box === undefined) return next;
  const expanded = new Set(state.expanded);
  if (state.unrolled.includes(id)) {
    if (!expanded.has(head)) expanded.delete(box);
  } else {
    if (expanded.has(box)) expanded.add(head);
    expanded.add(box);
  }
  return { ...next, expanded: [...expanded].sort() };
}

/** Sorted, so that equal states serialise equally. */
function flipped(ids: string[], id: string): string[] {
  return ids.includes(id) ? ids.filter((other) => other !== id) : [...ids, id].sort();
}
