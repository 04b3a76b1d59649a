/**
 * A painter for SVG programs other than browsers: no style sheet, classes or variables, but plain colours on every shape,
 * and text as outlines or in named fonts.
 */
import { type DrawnShape, type Painter, type Size, sizeAttributes, type Text } from "../draw/painter.js";
import { AMOUNT, BELOW, ERROR, HUES, type Hue, hueOf, PAPER, THEMES, type Theme } from "../draw/palette.js";
import { type Paint, type Style, type StyleContext, styleOf } from "../draw/style.js";
import { escapeText, num } from "../draw/svg_text.js";
import { readable } from "../shared/text.js";

/** Measures and draws text; sizes and positions are in px. */
export interface Typeface {
  /** Whether it has every character of a text. */
  has(text: string): boolean;
  set(text: string, size: number, bold: boolean): SetText;
}

/** A line of text as glyphs. */
export interface SetText {
  width: number;
  /** `d` is path data with its origin on the baseline; `x` is the distance from the start of the line. */
  glyphs: { char: string; x: number; d: string }[];
}

/** Colours as `#rrggbb`. */
export interface Colours {
  text: string;
  background: string;
  error: string;
  hues: Readonly<Record<Hue, string>>;
}

/** Text options of a flat picture. */
interface Lettering {
  /** If null, the reader's fonts must cover every character. */
  typeface: Typeface | null;
  /** Whether to convert text to shapes. */
  outlines: boolean;
}

/** Fonts of text that isn't converted; any sans-serif font fits the boxes (see text_metrics.ts). */
const FAMILY = "Inter, Arial, Helvetica, 'Liberation Sans', 'DejaVu Sans', sans-serif";
/** For text with characters that our font lacks. */
const SYSTEM_FAMILY = "sans-serif";
const BOLD = 600;
const REGULAR = 400;

/** The colours of a standalone picture, including those of a site's palette. */
export function themeColours(theme: Theme, palette: Partial<Record<Hue, string>> | null = {}): Colours {
  return { ...THEMES[theme], error: ERROR, hues: { ...HUES, ...palette } };
}

/** A painter for one picture. */
export function flatPainter(colours: Colours, { typeface, outlines }: Lettering): Painter {
  // each glyph once; ids depend only on outlines, so equal ids of other pictures on a page do no harm
  const glyphs = new Map<string, string>();
  const ink = (context: StyleContext) => ({
    ...colours,
    paper: PAPER,
    amount: AMOUNT,
    below: BELOW,
    hue: colours.hues[hueOf(context.family)],
  });

  return {
    picture: (size, shown, content) => svgText(size, shown, colours, glyphs, content),
    group({ classes, transform = "" }, content) {
      const kept = `${transform && ` ${transform}`}${opacity(styleOf(classes, []))}`;
      const lines = classes.includes("edges") ? alike(content) : content;
      return kept === "" || content === "" ? lines : `<g${kept}>${lines}</g>`;
    },
    shape: (shape) => shapeText(shape, ink(shape.context)),
    text(text) {
      const runs = runsOf(text, ink(text.context));
      if (typeface !== null && !runs.every((run) => typeface.has(run.text)))
        return textElement(text, runs, SYSTEM_FAMILY);
      return typeface !== null && outlines ? outlineText(text, runs, typeface, glyphs) : textElement(text, runs);
    },
    image: (source, geometry) => `<image xlink:href="${escapeText(source)}" ${geometry}/>`,
    tooltip: () => "",
  };
}

interface Ink {
  hue: string;
  text: string;
  error: string;
  paper: string;
  amount: string;
  below: string;
}

function svgText(
  size: Size,
  shown: Size,
  { text, background }: Colours,
  glyphs: ReadonlyMap<string, string>,
  content: string,
): string {
  // some programs don't support the plain `href` of SVG 2
  const links = content.includes("xlink:") ? ` xmlns:xlink="http://www.w3.org/1999/xlink"` : "";
  const names = `xmlns="http://www.w3.org/2000/svg"${links}`;
  const definitions = [...glyphs].map(([id, d]) => `<path id="${id}" d="${d}"/>`).join("");
  const defs = definitions === "" ? "" : `<defs>${definitions}</defs>`;
  const page = `<rect x="0" y="0" width="${num(size.width)}" height="${num(size.height)}" fill="${background}"/>`;
  const family = content.includes("<text ") ? ` font-family="${FAMILY}"` : "";
  return `<svg ${names} ${sizeAttributes(size, shown)}${family} fill="${text}">${defs}${page}${content}</svg>`;
}

function shapeText({ tag, roles, context, geometry }: DrawnShape, ink: Ink): string {
  const style = styleOf(roles, context.classes);
  const { fill = "none", stroke = "none" } = style;
  if (isInvisible(fill) && isInvisible(stroke)) return "";
  return `<${tag} ${geometry}${opacity(style)}${paint("fill", fill, ink)}${strokeAttributes(style, ink)}/>`;
}

