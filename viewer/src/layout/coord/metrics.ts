/** Sizes shared by layout and drawing. */

import { memoInObject } from "../../shared/memo.js";
import { type Item, timesText } from "../../view/frame.js";
import { markSign } from "../../view/labels/marks.js";
import { fitText, textWidth } from "./text_metrics.js";

export const GRID = 4;
export const NAME_SIZE = 12;
export const DETAIL_SIZE = 11;
export const LABEL_SIZE = 10;
/** Of the letters of cases. */
export const LETTER_SIZE = 10;
/** Diameter of a glyph's circle. */
export const GLYPH = 24;
/** Number of cards below a folded block, and the offset of each. */
export const STACK_CARDS = 2;
export const STACK_STEP = 4;
/** Offset of the cards behind a folded panel. */
export const BEHIND_PANEL = 6;
/** Width reserved for the expand sign: before a panel's title, or half at each side of a box's text. */
export const CHEVRON = 16;

/** Where details may be broken: after a separator, and between a class and its sizes. */
const AT_FACT = /(?<= ·) | (?=\d+ [→×])/g;
const AFTER_COMMA = /(?<=,) /g;
/** Where long names may be broken in a narrow container; in details, before a word of a class and after a dot. */
const AT_PART = /(?<=[._])(?=[^\d._])/g;
const AT_WORD = /(?<= ·) |(?<=,) |(?<=\.)(?=[a-z_])|(?<=[a-z0-9])(?=[A-Z][a-z])/g;

const MAX_TEXT = 304;
/** Errors may be wider, because readers look for them. */
const MAX_MESSAGE = 480;
const PADDING = 12;
const NARROW_PADDING = 8;
export const ONE_LINE = 28;
const TWO_LINES = 40;
export const DETAIL_LINE = 14;
/** Width from which a detail is broken, least width that this must save, and where; the same for narrow boxes and lists there. */
const LONG_DETAIL = [200, 40, AT_FACT] as const;
const LONG_IN_NARROW = [150, 40, AT_FACT] as const;
const LONG_LIST = [110, 24, AFTER_COMMA] as const;
const MIN_WIDTH = 48;
const BADGE_PADDING = 6;
/** Width of the loop sign in a badge, including its gap. */
export const LOOP = 12;
/** Diameter of the disc with the number of a note, and its distance from a badge. */
export const NOTE = 14;
export const NOTE_GAP = 4;
/** Width of the icon before the number of images. */
export const MORE = 17;
const GAP = 8;
/** Largest size of thumbnails, and the space below one. */
const THUMB = [128, 80] as const;
const BELOW_THUMB = 8;

/** Size of the thumbnail of an item's image; zero without one. */
export function thumbSize({ thumb }: Item): { width: number; height: number } {
  if (thumb === undefined) return { width: 0, height: 0 };
  const scale = Math.min(THUMB[0] / thumb.width, THUMB[1] / thumb.height);
  return { width: Math.ceil(thumb.width * scale), height: Math.ceil(thumb.height * scale) };
}

/** Height of a thumbnail and the space below it. */
export function thumbRoom(item: Item): number {
  return item.thumb === undefined ? 0 : ceilTo(thumbSize(item).height + BELOW_THUMB, GRID);
}

/** Width of the sign for more images; 0 without any. */
export function moreWidth({ moreImages = 0 }: Item): number {
  return moreImages === 0 ? 0 : MORE + Math.ceil(textWidth(String(moreImages), LABEL_SIZE, true)) + BADGE_PADDING / 2;
}

/** The text of a box, shortened to fit. */
export function boxWords(item: Item): { name: string; detail: string } {
  return {
    name: fitText(item.name, NAME_SIZE, MAX_TEXT, true),
    detail: fitText(item.detail, DETAIL_SIZE, item.marks.includes("error") ? MAX_MESSAGE : MAX_TEXT),
  };
}

/** The text of a box in the earlier of two graphs. */
export function formerWords(item: Item): { name: string; detail: string } {
  return boxWords({ ...item, ...item.former });
}

/** A data attribute for the lines of a text that changed: the first line has all of the former text. */
export function formerData({ former }: Item, was: string, line = 0): { former?: string } {
  return former === undefined ? {} : { former: line > 0 ? "" : was };
}

