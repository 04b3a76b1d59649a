/** Sizes of what is drawn: one type scale, one grid. Layout reserves by these, drawing fills them. */
import { fitText, textWidth } from "./text.js";
import type { Item } from "./view.js";

export const GRID = 4;
export const NAME_SIZE = 12;
export const DETAIL_SIZE = 11;
export const LABEL_SIZE = 10;
/** A glyph's circle. */
export const GLYPH = 24;
/** Cards that peek out below a rolled block, and by how much each. */
export const STACK_CARDS = 2;
export const STACK_STEP = 4;
/** By how much cards peek out behind a rolled panel. */
export const BEHIND_PANEL = 6;
/** Room for the sign that opens or closes: before the title of what is open; half of it at each side of a closed one's words. */
export const CHEVRON = 16;

const MAX_TEXT = 304;
/** What the model said where it failed is what the reader came for. */
const MAX_MESSAGE = 480;
const PADDING = 12;
const ONE_LINE = 28;
const TWO_LINES = 40;
const MIN_WIDTH = 48;
const BADGE_PADDING = 6;
/** The sign of a loop in the badge, with the room behind it. */
export const LOOP = 12;
const GAP = 8;

/** The words of a box as they fit. */
export function boxWords(item: Item): { name: string; detail: string } {
  return {
    name: fitText(item.name, NAME_SIZE, MAX_TEXT, true),
    detail: fitText(item.detail, DETAIL_SIZE, item.marks.includes("error") ? MAX_MESSAGE : MAX_TEXT),
  };
}

/** `×12`, or nothing. An unrolled run shows it, too: there it rolls up again. */
export function badge(item: Item): string {
  const times = Math.max(item.times, item.unrolled);
  return times > 1 ? `×${times}` : "";
}

/** Width of the badge's pill; 0 where there is none. */
export function badgeWidth(item: Item): number {
  const text = badge(item);
  if (text === "") return 0;
  return Math.ceil(textWidth(text, DETAIL_SIZE, true)) + 2 * BADGE_PADDING + (item.loop ? LOOP : 0);
}

function badgeRoom(item: Item): number {
  return badge(item) === "" ? 0 : GAP + badgeWidth(item);
}

/** Ops say everything in one line; modules have a name and a class. */
export function isTwoLines(item: Item): boolean {
  return item.detail !== "" && (item.kind !== "op" || item.marks.includes("error"));
}

/** Height of the cards below a rolled block. */
export function stackHeight(item: Item): number {
  return item.times > 1 && !isTerminal(item) ? STACK_CARDS * STACK_STEP : 0;
}

/** Inputs and outputs: pills. */
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
/** Above, below and at the left of a title. */
export const TITLE_PADDING = 8;

/** A container's title: on one line where that fits, else name above detail. */
export interface TitleLines {
  lines: 1 | 2;
  width: number;
}

/** The two forms a title can take; the signs for closing and `×12` belong to the first line. */
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
