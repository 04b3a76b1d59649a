/** Signs on boxes and panels: the badge with the number of repeats, and the expand sign. */
import { badge, badgeWidth, LOOP, NOTE, NOTE_GAP, noteNumbers, notesWidth } from "../layout/metrics.js";
import type { Item } from "../view/frame.js";
import type { Context, Painter } from "./painter.js";
import { num, translation } from "./svg_text.js";

/** A circular arrow. */
const CIRCULAR_ARROW = "M3 -2.6A4 4 0 1 0 4 0M3.6 -5v2.6h-2.6";

/** What follows a name: the badge, and the numbers of notes. */
export function drawSigns(item: Item, x: number, y: number, painter: Painter): string {
  const pill = badgeWidth(item);
  return drawBadge(item, x, y, painter) + drawNotes(item, pill === 0 ? x : x + pill + NOTE_GAP, y + 1, painter);
}

/** The numbers of the author's notes in a disc. */
export function drawNotes(item: Item, x: number, y: number, painter: Painter): string {
  const width = notesWidth(item);
  if (width === 0) return "";
  const context: Context = { family: item.family, classes: ["note"] };
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
  const context: Context = { family: item.family, classes };
  const geometry = `x="${num(x)}" y="${num(y)}" width="${num(width)}" height="16" rx="8"`;
  const pill = painter.shape({ tag: "rect", roles: ["pill"], context, geometry });
  const arrow = `${translation(x + 11, y + 8)} d="${CIRCULAR_ARROW}"`;
  const loop = item.loop ? painter.shape({ tag: "path", roles: ["strokes"], context, geometry: arrow }) : "";
  const middle = x + (width + (item.loop ? LOOP : 0)) / 2;
  const text = painter.text({ roles: ["times"], context, x: middle, y: y + 12, text: badge(item) });
  const data = {
    ...(item.run !== "" && { run: item.run }),
    ...(item.changes?.length && { change: item.changes.join(" ") }),
  };
  return painter.group({ classes, data, isLink: "change" in data }, pill + loop + text);
}

/** The sign for expanding (+) or collapsing (−). */
export function drawSign(
  { x, y, open, context }: { x: number; y: number; open: boolean; context: Context },
  painter: Painter,
): string {
  const upright = open ? "" : `M${num(x + 4)} ${num(y - 4)}v8`;
  return painter.shape({ tag: "path", roles: ["sign"], context, geometry: `d="M${num(x)} ${num(y)}h8${upright}"` });
}
