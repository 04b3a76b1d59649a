/** What the picture of a difference shows at first. */

import type { GraphIndex } from "../../graph/graph.js";
import { atOnce, noSteps } from "../../shared/slices.js";
import { initialState } from "../../view/expand/initial_state.js";
import type { Measure } from "../../view/expand/page_limits.js";
import type { ViewOptions } from "../../view/options.js";
import type { State } from "../../view/state.js";
import { withChangesOpen } from "./opened.js";

export function unionState(traced: GraphIndex, options: ViewOptions, measure: Measure): State {
  const closed = initialState(traced, { ...options, depth: 0, expand: null, functions: false }, measure);
  return atOnce(withChangesOpen(traced, closed, (state) => noSteps(measure(state)), options.fit ?? undefined));
}
