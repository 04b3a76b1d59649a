/** Where the union of two graphs shows a change, and what it shows at a place. */
import { ancestors, type GraphIndex, type Mark } from "../../graph/graph.js";

/** The first node that shows a change; undefined for one of the whole model. */
export function placeOf({ graph }: GraphIndex, change: number): string | undefined {
  for (const [id, { changes }] of graph.marks ?? []) if (changes.includes(change)) return id;
  return undefined;
}

/** What became of a node; undefined where nothing did. */
export function statusOf({ graph }: GraphIndex, id: string): Mark["status"] | undefined {
  return graph.marks?.get(id)?.status;
}

/** The changes of a node or, where it has none of its own, of what is inside. */
export function changesInside(index: GraphIndex, id: string): number[] {
  const own = index.graph.marks?.get(id);
  if (own === undefined || own.changes.length > 0) return own?.changes ?? [];
  const inside = [...(index.graph.marks ?? [])].filter(([other]) => ancestors(index, other).includes(id));
  return [...new Set(inside.flatMap(([, { changes }]) => changes))].sort((a, b) => a - b);
}
