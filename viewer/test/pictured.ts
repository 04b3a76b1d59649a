/** Graphs with an author's images at their nodes. */
import type { GraphData } from "../src/graph/graph.js";
import { index } from "../src/graph/indexing.js";
import { annotate } from "../src/graph/overlay.js";
import { layout } from "../src/layout/layout.js";
import { view } from "../src/view/view.js";
import { firstState } from "./first_state.js";
import { strippedInstance } from "./stripped_viz.js";

const viz = await strippedInstance();
export const DOT = "data:image/png;base64,iVBORw0KGgo=";
/** Square, wide, tall and tiny. */
const SIZES = [
  [64, 64],
  [800, 40],
  [30, 900],
  [2, 2],
] as const;

/** Each of these nodes has an image of one of the sizes. */
export function pictured(graph: GraphData, ids: readonly string[]): GraphData {
  const images = ids.map((id, i) => {
    const [width, height] = SIZES[i % SIZES.length] ?? [1, 1];
    return { source: DOT, alt: `Image ${i + 1}`, width, height, nodes: [id] };
  });
  return annotate(graph, { format: "modeldiagrams-overlay", version: "1.0", graph: "", images });
}

export function shown(graph: GraphData, depth: number | null, direction: "TB" | "LR" = "TB") {
  const traced = index(graph);
  return layout(view(traced, firstState(traced, { depth, direction })), viz);
}