/** `×12`, or empty. An unrolled run also has a badge, which folds it. In a difference, the sign of the change is in front. */
export function badge(item: Item): string {
  const times = Math.max(item.times, item.unrolled);
  const repeated = item.least === undefined ? timesText({ ...item, times }) : `×${item.least}–${times}`;
  return [markSign(item), times > 1 ? repeated : ""].filter((part) => part !== "").join(" ");
}

/** Width of the badge; 0 without one. */
export function badgeWidth(item: Item): number {
  const text = badge(item);
  if (text === "") return 0;
  return Math.ceil(textWidth(text, DETAIL_SIZE, true)) + 2 * BADGE_PADDING + (item.loop ? LOOP : 0);
}

/** `1,2`: the numbers of the author's notes; empty if there are none. */
export function noteNumbers({ notes = [] }: Item): string {
  return notes.join();
}

/** Width of the disc with the numbers of notes; 0 without any. */
export function notesWidth(item: Item): number {
  const text = noteNumbers(item);
  return text === "" ? 0 : Math.max(NOTE, Math.ceil(textWidth(text, LABEL_SIZE, true)) + BADGE_PADDING);
}

/** Width of the diamond on a closed box that contains a condition, and of the points of one that is a condition. */
export const DECIDES = 8;
export const POINT = 12;

/** Whether an item is a condition on a tensor's value, drawn with pointed ends. */
export function isDecision({ marks }: Item): boolean {
  return marks.includes("decision");
}

/** Width of the letters of cases; 0 without any. */
export function lettersWidth({ letters = "" }: Item): number {
  return letters === "" ? 0 : Math.ceil(textWidth(letters, LETTER_SIZE, true));
}

/** Width of what follows a name: letters of cases, the badge, the numbers of notes, and the sign for more images. */
export function signsWidth(item: Item): number {
  const widths = [
    lettersWidth(item),
    item.decides ? DECIDES : 0,
    badgeWidth(item),
    notesWidth(item),
    moreWidth(item),
  ].filter((width) => width > 0);
  return widths.reduce((sum, width) => sum + width + NOTE_GAP, widths.length > 0 ? -NOTE_GAP : 0);
}

function badgeRoom(item: Item): number {
  return signsWidth(item) === 0 ? 0 : GAP + signsWidth(item);
}

/** Whether the detail has its own line. Ops have it next to the name, unless the badge of a difference is there. */
export function isTwoLines(item: Item): boolean {
  return item.detail !== "" && (item.kind !== "op" || item.marks.includes("error") || item.changes !== undefined);
}

/** Height of the cards below a folded block. */
export function stackHeight(item: Item): number {
  return item.times > 1 && !isTerminal(item) ? STACK_CARDS * STACK_STEP : 0;
}

/** Whether an item is an input or output, drawn as a pill. */
export function isTerminal(item: Item): boolean {
  return item.kind === "input" || item.kind === "output";
}

/** The lines of the detail below a box's name: a long one has two if that makes the box much narrower. */
export function detailLines(item: Item): string[] {
  const { detail } = boxWords(item);
  const broad = textWidth(detail, DETAIL_SIZE);
  const inNarrow = detail.includes(", ") ? LONG_LIST : LONG_IN_NARROW;
  const [longest, saved, breaks] = item.narrow ? inNarrow : LONG_DETAIL;
  if (!isTwoLines(item) || item.marks.includes("error") || broad <= longest) return [detail];
  const widest = (lines: string[]) => Math.max(...lines.map((line) => textWidth(line, DETAIL_SIZE)));
  const facts = halved(detail, breaks);
  const halves = item.narrow && widest(facts) > longest ? halved(detail, AT_WORD) : facts;
  return broad - widest(halves) < saved ? [detail] : halves;
}

/** The lines of a box's name: in a narrow container, a long one has two if that makes the box much narrower. */
export function nameLines(item: Item): string[] {
  const { name } = boxWords(item);
  const widthOf = (line: string) => textWidth(line, NAME_SIZE, true);
  const [longest, saved] = LONG_IN_NARROW;
  if (!item.narrow || !isTwoLines(item) || widthOf(name) <= longest) return [name];
  const halves = halved(name, AT_PART);
  return widthOf(name) - Math.max(...halves.map(widthOf)) < saved ? [name] : halves;
}

