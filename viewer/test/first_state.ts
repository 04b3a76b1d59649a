import type { GraphIndex } from "../src/graph/graph.js";
import { layout, layoutCache, type Viz } from "../src/layout/layout.js";
import { initialState } from "../src/view/expand/initial_state.js";
import type { ViewOptions } from "../src/view/options.js";
import type { State } from "../src/view/state.js";
import { view } from "../src/view/view.js";

/** The initial state, measured by a layout without dot unless an engine is given. */
export function firstState(traced: GraphIndex, options: ViewOptions = {}, viz: Viz | null = null): State {
  const cache = layoutCache();
  return initialState(traced, options, (state) => layout(view(traced, state), viz, cache));
}
