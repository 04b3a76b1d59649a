/** Signs on boxes and panels: the badge with the number of repeats, and the expand sign. */

import type { Positions } from "../graph/cases.js";
import {
  badge,
  badgeWidth,
  DECIDES,
  LOOP,
  lettersWidth,
  MORE,
  moreWidth,
  NOTE,
  NOTE_GAP,
  noteNumbers,
  notesWidth,
  thumbSize,
} from "../layout/coord/metrics.js";
import type { Item } from "../view/frame.js";
import type { Painter } from "./painter.js";
import { caseHue } from "./palette.js";
import type { StyleContext } from "./style.js";
import { num, translation } from "./svg_text.js";

/** A circular arrow. */
const CIRCULAR_ARROW = "M3 -2.6A4 4 0 1 0 4 0M3.6 -5v2.6h-2.6";

/** What follows a name: letters of cases, the badge, the numbers of notes, and the number of further images. */
export function drawSigns(item: Item, x: number, y: number, painter: Painter): string {
  const after = (start: number, width: number) => (width === 0 ? start : start + width + NOTE_GAP);
  const diamond = after(x, lettersWidth(item));
  const badge = after(diamond, item.decides ? DECIDES : 0);
  const notes = after(badge, badgeWidth(item));
  const more = after(notes, notesWidth(item));
  const letters = drawLetters(item, x - NEARER, y + SUPERSCRIPT, painter);
  return (
    letters +
    drawDiamond(item, diamond, y, painter) +
    drawBadge(item, badge, y, painter) +
    drawNotes(item, notes, y + 1, painter) +
    drawMore(item, more, y + 1, painter)
  );
}

/** The cases of an item or wire, for the chips, and those of what a closed box hides; absent if they are those around it. */
export function casesData({ cases, hidden }: { cases?: Positions; hidden?: Item["hidden"] }): Record<string, string> {
  return {
    ...(cases && { cases: cases.join(" ") }),
    ...(hidden && { hidden: hidden.map((some) => some.join(" ")).join("|") }),
  };
}

/** Letters are raised, and nearer to the name than other signs, px. */
const NEARER = 5;
const SUPERSCRIPT = 8;

/** A small diamond: the box contains a condition on a tensor's value. */
function drawDiamond({ decides, family }: Item, x: number, y: number, painter: Painter): string {
  if (!decides) return "";
  const half = DECIDES / 2;
  const context: StyleContext = { family, classes: ["decides"] };
  const geometry = `d="M${num(x)} ${num(y + 8)}l${half} ${-half}l${half} ${half}l${-half} ${half}z"`;
  return painter.shape({ tag: "path", roles: ["strokes"], context, geometry });
}

/** The letters of the cases that run an item, like those of footnotes. */
export function drawLetters({ letters = "", onlyIn, family }: Item, x: number, y: number, painter: Painter): string {
  if (letters === "") return "";
  const context: StyleContext = { family, classes: ["letters"] };
  return painter.text({ roles: ["letters"], context, data: onlyIn ? { only: onlyIn } : {}, x, y, text: letters });
}

/** A bar at the left border of what only some cases run, in the colour of the case if it is one of few. */
export function drawCaseBar({ hue, cases = [] }: Item, y: number, height: number, painter: Painter): string {
  return cases.length === 0 ? "" : drawBar(hue, { x: -1.5, y, height }, painter);
}

export function drawBar(
  hue: number | undefined,
  { x, y, height }: { x: number; y: number; height: number },
  painter: Painter,
): string {
  const family = caseHue(hue);
  const context: StyleContext = { family, classes: ["case", `family-${family}`] };
  const geometry = `x="${num(x)}" y="${num(y)}" width="3" height="${num(height)}" rx="1.5"`;
  return painter.group(
    { classes: context.classes },
    painter.shape({ tag: "rect", roles: ["case-bar"], context, geometry }),
  );
}

