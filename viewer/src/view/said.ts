/** What an author says of nodes, in the picture. */
import type { GraphIndex } from "../graph/graph.js";
import type { Item } from "./frame.js";

/** The item with what is said of its nodes, the outermost first; names are in `group_names.ts`. */
export function withSaid({ graph }: GraphIndex, item: Item, chain: readonly string[]): Item {
  const all = chain.flatMap((id) => graph.said?.get(id) ?? []);
  if (all.length === 0) return item;
  const notes = [...new Set(all.flatMap((said) => said.notes ?? []))];
  const marks = [...item.marks];
  if (all.some(({ highlight }) => highlight)) marks.push("highlight");
  if (all.some(({ fade }) => fade)) marks.push("faded");
  return {
    ...item,
    marks,
    family: all.find(({ kind }) => kind != null)?.kind ?? item.family,
    ...(notes.length > 0 && { notes }),
  };
}
