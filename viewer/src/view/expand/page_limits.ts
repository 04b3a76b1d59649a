import { type GraphIndex, ROOT } from "../../graph/graph.js";
import { strings } from "../../shared/strings.js";
import type { Frame } from "../frame.js";
import type { State } from "../state.js";
import { view } from "../view.js";
import { innermost, shownIn } from "./openable.js";

/** Whether a picture fits a page or a screen. */

/** The size of the picture of a state, px, and whether any structure has its own layout there. */
export type MeasureSize = (state: State) => { width: number; height: number; shaped?: boolean };

/** The page or screen that a picture must fit, px. */
export interface Page {
  width: number;
  height: number;
  /** Greatest height and width for exemplars. */
  tallest: number;
  widest: number;
  /** Greatest height with everything collapsed, without and with bundles. */
  highest: number;
  highestBundled: number;
  measure: MeasureSize;
  /** Whether the picture may scroll; paper doesn't. */
  mayScroll: boolean;
  /** Whether bundles may make the picture fit. */
  mayBundle: boolean;
  /** Longest line of a model from left to right; absent for that of a screen. */
  line?: number;
}

/** Wider pictures count as shrunk to this width: in a column of 666 px, their smallest text then has 9 px. */
export const LEGIBLE_WIDTH = 740;
/** Greatest width for exemplars of blocks: in a column of 740 px, the smallest text still has 9 px. */
export const WIDEST = 822;

/** Width of margins, labels and wires around the lines of a model from left to right, px. */
export const AROUND_LINES = 104;

/** Most nodes that readers grasp at a glance. */
export const MAX_VISIBLE = 40;

/** Exceptions from the size of a page. */
interface Extra {
  /** Width to which the picture is shrunk. */
  column?: number;
  /** Extra height for a picture of a width. */
  spare?: (state: State, width: number) => number;
}

/** Makes a test whether a picture, shrunk to a column, is no larger than the page or than the picture at the start. */
export function fitting(
  start: State,
  { width, height, column, spare, measure }: Page & Extra,
): (expanded: string[], room?: number) => boolean {
  const before = measure(start);
  return (expanded, room = 1) => {
    const state = { ...start, expanded: [...new Set([...start.expanded, ...expanded])] };
    const drawn = measure(state);
    if (drawn.width > Math.max(width, before.width)) return false;
    const scale = Math.max(1, drawn.width / (column ?? drawn.width));
    const isWithin = (most: number) => drawn.height <= Math.max(most * room * scale, before.height);
    return isWithin(height) || (spare !== undefined && isWithin(height + spare(state, drawn.width)));
  };
}

/** Number of visible nodes. */
export function nodesIn(index: GraphIndex, expanded: string[]): number {
  return expanded.reduce((sum, id) => sum + shownIn(index, innermost(index, id)).length, shownIn(index, ROOT).length);
}

// -- the legend --------------------------------------------------------------------------------------------------------

/** The extra height of a page whose legend has one line: the limits allow for two. */

/** Greatest width of a character in the legend, and the space around an entry's text, px. */
const LETTER = 6.5;
const AROUND = 32;
const SPARE = 28;

/** How much taller a picture of this width may be than one with a legend of two lines. */
export function legendRoom(traced: GraphIndex, state: State, width: number): number {
  const families = [...familiesIn(view(traced, state).root)];
  const widths = families.map((family) => AROUND + LETTER * nameOf(family).length);
  return widths.reduce((sum, entry) => sum + entry, 0) <= width ? SPARE : 0;
}

function nameOf(family: string): string {
  return family === "other" ? strings["mixed or other"] : family;
}

/** The families with their own colour, and grey. */
function familiesIn({ items }: Frame): Set<string> {
  const grey = /^(elementwise|shape)$/;
  return new Set(
    items.flatMap(({ family, frame }) => [family.replace(grey, "other"), ...(frame === null ? [] : familiesIn(frame))]),
  );
}
