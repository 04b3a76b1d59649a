/**
 * Picture → flat SVG, for whatever draws SVG and is no browser: no style sheet, no classes, no variables, no
 * `currentColor`; plain colours on every shape, and text as outlines, or as text in one named font.
 */
import { type Colour, hex, parseColour, TRANSPARENT } from "./colour.js";
import { declarations, parseSheet, type Theme } from "./css.js";
import { parseXml, unescapeText, type XmlElement } from "./xml.js";

/** Measures and draws text; sizes and places are in px. */
export interface Typeface {
  /** Whether it has every character of a text. */
  has(text: string): boolean;
  set(text: string, size: number, bold: boolean): SetText;
}

/** A line of text as glyphs. */
export interface SetText {
  width: number;
  /** `d` is path data with its origin on the base line; `x` the distance from the line's beginning. */
  glyphs: { char: string; x: number; d: string }[];
}

/** The fonts of text that stays text; any sans-serif fits the boxes (see text.ts). */
const FAMILY = "Inter, Arial, Helvetica, 'Liberation Sans', 'DejaVu Sans', sans-serif";
/** Of text with characters that our font does not have: whatever the machine has. */
const FOREIGN = "sans-serif";
const BOLD = 600;

const INHERITED = [
  "fill",
  "stroke",
  "stroke-width",
  "stroke-dasharray",
  "stroke-linecap",
  "stroke-linejoin",
  "font-size",
  "font-weight",
  "text-anchor",
] as const;
const OWN = ["opacity", "background"] as const;
/** Says nothing about a still picture, or is ours to say. */
const IGNORED = new Set(["font-family", "cursor", "pointer-events", "outline", "transition", "forced-color-adjust"]);
const KNOWN = new Set<string>(["color", ...INHERITED, ...OWN]);

/** Which attributes are geometry, and so stay. */
const GEOMETRY = new Set(["x", "y", "width", "height", "rx", "ry", "cx", "cy", "r", "d", "transform"]);

/** An element's style as a browser would compute it. */
interface Style {
  variables: ReadonlyMap<string, string>;
  current: Colour;
  fill: Colour;
  stroke: Colour;
  /** Plain values of the properties above. */
  values: ReadonlyMap<string, string>;
}

const INITIAL: Style = {
  variables: new Map(),
  current: [0, 0, 0, 1],
  fill: [0, 0, 0, 1],
  stroke: TRANSPARENT,
  values: new Map(),
};

interface Flattening {
  rules: ReturnType<typeof parseSheet>;
  typeface: Typeface;
  asOutlines: boolean;
  /** Each outline once: id → path data. Ids are made of what is drawn, so they may meet those of other pictures. */
  outlines: Map<string, string>;
}

/**
 * @param svg what draw.ts made
 * @param sheet picture.css
 * @param theme whose colours it gets; its background, too
 * @param typeface our font
 * @param asOutlines whether text is drawn in it; otherwise it is named, and text stays text
 */
export function flatten(svg: string, sheet: string, theme: Theme, typeface: Typeface, asOutlines: boolean): string {
  const root = parseXml(svg);
  const flattening: Flattening = { rules: parseSheet(sheet, theme), typeface, asOutlines, outlines: new Map() };
  const style = computeStyle(flattening, [root], INITIAL);
  const page = style.values.get("background");
  if (page === undefined) throw new Error(`expected a background for .mg-svg:root (${theme}) in the picture's style`);
  const [size, width, height] = ["viewBox", "width", "height"].map((name) => root.attributes.get(name) ?? "");
  // where the picture is scaled, width and height are not in its own units
  const [x, y, across, down] = (size ?? "").split(" ");
  const whole = `x="${x}" y="${y}" width="${across}" height="${down}"`;
  const background = `<rect ${whole} ${paint("fill", parseColour(page, style.current))}/>`;
  const drawn = root.children.map((child) => emit(flattening, child, [root], style)).join("");
  // not every reader knows SVG 2's plain `href`
  const names = `xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"`;
  const frame = `viewBox="${size}" width="${width}" height="${height}"`;
  return `<svg ${names} ${frame}>${drawOutlines(flattening)}${background}${drawn}</svg>`;
}

function emit(flattening: Flattening, node: XmlElement | string, above: XmlElement[], around: Style): string {
  if (typeof node === "string" || node.name === "title") return "";
  const path = [...above, node];
  const style = computeStyle(flattening, path, around);
  if (node.name === "text") return emitText(flattening, node, path, style);
  const geometry = [...node.attributes].filter(([name]) => GEOMETRY.has(name));
  const kept = geometry.map(([name, value]) => ` ${name}="${value}"`).join("") + opacity(style);
  if (node.name === "g") {
    const inside = node.children.map((child) => emit(flattening, child, path, style)).join("");
    return kept === "" || inside === "" ? inside : `<g${kept}>${inside}</g>`;
  }
  if (style.fill[3] === 0 && style.stroke[3] === 0) return "";
  return `<${node.name}${kept} ${paint("fill", style.fill)}${strokes(style)}/>`;
}

// -- style ------------------------------------------------------------------------------------------------------------

