/** What the picture of a difference shows: open is what holds changes, as far as there is room. */
import { ancestors, type GraphIndex, ROOT } from "../graph/graph.js";
import { initialState } from "../view/initial_state.js";
import { isOpenable } from "../view/openable.js";
import type { ViewOptions } from "../view/options.js";
import type { Measure } from "../view/page.js";
import { shownIndex } from "../view/shown_index.js";
import type { State } from "../view/state.js";

/** Larger pictures leave inner modules closed. */
const LARGEST = { width: 1100, height: 2400 };

export function unionState(traced: GraphIndex, options: ViewOptions, measure: Measure): State {
  const closed = initialState(traced, { ...options, depth: 0, expand: null, functions: false }, measure);
  const index = shownIndex(traced, closed);
  const holders = [...(index.graph.marks ?? [])].filter(
    ([id, { status }]) => index.nodes.has(id) && (status === "holds" || status === "changed") && isOpenable(index, id),
  );
  const levels = new Map<number, string[]>();
  const marked = [...(index.graph.marks?.keys() ?? [])].filter((id) => index.nodes.has(id));
  const holding = new Set(marked.map((id) => index.parent.get(id)));
  for (const [id] of holders.filter(([holder]) => holding.has(holder))) {
    const depth = ancestors(index, id).filter((at) => at !== ROOT).length;
    levels.set(depth, [...(levels.get(depth) ?? []), id]);
  }
  const fits = (state: State) => {
    const { width, height } = measure(state);
    return width <= (options.fit?.[0] ?? LARGEST.width) * 1.6 && height <= (options.fit?.[1] ?? LARGEST.height) * 1.6;
  };
  let best = closed;
  for (const depth of [...levels.keys()].sort((a, b) => a - b)) {
    const next: State = { ...best, expanded: [...best.expanded, ...(levels.get(depth) ?? [])].sort() };
    if (!fits(next)) break;
    best = next;
  }
  return best;
}
