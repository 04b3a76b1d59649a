/** Layout → SVG text. Colours, fonts and strokes are in picture.css; here are shapes and classes only. */
import {
  BEHIND_PANEL,
  badge,
  badgeWidth,
  boxWords,
  CHEVRON,
  ceilTo,
  DETAIL_SIZE,
  GLYPH,
  GRID,
  isTerminal,
  isTwoLines,
  LOOP,
  NAME_SIZE,
  STACK_CARDS,
  STACK_STEP,
  stackHeight,
  TITLE_LINE,
} from "./box.js";
import type { Glyph } from "./families.js";
import type { Box, Geometry, Label, Layout, Placed, Title } from "./layout.js";
import { type Legend, makeLegend, SWATCH } from "./legend.js";
import { textWidth } from "./text.js";
import type { Frame, Item, Wire } from "./view.js";

const RADIUS = 6;
const CORNER = 8;
const GAP = 8;
/** Where the sign for opening begins, from a box's right. */
const SIGN = 13;
/** An arrowhead's length and half width. */
const ARROW = [6, 3.5] as const;
/** How far an arrow's tip stays off what it points at. */
const TIP = 1;

/** A drawn picture. */
export interface Picture {
  svg: string;
  width: number;
  height: number;
}

/** The whole picture as an `<svg>` element. */
export function draw(layout: Layout): string {
  return picture(layout).svg;
}

/** How the inside of a container becomes SVG text. The widget leaves out what is not in sight. */
export type Inside = (placed: Placed) => string;

/** The picture with its size: the layout's, and below it the legend. */
export function picture(layout: Layout, content: Inside = inside): Picture {
  if (layout.root.frame.items.length === 0) return pictureOfNothing();
  const legend = makeLegend(layout);
  const width = Math.max(layout.width, legend.width);
  const height = layout.height + legend.height;
  const size = `viewBox="0 0 ${num(width)} ${num(height)}" width="${num(width)}" height="${num(height)}"`;
  const drawn = content(layout.root) + drawLegend(legend, layout.height);
  return { svg: `<svg xmlns="http://www.w3.org/2000/svg" class="mg-svg" ${size}>${drawn}</svg>`, width, height };
}

const NOTHING = "No tensor went through this model";

/** A blank would look like a fault of the page. */
function pictureOfNothing(): Picture {
  const [width, height] = [ceilTo(textWidth(NOTHING, DETAIL_SIZE) + 6 * GRID, 2 * GRID), 10 * GRID];
  const frame = `<rect class="mg-box" x="1" y="1" width="${width - 2}" height="${height - 2}" rx="${RADIUS}"/>`;
  const text = `<text class="mg-detail" x="${width / 2}" y="${height / 2 + 4}">${NOTHING}</text>`;
  const size = `viewBox="0 0 ${width} ${height}" width="${width}" height="${height}"`;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" class="mg-svg" ${size}><g class="mg-nothing">${frame}${text}</g></svg>`;
  return { svg, width, height };
}

function drawLegend(legend: Legend, top: number): string {
  if (legend.entries.length === 0) return "";
  const entries = legend.entries.map(({ family, name, x, y }) => {
    const swatch = `<rect class="mg-box" width="${SWATCH}" height="${SWATCH}" rx="3"/>`;
    const text = `<text class="mg-detail" x="${SWATCH + 4}" y="10">${words(name)}</text>`;
    return `<g class="mg-family-${family}" transform="translate(${num(x)} ${num(top + y + 4)})">${swatch}${text}</g>`;
  });
  return `<g class="mg-legend">${entries.join("")}</g>`;
}

/** What is in a container: wires below, items above them, labels on top. */
function inside(placed: Placed): string {
  const { frame, geometry } = placed;
  const items = frame.items.map((item, i) => drawItem(item, geometry.boxes[i], placed.inner[i] ?? null));
  const labels = geometry.labels.map((label) => drawLabel(label, frame.wires[label.wire]));
  return `<g class="mg-edges">${drawWires(frame, geometry)}</g>${items.join("")}${labels.join("")}`;
}