/** An icon and the number of further images. */
function drawMore(item: Item, x: number, y: number, painter: Painter): string {
  const width = moreWidth(item);
  if (width === 0) return "";
  const context: StyleContext = { family: item.family, classes: ["note", "more"] };
  const geometry = `x="${num(x)}" y="${num(y)}" width="${width}" height="${NOTE}" rx="3"`;
  const hills = `${translation(x + 3, y + 11)} d="M0 0l4 -5 3 3.5 2.5 -2 2.5 3.5"`;
  const drawn = [
    painter.shape({ tag: "rect", roles: ["pill"], context, geometry }),
    painter.shape({ tag: "path", roles: ["strokes"], context, geometry: hills }),
    painter.text({ roles: ["times"], context, x: x + (MORE + width) / 2 - 1, y: y + 10.5, text: `${item.moreImages}` }),
  ];
  return painter.group({ classes: context.classes }, drawn.join(""));
}

/** The first image of a node as a thumbnail. */
export function drawThumb(item: Item, x: number, y: number, painter: Painter): string {
  if (item.thumb === undefined) return "";
  const { width, height } = thumbSize(item);
  const context: StyleContext = { family: item.family, classes: ["image"] };
  const geometry = `x="${num(x)}" y="${num(y)}" width="${width}" height="${height}"`;
  const paper = painter.shape({ tag: "rect", roles: ["paper"], context, geometry });
  const data = { image: item.thumb.numbers.join(" ") };
  const drawn = painter.tooltip(item.thumb.alt) + paper + painter.image(item.thumb.source, geometry);
  return painter.group({ classes: context.classes, data }, drawn);
}

/** The numbers of the author's notes in a disc. */
export function drawNotes(item: Item, x: number, y: number, painter: Painter): string {
  const width = notesWidth(item);
  if (width === 0) return "";
  const context: StyleContext = { family: item.family, classes: ["note"] };
  const geometry = `x="${num(x)}" y="${num(y)}" width="${width}" height="${NOTE}" rx="${NOTE / 2}"`;
  const disc = painter.shape({ tag: "rect", roles: ["pill"], context, geometry });
  const text = painter.text({ roles: ["times"], context, x: x + width / 2, y: y + 10.5, text: noteNumbers(item) });
  return painter.group({ classes: context.classes }, disc + text);
}

/** `×12` in a pill, with a circular arrow for loops. */
function drawBadge(item: Item, x: number, y: number, painter: Painter): string {
  const width = badgeWidth(item);
  if (width === 0) return "";
  const classes = ["repeat"];
  if (item.unrolled > 1) classes.push("unrolled");
  if (item.changes !== undefined) classes.push("change");
  const context: StyleContext = { family: item.family, classes };
  const geometry = `x="${num(x)}" y="${num(y)}" width="${num(width)}" height="16" rx="8"`;
  const pill = painter.shape({ tag: "rect", roles: ["pill"], context, geometry });
  const arrow = `${translation(x + 11, y + 8)} d="${CIRCULAR_ARROW}"`;
  const loop = item.loop ? painter.shape({ tag: "path", roles: ["strokes"], context, geometry: arrow }) : "";
  const middle = x + (width + (item.loop ? LOOP : 0)) / 2;
  const sizes = item.counts?.map((count) => (count > 0 ? `×${count}` : "")).join("|");
  const shown = { data: sizes === undefined ? {} : { sizes }, x: middle, y: y + 12, text: badge(item) };
  const text = painter.text({ roles: ["times"], context, ...shown });
  const data = {
    ...(item.run !== "" && { run: item.run }),
    ...(item.changes?.length && { change: item.changes.join(" ") }),
  };
  return painter.group({ classes, data, isLink: "change" in data }, pill + loop + text);
}

/** The sign for expanding (+) or collapsing (−). */
export function drawSign(
  { x, y, open, context }: { x: number; y: number; open: boolean; context: StyleContext },
  painter: Painter,
): string {
  const upright = open ? "" : `M${num(x + 4)} ${num(y - 4)}v8`;
  return painter.shape({ tag: "path", roles: ["sign"], context, geometry: `d="M${num(x)} ${num(y)}h8${upright}"` });
}
