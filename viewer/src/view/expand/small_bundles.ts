import { childrenOf, type GraphIndex } from "../../graph/graph.js";
import { shownIndex } from "../grouping/shown_index.js";
import type { State } from "../state.js";
import { LEGIBLE_WIDTH, legendRoom, type Page, WIDEST } from "./page_limits.js";

/** Small bundles say less than their few nodes: pictures avoid them if the page has room for the nodes. */

/** Most nodes of a small bundle. */
const FEW = 3;
/** What each of them costs a picture's score: more than a block of the costliest class is worth over one of another. */
export const HIDES = 0.12;

/** Bundles of a few nodes, apart from inputs and outputs. */
export function smallBundles(index: GraphIndex): string[][] {
  return index.graph.nodes
    .filter((node) => node.kind === "bundle" && !node.layers)
    .map(({ id }) => childrenOf(index, id))
    .filter((ids) => ids.length <= FEW && !ids.some((id) => /^(input|output)$/.test(index.nodes.get(id)?.kind ?? "")));
}

/** The state with small bundles replaced by their nodes, as far as the page has room. */
export function withoutSmallBundles(traced: GraphIndex, state: State, page: Page): State {
  let best = state;
  for (const ids of smallBundles(shownIndex(traced, state))) {
    const kept = [...(best.kept ?? []), ...ids];
    const most = best.most === undefined ? {} : { most: best.most + ids.length - 1 };
    const tried: State = { ...best, ...most, kept };
    const count = (one: State) => smallBundles(shownIndex(traced, one)).length;
    if (count(tried) < count(best) && isWithin(traced, page, tried)) best = tried;
  }
  return best;
}

function isWithin(traced: GraphIndex, page: Page, state: State): boolean {
  const { width, height } = page.measure(state);
  if (!page.mayScroll) return width <= page.widest && height <= page.tallest;
  const scale = Math.max(1, width / Math.max(page.width, LEGIBLE_WIDTH));
  return width <= WIDEST && height <= (page.tallest + legendRoom(traced, state, width)) * scale;
}