/** A box or, where its inside is given, a panel with a title around its content. */
export function drawItem(item: Item, box: Box | undefined, inner: Placed | null, content: Inside = inside): string {
  if (box === undefined) return "";
  const place = `transform="translate(${num(box.x)} ${num(box.y)})"`;
  if (inner === null) return drawBox(item, box, place);
  const classes = ["mg-module", "mg-expanded", `mg-family-${item.family}`, ...item.marks.map((mark) => `mg-${mark}`)];
  const open = item.kind === "group" ? "" : ' aria-expanded="true"';
  const cards = item.times > 1 ? panelCards(box) : "";
  const panel = `<rect class="mg-panel" width="${num(box.width)}" height="${num(box.height)}" rx="${CORNER}"/>`;
  const title = inner.geometry.title === null ? "" : drawTitle(item, box, inner.geometry.title);
  return `<g class="${classes.join(" ")}" data-id="${escapeText(item.id)}"${open} ${place}>${cards}${panel}${content(inner)}${title}</g>`;
}

// -- boxes ------------------------------------------------------------------------------------------------------------

function drawBox(item: Item, box: Box, place: string): string {
  const classes = [
    "mg-node",
    `mg-kind-${item.kind}`,
    `mg-family-${item.family}`,
    ...item.marks.map((mark) => `mg-${mark}`),
  ];
  if (item.glyph !== null) classes.push("mg-glyph");
  const closed = item.expandable ? ' aria-expanded="false"' : "";
  const shape = item.glyph === null ? drawRect(item, box) + drawWords(item, box) : drawGlyph(item.glyph, box);
  const hint = drawHint(item);
  return `<g class="${classes.join(" ")}" data-id="${escapeText(item.id)}"${closed} ${place}>${hint}${shape}</g>`;
}

/** A tooltip, where the drawing says less than there is. */
function drawHint(item: Item): string {
  const { name, detail } = boxWords(item);
  if (item.glyph === null && name === item.name && detail === item.detail) return "";
  return `<title>${words(item.glyph === null && item.detail !== "" ? `${item.name}\n${item.detail}` : item.name)}</title>`;
}

function drawRect(item: Item, box: Box): string {
  const stack = stackHeight(item);
  const height = box.height - stack;
  const rounding = isTerminal(item) ? height / 2 : RADIUS;
  const cards = stack > 0 ? `<path class="mg-cards" d="${stackedCards(box.width, height)}"/>` : "";
  return `${cards}<rect class="mg-box" width="${num(box.width)}" height="${num(height)}" rx="${num(rounding)}"/>`;
}

/** The lower edges of the cards below a rolled block. */
function stackedCards(width: number, height: number): string {
  let d = "";
  for (let card = 1; card <= STACK_CARDS; card += 1) {
    const inset = card * STACK_STEP;
    const flat = num(width - 2 * inset - 2 * STACK_STEP);
    d += `M${inset} ${num(height + inset - STACK_STEP)}q0 ${STACK_STEP} ${STACK_STEP} ${STACK_STEP}h${flat}q${STACK_STEP} 0 ${STACK_STEP} ${-STACK_STEP}`;
  }
  return d;
}

/** The cards behind a rolled panel, peeking out at its right and lower edge. */
function panelCards(box: Box): string {
  const path = (step: number) =>
    `M${num(box.width)} ${step + CORNER}h${step}V${num(box.height + step)}H${step + CORNER}v${-step}`;
  return `<path class="mg-cards" d="${path(BEHIND_PANEL / 2)}${path(BEHIND_PANEL)}"/>`;
}

function drawWords(item: Item, box: Box): string {
  const { name, detail } = boxWords(item);
  const middle = box.width / 2;
  const height = box.height - stackHeight(item);
  const sign = item.expandable ? drawSign(box.width - SIGN, height / 2, false) : "";
  const twoLines = isTwoLines(item);
  const pill = badgeWidth(item);
  const nameMiddle = pill === 0 ? middle : middle - (pill + GAP) / 2;
  const nameEnd = nameMiddle + textWidth(name, NAME_SIZE, true) / 2 + GAP;
  const base = twoLines ? 17 : height / 2 + 4;
  const beside = twoLines || detail === "" ? "" : ` <tspan class="mg-detail">${words(detail)}</tspan>`;
  const below = twoLines ? `<text class="mg-detail" x="${num(middle)}" y="32">${words(detail)}</text>` : "";
  const first = `<text class="mg-name" x="${num(nameMiddle)}" y="${num(base)}">${words(name)}${beside}</text>`;
  return `${first}${drawBadge(item, nameEnd, base - 12)}${below}${sign}`;
}

