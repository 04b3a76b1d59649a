/** A box: an op, an input or output, or a collapsed module. */
import type { Box } from "../layout/coord/geometry.js";
import {
  boxWords,
  DETAIL_LINE,
  DETAIL_SIZE,
  detailLines,
  formerData,
  formerWords,
  GLYPH,
  isDecision,
  isTerminal,
  isTwoLines,
  NAME_SIZE,
  nameLines,
  ONE_LINE,
  POINT,
  STACK_CARDS,
  STACK_STEP,
  signsWidth,
  stackHeight,
  thumbRoom,
  thumbSize,
} from "../layout/coord/metrics.js";
import { textWidth } from "../layout/coord/text_metrics.js";
import type { Item } from "../view/frame.js";
import type { Glyph } from "../view/labels/op_families.js";
import { casesData, drawCaseBar, drawLetters, drawNotes, drawSign, drawSigns, drawThumb } from "./badge.js";
import type { Painter } from "./painter.js";
import type { StyleContext } from "./style.js";
import { num, translation } from "./svg_text.js";

const RADIUS = 6;
const GAP = 8;
/** Height of a lens's bar, and its distance from the border, px. */
const BAR = 3.5;
const BAR_BELOW = 1.5;
const BAR_BESIDE = 7;
/** Distance of the expand sign from a box's right edge. */
const SIGN = 13;

export function drawBox(item: Item, box: Box, painter: Painter): string {
  const kind = item.kind === "function" || (item.kind === "bundle" && item.family !== "other") ? "module" : item.kind;
  const classes = ["node", `kind-${kind}`, `family-${item.family}`, ...item.marks];
  if (item.glyph !== null) classes.push("glyph");
  const context: StyleContext = { family: item.family, classes };
  const tooltip = tooltipOf(item);
  const hint = tooltip === "" ? "" : painter.tooltip(tooltip);
  const shape =
    item.glyph === null
      ? drawRect(item, box, context, painter) + drawWords(item, box, context, painter)
      : drawGlyph(item.glyph, box, context, painter) +
        drawLetters(item, box.width + 1, 7, painter) +
        drawNotes(item, -10, GLYPH - 6, painter);
  const expanded = item.expandable ? false : undefined;
  const bar = drawCaseBar(item, RADIUS, box.height - stackHeight(item) - 2 * RADIUS, painter);
  return painter.group(
    { classes, data: { id: item.id, ...casesData(item) }, expanded, transform: translation(box.x, box.y) },
    hint + shape + bar,
  );
}

/** The full text if the box shortens or omits it; else empty. */
function tooltipOf(item: Item): string {
  const { name, detail } = boxWords(item);
  if (item.hint !== undefined) return item.hint;
  if (item.glyph === null && name === item.name && detail === item.detail) return "";
  return item.glyph === null && item.detail !== "" ? `${item.name}\n${item.detail}` : item.name;
}

function drawRect(item: Item, box: Box, context: StyleContext, painter: Painter): string {
  const stack = stackHeight(item);
  const height = box.height - stack;
  if (isDecision(item)) {
    const d = pointed(box.width, height);
    return painter.shape({ tag: "path", roles: ["box"], context, geometry: `d="${d}"` });
  }
  const rounding = isTerminal(item) ? Math.min(height, ONE_LINE) / 2 : RADIUS;
  const d = `d="${stackedCards(box.width, height)}"`;
  const cards = stack > 0 ? painter.shape({ tag: "path", roles: ["cards"], context, geometry: d }) : "";
  const geometry = `width="${num(box.width)}" height="${num(height)}" rx="${num(rounding)}"`;
  const shape = painter.shape({ tag: "rect", roles: ["box"], context, geometry });
  return cards + shape + drawAmount(item.bar, { ...box, height }, context, painter);
}

/** The bar of a lens, below the text. */
function drawAmount(bar: Item["bar"], { width, height }: Box, context: StyleContext, painter: Painter): string {
  if (bar === undefined) return "";
  const track = width - 2 * BAR_BESIDE;
  const part = (role: "track" | "bar", from: number, long: number) => {
    const geometry = `x="${num(BAR_BESIDE + from)}" y="${num(height - BAR - BAR_BELOW)}" width="${num(long)}" height="${BAR}" rx="1"`;
    return painter.shape({ tag: "rect", roles: [role], context, geometry });
  };
  const [start, length] = bar;
  return part("track", 0, track) + (length > 0 ? part("bar", track * start, track * length) : "");
}

