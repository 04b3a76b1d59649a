/** Inserts nodes into an order of nodes. */
import { containersOf } from "../../graph/graph.js";

/** Node → the next in the order; null precedes the first. */
export type Next = Map<string | null, string>;

/** Inserts a node after its former predecessor, inside its parent. */
export function insert(
  next: Next,
  hierarchy: ReadonlyMap<string, string | null>,
  id: string,
  parent: string | null,
  previous: string | null,
): void {
  let at = previous;
  while (at !== null && (hierarchy.get(at) ?? null) !== parent && at !== parent) at = hierarchy.get(at) ?? null;
  const anchor = at ?? parent;
  let last = anchor;
  let following = next.get(last);
  while (anchor !== parent && anchor !== null && following !== undefined && isContained(hierarchy, following, anchor)) {
    last = following;
    following = next.get(last);
  }
  if (following !== undefined) next.set(id, following);
  next.set(last, id);
}

export function isContained(hierarchy: ReadonlyMap<string, string | null>, id: string, container: string): boolean {
  return [...containersOf(hierarchy, id)].includes(container);
}