function drawBadge(item: Item, x: number, y: number): string {
  const width = badgeWidth(item);
  if (width === 0) return "";
  const rect = `<rect class="mg-pill" x="${num(x)}" y="${num(y)}" width="${num(width)}" height="16" rx="8"/>`;
  const sign = `<path class="mg-strokes" transform="translate(${num(x + 11)} ${num(y + 8)})" d="${TURN}"/>`;
  const loop = item.loop ? sign : "";
  const middle = x + (width + (loop === "" ? 0 : LOOP)) / 2;
  const text = `<text class="mg-times" x="${num(middle)}" y="${num(y + 12)}">${words(badge(item))}</text>`;
  const state = item.times > 1 ? "mg-repeat" : "mg-repeat mg-unrolled";
  const run = item.run === "" ? "" : ` data-run="${escapeText(item.run)}"`;
  return `<g class="${state}"${run}>${rect}${loop}${text}</g>`;
}

/** An arrow that goes round. */
const TURN = "M3 -2.6A4 4 0 1 0 4 0M3.6 -5v2.6h-2.6";

/** The sign for opening (+) or closing (−). */
function drawSign(x: number, y: number, open: boolean): string {
  const upright = open ? "" : `M${num(x + 4)} ${num(y - 4)}v8`;
  return `<path class="mg-sign" d="M${num(x)} ${num(y)}h8${upright}"/>`;
}

const SLANT = 4.2;
const STROKES: Readonly<Record<Glyph, string>> = {
  add: "M-6 0h12M0 -6v12",
  sub: "M-6 0h12",
  mul: `M${-SLANT} ${-SLANT}L${SLANT} ${SLANT}M${-SLANT} ${SLANT}L${SLANT} ${-SLANT}`,
  div: `M${-SLANT} ${SLANT}L${SLANT} ${-SLANT}`,
  cat: "M-2.5 -6v12M2.5 -6v12",
};

/** In a circle or, with many wires, in a pill as long as they need. */
function drawGlyph(glyph: Glyph, { width, height }: Box): string {
  const radius = GLYPH / 2;
  const circle = `<circle class="mg-box" cx="${radius}" cy="${radius}" r="${radius - 1}"/>`;
  const pill = `<rect class="mg-box" x="1" y="1" width="${num(width - 2)}" height="${num(height - 2)}" rx="${radius - 1}"/>`;
  const strokes = `transform="translate(${num(width / 2)} ${num(height / 2)})" d="${STROKES[glyph]}"`;
  return `${width === height ? circle : pill}<path class="mg-strokes" ${strokes}/>`;
}

// -- titles -----------------------------------------------------------------------------------------------------------

function drawTitle(item: Item, box: Box, title: Title): string {
  const { name, detail } = boxWords(item);
  const x = title.x + (item.kind === "group" ? 0 : CHEVRON);
  const base = title.y + 13;
  const nameEnd = x + textWidth(name, NAME_SIZE, true) + GAP;
  const pill = badgeWidth(item);
  const below = title.lines === 2;
  const detailX = below ? x : nameEnd + (pill === 0 ? 0 : pill + GAP);
  const detailY = below ? base + TITLE_LINE : base;
  const sign = item.kind === "group" ? "" : drawSign(title.x, base - 4, true);
  const hit = `<rect class="mg-hit" width="${num(box.width)}" height="${num(title.y + title.height)}"/>`;
  const second =
    detail === "" ? "" : `<text class="mg-detail" x="${num(detailX)}" y="${num(detailY)}">${words(detail)}</text>`;
  return `<g class="mg-header">${hit}${sign}<text class="mg-name" x="${num(x)}" y="${num(base)}">${words(name)}</text>${drawBadge(item, nameEnd, title.y + 1)}${second}</g>`;
}

// -- wires ------------------------------------------------------------------------------------------------------------

/** One path per tensor, so that branches share their beginning; an arrowhead wherever an item is reached. */
export function drawWires(frame: Frame, geometry: Geometry): string {
  const paths = new Map<string, { wires: Wire[]; d: string[] }>();
  frame.wires.forEach((wire, i) => {
    const key = `${wire.from} ${wire.flow} ${wire.source}`;
    const path = paths.get(key) ?? { wires: [], d: [] };
    paths.set(key, path);
    path.wires.push(wire);
    path.d.push(linePath(geometry.lines[i] ?? [], arrives(frame, wire)));
  });
  return [...paths.values()].map(({ wires, d }) => drawPath(frame, wires, d.join(""))).join("");
}