/** Size of an item that is not expanded. */
export function boxSize(item: Item): { width: number; height: number } {
  if (item.glyph !== null) return { width: GLYPH, height: GLYPH };
  const lines = detailLines(item).length + nameLines(item).length - 1;
  const text = Math.max(widthOfWords(item), item.former ? widthOfWords({ ...item, ...item.former }) : 0);
  const width =
    Math.max(text, thumbSize(item).width) +
    2 * (item.narrow ? NARROW_PADDING : PADDING) +
    (item.expandable ? CHEVRON : 0) +
    (isDecision(item) ? POINT : 0);
  const height =
    (isTwoLines(item) ? TWO_LINES + (lines - 1) * DETAIL_LINE : ONE_LINE) + stackHeight(item) + thumbRoom(item);
  return { width: Math.max(MIN_WIDTH, ceilTo(width, 2 * GRID)), height };
}

function widthOfWords(item: Item): number {
  const { detail } = boxWords(item);
  const names = nameLines(item).map((line) => textWidth(line, NAME_SIZE, item.kind !== "op"));
  const top = Math.max(...names) + badgeRoom(item);
  const below = Math.max(...detailLines(item).map((line) => textWidth(line, DETAIL_SIZE)));
  return isTwoLines(item) ? Math.max(top, below) : detail === "" ? top : top + GAP / 2 + below;
}

/** Round up to a multiple. */
export function ceilTo(value: number, step: number): number {
  return Math.ceil(value / step) * step;
}

// -- titles of expanded containers ------------------------------------------------------------------------------------

export const TITLE_LINE = 16;
/** Space above, below and left of a title. */
export const TITLE_PADDING = 8;

/** The lines of a title in one of its forms; the badge follows the name. */
export interface TitleForm {
  name: string[];
  detail: string[];
  /** Number of lines of text; one if the detail is next to the name. */
  text: number;
  /** The same with the lines that a thumbnail takes. */
  lines: number;
  width: number;
}

/** Where a name may be broken, except before numbers. */
const AFTER_DOT = /\.(?=\D)/g;

type TitleForms = readonly [TitleForm, TitleForm, ...TitleForm[]];

/** A title in one line and in two, for narrow containers also in more. The expand sign is on the first line. */
export const titleForms = memoInObject((item: Item, isNarrow: boolean): TitleForms => {
  const { name, detail } = boxWords(item);
  const details = detail === "" ? [] : [detail];
  const two = inLines(item, [name], details);
  const one = detail === "" ? two.width : CHEVRON + nameWidth(item, name) + GAP + textWidth(detail, DETAIL_SIZE);
  const usual: TitleForms = [titleForm(item, [name], details, 1, one), two];
  if (!isNarrow) return usual;
  const [names, facts] = [halved(name, AFTER_DOT), halved(detail, AT_FACT)];
  const words = halved(detail, AT_WORD);
  const forms: [string[], string[]][] = [
    [[name], facts],
    [names, details],
    [names, facts],
    [[name], words],
    [names, words],
  ];
  return [...usual, ...forms.map(([title, below]) => inLines(item, title, below))];
});

function inLines(item: Item, name: string[], detail: string[]): TitleForm {
  const names = name.map((line, i) => (i < name.length - 1 ? textWidth(line, NAME_SIZE, true) : nameWidth(item, line)));
  const details = detail.map((line) => textWidth(line, DETAIL_SIZE));
  return titleForm(item, name, detail, name.length + detail.length, CHEVRON + Math.max(...names, ...details));
}

/** Includes room for a thumbnail below the text. */
function titleForm(item: Item, name: string[], detail: string[], text: number, width: number): TitleForm {
  const [lines, thumb] = [text + Math.ceil(thumbRoom(item) / TITLE_LINE), thumbSize(item).width];
  return { name, detail, text, lines, width: Math.ceil(Math.max(width, thumb > 0 ? CHEVRON + thumb : 0)) };
}

function nameWidth(item: Item, text: string): number {
  return textWidth(text, NAME_SIZE, true) + badgeRoom(item);
}

/** A text in two lines of about equal length; in one if it can't be broken. */
function halved(text: string, breaks: RegExp): string[] {
  const halves = [...text.matchAll(breaks)].map(({ index, 0: { length } }) => [
    text.slice(0, index + length).trimEnd(),
    text.slice(index + length),
  ]);
  const longer = ([first = "", second = ""]: string[]) => Math.max(first.length, second.length);
  return halves.sort((a, b) => longer(a) - longer(b))[0] ?? [text].filter((line) => line !== "");
}
