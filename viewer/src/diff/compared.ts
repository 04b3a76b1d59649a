/** Two graphs → what changed, and the graph of its picture. */
import type { GraphData } from "../graph/graph.js";
import { comparisonOf, type Difference } from "./difference.js";
import { unionOf } from "./union/union.js";

export interface Compared {
  difference: Difference;
  /** Both graphs in one, with marks. */
  graph: GraphData;
}

/** Compare two graphs, each as JSON text; `details` also marks changes that have no effect on results. */
export function comparedGraphs(before: string, after: string, details: boolean): Compared {
  const found = comparisonOf(before, after);
  return { difference: found.difference, graph: unionOf(JSON.parse(before), JSON.parse(after), found, details) };
}
