import { ancestors, type GraphIndex, ROOT } from "../../graph/graph.js";
import { atOnce, noSteps, type Steps } from "../../shared/slices.js";
import { initialState } from "../../view/expand/initial_state.js";
import { isOpenable } from "../../view/expand/openable.js";
import type { MeasureSize } from "../../view/expand/page_limits.js";
import { shownIndexSteps } from "../../view/grouping/shown_index.js";
import type { ViewOptions } from "../../view/options.js";
import type { State } from "../../view/state.js";

/** What the picture of a difference shows: containers of changes are open, as far as there is room. */

/** Larger pictures leave inner modules closed. */
const LARGEST = [1100, 2400] as const;
const STRETCH = 1.6;

/** Open containers of changes level by level while there is room. @param closed a state with everything closed */
export function* withChangesOpen(
  traced: GraphIndex,
  closed: State,
  measure: (state: State) => Steps<{ width: number; height: number }>,
  [most, longest]: readonly [width: number, height: number] = LARGEST,
): Steps<State> {
  const index = yield* shownIndexSteps(traced, closed);
  const fits = function* (state: State) {
    const { width, height } = yield* measure(state);
    return width <= most * STRETCH && height <= longest * STRETCH;
  };
  let best = closed;
  for (const level of holdersByLevel(index)) {
    const next: State = { ...best, expanded: [...best.expanded, ...level].sort() };
    if (!(yield* fits(next))) break;
    best = next;
  }
  return best;
}

/** Containers of changes that can be opened, outermost first. */
function holdersByLevel(index: GraphIndex): string[][] {
  const marks = [...(index.graph.marks ?? [])].filter(([id]) => index.nodes.has(id));
  const holding = new Set(marks.map(([id]) => index.parent.get(id)));
  const levels = new Map<number, string[]>();
  for (const [id, { status }] of marks) {
    if ((status !== "holds" && status !== "changed") || !holding.has(id) || !isOpenable(index, id)) continue;
    const depth = ancestors(index, id).filter((at) => at !== ROOT).length;
    levels.set(depth, [...(levels.get(depth) ?? []), id]);
  }
  return [...levels].sort(([a], [b]) => a - b).map(([, ids]) => ids);
}

export function unionState(traced: GraphIndex, options: ViewOptions, measure: MeasureSize): State {
  const closed = initialState(traced, { ...options, depth: 0, expand: null, functions: false }, measure);
  return atOnce(withChangesOpen(traced, closed, (state) => noSteps(measure(state)), options.fit ?? undefined));
}
