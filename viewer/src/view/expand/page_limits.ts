/** What fits a page or a screen. */
import { type GraphIndex, ROOT } from "../../graph/graph.js";
import type { State } from "../state.js";
import { innermost, shownIn } from "./openable.js";

/** Size of the picture of a state, in px, and whether any structure of the model has a layout of its own there. */
export type Measure = (state: State) => { width: number; height: number; shaped?: boolean };

/** The page or screen that a picture has to fit, in px. */
export interface Page {
  width: number;
  height: number;
  /** Height and width that the picture may have for exemplars. */
  tallest: number;
  widest: number;
  /** Height that the picture may have with everything collapsed, without and with bundles. */
  highest: number;
  highestBundled: number;
  measure: Measure;
  /** Whether the picture may be higher; paper is strict. */
  mayScroll: boolean;
  /** Whether children may be bundled for the picture to fit. */
  mayBundle: boolean;
  /** Longest line of a left-to-right model, if not a screen's. */
  line?: number;
}

/** Height of pages is for pictures up to this width: in a column of 666 px, their smallest text has 9 px. */
export const BROAD = 740;
/** Width of a picture where exemplars of blocks need more than a column: in one of 740 px, its smallest text still has 9 px. */
export const WIDEST = 822;

/** Width of margins, labels and wires around lines of the model, left to right, in px. */
export const AROUND_LINES = 104;

/** Most nodes that are readable at a glance. */
export const MAX_VISIBLE = 40;

/** What a page may have beyond its sizes. */
interface Extra {
  /** Width to which the picture is shrunk. */
  column?: number;
  /** How much higher a picture of a width may be. */
  spare?: (state: State, width: number) => number;
}

/** Returns a test whether a picture, shrunk to a column, is no larger than the page, or than the picture at the start. */
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