/** The outline of a condition: a long diamond. */
function pointed(width: number, height: number): string {
  const half = num(height / 2);
  return `M0 ${half}L${POINT} 0H${num(width - POINT)}L${num(width)} ${half}L${num(width - POINT)} ${num(height)}H${POINT}z`;
}

/** The lower edges of the cards below a folded run. */
function stackedCards(width: number, height: number): string {
  let d = "";
  for (let card = 1; card <= STACK_CARDS; card += 1) {
    const inset = card * STACK_STEP;
    const flat = num(width - 2 * inset - 2 * STACK_STEP);
    d += `M${inset} ${num(height + inset - STACK_STEP)}q0 ${STACK_STEP} ${STACK_STEP} ${STACK_STEP}h${flat}q${STACK_STEP} 0 ${STACK_STEP} ${-STACK_STEP}`;
  }
  return d;
}

function drawWords(item: Item, box: Box, context: StyleContext, painter: Painter): string {
  const { detail } = boxWords(item);
  const middle = box.width / 2;
  const height = box.height - stackHeight(item) - thumbRoom(item);
  const twoLines = isTwoLines(item);
  const pill = signsWidth(item);
  const nameMiddle = pill === 0 ? middle : middle - (pill + GAP) / 2;
  const names = nameLines(item);
  const [last, more] = [names[names.length - 1] ?? "", (names.length - 1) * DETAIL_LINE];
  const isBold = item.kind !== "op" || item.letters === undefined;
  const after = twoLines || detail === "" ? 0 : GAP / 2 + textWidth(detail, DETAIL_SIZE);
  const nameEnd = nameMiddle + (textWidth(last, NAME_SIZE, isBold) + after) / 2 + GAP;
  const base = twoLines ? 17 : height / 2 + 4;
  const was = formerWords(item);
  const beside = twoLines ? {} : { detail, detailData: formerData(item, was.detail) };
  const below = { roles: ["detail"], context, x: middle } as const;
  return [
    ...names.map((text, i) => {
      const at = { x: nameMiddle, y: base + i * DETAIL_LINE, text };
      return painter.text({ roles: ["name"], context, data: formerData(item, was.name, i), ...at, ...beside });
    }),
    drawSigns(item, nameEnd, base + more - 12, painter),
    ...(twoLines ? detailLines(item) : []).map((text, i) =>
      painter.text({ ...below, y: 32 + more + i * DETAIL_LINE, text, data: formerData(item, was.detail, i) }),
    ),
    drawThumb(item, middle - thumbSize(item).width / 2, height, painter),
    item.expandable ? drawSign({ x: box.width - SIGN, y: height / 2, open: false, context }, painter) : "",
  ].join("");
}

const SLANT = 4.2;
const STROKES: Readonly<Record<Glyph, string>> = {
  add: "M-6 0h12M0 -6v12",
  sub: "M-6 0h12",
  mul: `M${-SLANT} ${-SLANT}L${SLANT} ${SLANT}M${-SLANT} ${SLANT}L${SLANT} ${-SLANT}`,
  div: `M${-SLANT} ${SLANT}L${SLANT} ${-SLANT}`,
  cat: "M-2.5 -6v12M2.5 -6v12",
};

/** A glyph in a circle or, with many wires, in a pill. */
function drawGlyph(glyph: Glyph, { width, height }: Box, context: StyleContext, painter: Painter): string {
  const radius = GLYPH / 2;
  const circle = `cx="${radius}" cy="${radius}" r="${radius - 1}"`;
  const pill = `x="1" y="1" width="${num(width - 2)}" height="${num(height - 2)}" rx="${radius - 1}"`;
  const strokes = `${translation(width / 2, height / 2)} d="${STROKES[glyph]}"`;
  return (
    (width === height
      ? painter.shape({ tag: "circle", roles: ["box"], context, geometry: circle })
      : painter.shape({ tag: "rect", roles: ["box"], context, geometry: pill })) +
    painter.shape({ tag: "path", roles: ["strokes"], context, geometry: strokes })
  );
}