function computeStyle(flattening: Flattening, path: readonly XmlElement[], around: Style): Style {
  const declared = declarations(flattening.rules, path);
  const variables = new Map(around.variables);
  for (const [name, value] of declared) if (name.startsWith("--")) variables.set(name, substitute(value, variables));
  const values = new Map([...around.values].filter(([name]) => !OWN.some((own) => own === name)));
  for (const [name, value] of declared) {
    if (name.startsWith("--") || IGNORED.has(name)) continue;
    if (!KNOWN.has(name)) throw new Error(`expected only ${[...KNOWN].join(", ")} in the picture's style, got ${name}`);
    values.set(name, substitute(value, variables));
  }
  const declaredColour = (name: string, inherited: Colour, current: Colour) => {
    const value = declared.has(name) ? values.get(name) : undefined;
    if (value === undefined || value === "inherit") return inherited;
    return value === "none" ? TRANSPARENT : parseColour(value, current);
  };
  const current = declaredColour("color", around.current, around.current);
  const [fill, stroke] = (["fill", "stroke"] as const).map((name) => declaredColour(name, around[name], current));
  return { variables, current, fill: fill ?? around.fill, stroke: stroke ?? around.stroke, values };
}

/** A value with its `var(--name, default)` filled in. */
function substitute(value: string, variables: ReadonlyMap<string, string>): string {
  const start = value.indexOf("var(");
  if (start < 0) return value;
  let end = start + 4;
  for (let depth = 1; depth > 0; end += 1) {
    if (end >= value.length) throw new Error(`expected balanced parentheses in ${value}`);
    if (value[end] === "(") depth += 1;
    if (value[end] === ")") depth -= 1;
  }
  const inner = value.slice(start + 4, end - 1);
  const [name] = inner.split(",", 1);
  const known = variables.get((name ?? "").trim());
  const filled = known ?? substitute(inner.slice((name ?? "").length + 1).trim(), variables);
  if (filled === "") throw new Error(`expected a value or a default for ${name} in the picture's style`);
  return substitute(value.slice(0, start) + filled + value.slice(end), variables);
}

function paint(name: "fill" | "stroke", colour: Colour): string {
  if (colour[3] === 0) return `${name}="none"`;
  const alpha = colour[3] === 1 ? "" : ` ${name}-opacity="${round(colour[3])}"`;
  return `${name}="${hex(colour)}"${alpha}`;
}

function strokes(style: Style): string {
  if (style.stroke[3] === 0) return "";
  const names = INHERITED.filter((name) => name.startsWith("stroke-") && style.values.has(name));
  return ` ${[paint("stroke", style.stroke), ...names.map((name) => `${name}="${plain(style, name)}"`)].join(" ")}`;
}

function opacity(style: Style): string {
  return style.values.has("opacity") ? ` opacity="${plain(style, "opacity")}"` : "";
}

/** A value without its unit, which is px. */
function plain(style: Style, name: string): string {
  return (style.values.get(name) ?? "").replace(/px\b/g, "");
}

// -- text -------------------------------------------------------------------------------------------------------------

interface Run {
  /** With entities, as it is written. */
  text: string;
  style: Style;
}

function emitText(flattening: Flattening, node: XmlElement, path: XmlElement[], style: Style): string {
  const runs = node.children.map((child): Run => {
    if (typeof child === "string") return { text: child, style };
    const text = child.children.filter((inner) => typeof inner === "string").join("");
    return { text, style: computeStyle(flattening, [...path, child], style) };
  });
  if (!runs.every((run) => flattening.typeface.has(unescapeText(run.text)))) return text(node, runs, style, FOREIGN);
  return flattening.asOutlines ? outlines(flattening, node, runs, style) : text(node, runs, style, FAMILY);
}

function text(node: XmlElement, runs: Run[], style: Style, family: string): string {
  const [x, y] = ["x", "y"].map((name) => node.attributes.get(name) ?? "0");
  const spans = runs.map((run) => `<tspan ${fontOf(run.style)} ${paint("fill", run.style.fill)}>${run.text}</tspan>`);
  const anchor = plain(style, "text-anchor") || "start";
  return `<text x="${x}" y="${y}" font-family="${family}" text-anchor="${anchor}"${opacity(style)}>${spans.join("")}</text>`;
}

function fontOf(style: Style): string {
  return `font-size="${fontSize(style)}" font-weight="${isBold(style) ? BOLD : 400}"`;
}

function outlines(flattening: Flattening, node: XmlElement, runs: Run[], style: Style): string {
  const { typeface } = flattening;
  const lines = runs.map(({ text, style }) => typeface.set(unescapeText(text), fontSize(style), isBold(style)));
  const share = { start: 0, middle: 0.5, end: 1 }[plain(style, "text-anchor")] ?? 0;
  let x = Number(node.attributes.get("x") ?? 0) - lines.reduce((sum, { width }) => sum + width, 0) * share;
  const y = node.attributes.get("y") ?? "0";
  const drawn = runs.map((run, i) => {
    const line = lines[i];
    const uses = (line?.glyphs ?? []).map((glyph) => {
      if (glyph.d === "") return "";
      const id = `mg-${glyph.char.codePointAt(0)}-${fontSize(run.style)}-${isBold(run.style) ? BOLD : 400}`;
      flattening.outlines.set(id, glyph.d);
      return `<use xlink:href="#${id}" x="${round(x + glyph.x)}" y="${y}"/>`;
    });
    x += line?.width ?? 0;
    return uses.every((use) => use === "") ? "" : `<g ${paint("fill", run.style.fill)}>${uses.join("")}</g>`;
  });
  return style.values.has("opacity") ? `<g${opacity(style)}>${drawn.join("")}</g>` : drawn.join("");
}

function drawOutlines({ outlines }: Flattening): string {
  if (outlines.size === 0) return "";
  return `<defs>${[...outlines].map(([id, d]) => `<path id="${id}" d="${d}"/>`).join("")}</defs>`;
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}

function fontSize(style: Style): number {
  return Number(plain(style, "font-size") || 16);
}

function isBold(style: Style): boolean {
  const weight = style.values.get("font-weight") ?? "400";
  return weight === "bold" || Number(weight) >= BOLD;
}
