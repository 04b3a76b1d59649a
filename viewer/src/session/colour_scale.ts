/** The colour scale of a picture by class. */
import { CLASS_HUES } from "../draw/palette.js";
import type { GraphIndex } from "../graph/graph.js";
import { shortName } from "../graph/names.js";
import { typeOf } from "./naming.js";

/** A step of the scale, numbered from 1, and its meaning. */
export interface ScaleEntry {
  step: number;
  text: string;
}

export interface ColourScale {
  entries: ScaleEntry[];
  /** The step of a node; 0 if it has none. */
  stepOf(id: string): number;
}

/** The most frequent classes and functions among these nodes, each with a colour. */
export function classScale(index: GraphIndex, ids: Iterable<string>): ColourScale {
  const counts = new Map<string, number>();
  const nameOf = (id: string) => {
    const node = index.nodes.get(id);
    if (node?.kind === "function") return node.name;
    return node?.kind === "module" || node?.kind === "op" ? shortName(typeOf(node)) : "";
  };
  for (const id of ids) {
    const name = nameOf(id);
    if (name !== "") counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const named = [...counts].sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1)).slice(0, CLASS_HUES.length);
  const steps = new Map(named.map(([name], i) => [name, i + 1]));
  return {
    entries: named.map(([text], i) => ({ step: i + 1, text })),
    stepOf: (id) => steps.get(nameOf(id)) ?? 0,
  };
}
