/** Sizes shared by layout and drawing. */

import type { Item } from "../view/frame.js";
import { signOf } from "../view/marks.js";
import { fitText, textWidth } from "./text_metrics.js";

export const GRID = 4;
export const NAME_SIZE = 12;
export const DETAIL_SIZE = 11;
export const LABEL_SIZE = 10;
/** Diameter of a glyph's circle. */
export const GLYPH = 24;
/** Number of cards below a folded block, and the offset of each. */
export const STACK_CARDS = 2;
export const STACK_STEP = 4;
/** Offset of the cards behind a folded panel. */
export const BEHIND_PANEL = 6;
/** Width reserved for the expand sign: before a panel's title, or half at each side of a box's text. */
export const CHEVRON = 16;

const MAX_TEXT = 304;
/** Wider, because the error is what the reader looks for. */
const MAX_MESSAGE = 480;
const PADDING = 12;
const ONE_LINE = 28;
const TWO_LINES = 40;
const MIN_WIDTH = 48;
const BADGE_PADDING = 6;
/** Width of the loop sign in a badge, including its gap. */
export const LOOP = 12;
const GAP = 8;

/** The text of a box, shortened to fit. */
export function boxWords(item: Item): { name: string; detail: string } {
  return {
    name: fitText(item.name, NAME_SIZE, MAX_TEXT, true),
    detail: fitText(item.detail, DETAIL_SIZE, item.marks.includes("error") ? MAX_MESSAGE : MAX_TEXT),
  };
}

/** `×12`, or empty. An unrolled run also has a badge, which folds it. In a difference, the sign of the change is in front. */
export function badge(item: Item): string {
  const times = Math.max(item.times, item.unrolled);
  return [signOf(item), times > 1 ? `×${times}` : ""].filter((part) => part !== "").join(" ");
}

/** Width of the badge; 0 without one. */
export function badgeWidth(item: Item): number {
  const text = badge(item);
  if (text === "") return 0;
  return Math.ceil(textWidth(text, DETAIL_SIZE, true)) + 2 * BADGE_PADDING + (item.loop ? LOOP : 0);
}

function badgeRoom(item: Item): number {
  return badge(item) === "" ? 0 : GAP + badgeWidth(item);
}

/** Whether the detail has a line of its own; ops write it beside the name. */
export function isTwoLines(item: Item): boolean {
  return item.detail !== "" && (item.kind !== "op" || item.marks.includes("error"));
}

/** Height of the cards below a folded block. */
export function stackHeight(item: Item): number {
  return item.times > 1 && !isTerminal(item) ? STACK_CARDS * STACK_STEP : 0;
}

/** Whether an item is an input or output, drawn as a pill. */
export function isTerminal(item: Item): boolean {
  return item.kind === "input" || item.kind === "output";
}

/** Size of an item that is not expanded. */
export function boxSize(item: Item): { width: number; height: number } {
  if (item.glyph !== null) return { width: GLYPH, height: GLYPH };
  const { name, detail } = boxWords(item);
  const top = textWidth(name, NAME_SIZE, item.kind !== "op") + badgeRoom(item);
  const below = textWidth(detail, DETAIL_SIZE);
  const text = isTwoLines(item) ? Math.max(top, below) : detail === "" ? top : top + GAP / 2 + below;
  const width = text + 2 * PADDING + (item.expandable ? CHEVRON : 0);
  const height = (isTwoLines(item) ? TWO_LINES : ONE_LINE) + stackHeight(item);
  return { width: Math.max(MIN_WIDTH, ceilTo(width, 2 * GRID)), height };
}

/** Round up to a multiple. */
export function ceilTo(value: number, step: number): number {
  return Math.ceil(value / step) * step;
}

// -- titles of expanded containers ------------------------------------------------------------------------------------

export const TITLE_LINE = 16;
/** Space above, below and left of a title. */
export const TITLE_PADDING = 8;

/** Size of a title: one line, or name above detail. */
export interface TitleLines {
  lines: 1 | 2;
  width: number;
}

/** The one-line and the two-line form of a title; the expand sign and the badge are on the first line. */
export function titleForms(item: Item): [TitleLines, TitleLines] {
  const { name, detail } = boxWords(item);
  const first = CHEVRON + textWidth(name, NAME_SIZE, true) + badgeRoom(item);
  const second = textWidth(detail, DETAIL_SIZE);
  const one = detail === "" ? first : first + GAP + second;
  return [
    { lines: 1, width: Math.ceil(one) },
    { lines: detail === "" ? 1 : 2, width: Math.ceil(Math.max(first, CHEVRON + second)) },
  ];
}