/** Wires end with an arrowhead at what they reach, not at borders they only pass. */
function arrives(frame: Frame, wire: Wire): boolean {
  return wire.to >= 0 && (frame.items[wire.to]?.frame ?? null) === null;
}

function drawPath(frame: Frame, wires: Wire[], d: string): string {
  const [first] = wires;
  if (first === undefined) return "";
  const name = (end: number) => escapeText(end < 0 ? frame.id : (frame.items[end]?.id ?? ""));
  const flow = first.flow === "data" ? "" : ` mg-flow-${first.flow}`;
  const targets = [...new Set(wires.map((wire) => name(wire.to)))].join(" ");
  return `<path class="mg-edge${flow}" data-from="${name(first.from)}" data-to="${targets}" data-tensor="${escapeText(first.tensor)}" d="${d}"/>`;
}

type Line = readonly (readonly [x: number, y: number])[];

/** Straight pieces with rounded corners, and an open arrowhead at the end. */
export function linePath(line: Line, arrow: boolean): string {
  const points = line.filter((point, i) => i === 0 || !same(point, line[i - 1]));
  const [first] = points;
  if (first === undefined) return "";
  let d = `M${pair(first)}`;
  for (let i = 1; i + 1 < points.length; i += 1) d += corner(points[i - 1], points[i], points[i + 1]);
  const last = points[points.length - 1];
  const before = points[points.length - 2];
  if (last === undefined || before === undefined) return d;
  return arrow ? d + arrowEnd(before, last) : `${d}L${pair(last)}`;
}

function same(a: Line[number], b: Line[number] | undefined): boolean {
  return b !== undefined && Math.abs(a[0] - b[0]) + Math.abs(a[1] - b[1]) < 0.05;
}

function corner(
  before: Line[number] | undefined,
  at: Line[number] | undefined,
  after: Line[number] | undefined,
): string {
  if (before === undefined || at === undefined || after === undefined) return "";
  const radius = Math.min(RADIUS, distance(before, at) / 2, distance(at, after) / 2);
  return `L${pair(towards(at, before, radius))}Q${pair(at)} ${pair(towards(at, after, radius))}`;
}

function arrowEnd(before: Line[number], last: Line[number]): string {
  const tip = towards(last, before, TIP);
  const back = towards(last, before, TIP + ARROW[0]);
  const length = distance(before, last) || 1;
  const aside = [((last[1] - before[1]) / length) * ARROW[1], ((before[0] - last[0]) / length) * ARROW[1]] as const;
  const left = [back[0] + aside[0], back[1] + aside[1]] as const;
  const right = [back[0] - aside[0], back[1] - aside[1]] as const;
  return `L${pair(tip)}M${pair(left)}L${pair(tip)}L${pair(right)}`;
}

function distance(a: Line[number], b: Line[number]): number {
  // Math.hypot may differ between engines in its last digit; a square root may not
  return Math.sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]));
}

function towards(from: Line[number], to: Line[number], by: number): Line[number] {
  const length = distance(from, to) || 1;
  return [from[0] + ((to[0] - from[0]) * by) / length, from[1] + ((to[1] - from[1]) * by) / length];
}

export function drawLabel(label: Label, wire: Wire | undefined): string {
  if (wire === undefined) return "";
  const place = `x="${num(label.before ? label.x + label.width : label.x)}" y="${num(label.y + 9)}"`;
  return `<text class="mg-label${label.before ? " mg-before" : ""}" data-tensor="${escapeText(wire.tensor)}" ${place}>${words(wire.label)}</text>`;
}

// -- text -------------------------------------------------------------------------------------------------------------

function pair(point: Line[number]): string {
  return `${num(point[0])} ${num(point[1])}`;
}

/** One decimal, the same in every engine. */
function num(value: number): string {
  const rounded = Math.round(value * 10) / 10;
  return String(rounded === 0 ? 0 : rounded);
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};
/** What XML can write; a name that carries anything else is shown with the replacement sign. */
const UNWRITABLE = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu;
/** What is nothing to be seen, but changes how the text around it reads. */
const TURNING = /[\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

/** Words to be read. */
function words(text: string): string {
  return escapeText(text.replace(TURNING, "\ufffd"));
}

/** Text that is safe in an attribute and between tags. */
export function escapeText(text: string): string {
  return text.replace(/[&<>"']/g, (char) => ENTITIES[char] ?? char).replace(UNWRITABLE, "\ufffd");
}