/** Groups consecutive lines of one style, so that the style is written once. */
function alike(content: string): string {
  return content.replace(/<path d="[^"]*"( fill="none"[^>]*)\/>(?:<path d="[^"]*"\1\/>)+/g, (paths, style: string) => {
    return `<g${style}>${paths.replaceAll(style, "")}</g>`;
  });
}

function isInvisible(paint: Paint): boolean {
  return typeof paint === "string";
}

const STROKE = ["stroke-width", "stroke-dasharray", "stroke-linecap", "stroke-linejoin"] as const;

function strokeAttributes(style: Style, ink: Ink): string {
  if (style.stroke === undefined || isInvisible(style.stroke)) return "";
  // SVG assumes a width of 1
  const lines = STROKE.filter((name) => style[name] !== undefined && style[name] !== 1).map(
    (name) => ` ${name}="${style[name]}"`,
  );
  return [paint("stroke", style.stroke, ink), ...lines].join("");
}

/** Colour and opacity as separate attributes: few programs support more than `#rrggbb`. */
function paint(name: "fill" | "stroke", value: Paint, ink: Ink): string {
  if (typeof value === "string") return ` ${name}="none"`;
  const alpha = value.share === 100 ? "" : ` ${name}-opacity="${round(value.share / 100)}"`;
  // the colour of text is the default fill of the picture
  const colour = name === "fill" && ink[value.of] === ink.text ? "" : ` ${name}="${ink[value.of]}"`;
  return `${colour}${alpha}`;
}

function opacity(style: Style): string {
  return style.opacity === undefined ? "" : ` opacity="${style.opacity}"`;
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}

// -- text -------------------------------------------------------------------------------------------------------------

/** A piece of a line in one style. */
interface Run {
  text: string;
  size: number;
  bold: boolean;
  fill: string;
}

function runsOf({ roles, context, text, detail = "" }: Text, ink: Ink): Run[] {
  const run = (words: string, style: Style): Run => ({
    text: readable(words),
    size: style["font-size"] ?? 0,
    bold: (style["font-weight"] ?? REGULAR) >= BOLD,
    fill: paint("fill", style.fill ?? "none", ink),
  });
  const own = styleOf(["text", ...roles], context.classes);
  const beside = detail === "" ? [] : [run(detail, { ...own, ...styleOf(["detail"], []) })];
  return [run(detail === "" ? text : `${text} `, own), ...beside].filter((one) => one.text !== "");
}

function anchorOf({ roles, context }: Text): "start" | "middle" | "end" {
  return styleOf(["text", ...roles], context.classes)["text-anchor"] ?? "start";
}

/** Text in its own font, or in that of the picture. */
function textElement(text: Text, runs: Run[], family?: string): string {
  const spans = runs.map((run) => [fontAttributes(run), escapeText(run.text)] as const);
  const font = family === undefined ? "" : ` font-family="${family}"`;
  const anchor = anchorOf(text);
  const attributes = `x="${num(text.x)}" y="${num(text.y)}"${font}${anchor === "start" ? "" : ` text-anchor="${anchor}"`}`;
  const [[style, words] = ["", ""], ...others] = spans;
  if (others.length === 0) return `<text ${attributes}${style}>${words}</text>`;
  return `<text ${attributes}>${spans.map(([own, text]) => `<tspan${own}>${text}</tspan>`).join("")}</text>`;
}

function fontAttributes({ size, bold, fill }: Run): string {
  return ` font-size="${size}"${bold ? ` font-weight="${BOLD}"` : ""}${fill}`;
}

function outlineText(text: Text, runs: Run[], typeface: Typeface, glyphs: Map<string, string>): string {
  const lines = runs.map((run) => ({ run, line: typeface.set(run.text, run.size, run.bold) }));
  const share = { start: 0, middle: 0.5, end: 1 }[anchorOf(text)];
  let x = Number(num(text.x)) - lines.reduce((sum, { line }) => sum + line.width, 0) * share;
  const drawn = lines.map(({ run, line }) => {
    const uses = line.glyphs.map((glyph) => {
      if (glyph.d === "") return "";
      const id = `mg-${glyph.char.codePointAt(0)}-${run.size}-${run.bold ? BOLD : REGULAR}`;
      glyphs.set(id, glyph.d);
      return `<use xlink:href="#${id}" x="${round(x + glyph.x)}" y="${num(text.y)}"/>`;
    });
    x += line.width;
    const outlines = uses.join("");
    return outlines === "" || run.fill === "" ? outlines : `<g${run.fill}>${outlines}</g>`;
  });
  return drawn.join("");
}
