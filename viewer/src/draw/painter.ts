/** Painters turn the parts of a picture into SVG text. The one for pages writes classes, which a style sheet colours. */

import { readable } from "../shared/text.js";
import {
  detailAttributes,
  PICTURE_ATTRIBUTES,
  shapeAttributes,
  textAttributes,
  WIRES_ATTRIBUTES,
} from "./attributes.js";
import type { Role, StyleContext } from "./style.js";
import { escapeText, num } from "./svg_text.js";

/** Attributes for the widget, without the `data-`. */
type Data = Readonly<Record<string, string>>;

export interface GroupAttributes {
  classes: readonly string[];
  data?: Data;
  /** Value of `aria-expanded`; absent if the node can't be expanded. */
  expanded?: boolean | undefined;
  /** A `transform`. */
  transform?: string;
  /** Whether the page makes it a link. */
  isLink?: boolean;
}

export interface DrawnShape {
  tag: "rect" | "circle" | "path";
  /** The main role first. */
  roles: readonly [Role, ...Role[]];
  context: StyleContext;
  data?: Data;
  /** Attributes. */
  geometry: string;
}

export interface Text {
  roles: readonly [Role, ...Role[]];
  context: StyleContext;
  data?: Data;
  x: number;
  /** Of the baseline. */
  y: number;
  text: string;
  /** Text after it on the same line, with the role `detail`. */
  detail?: string;
  detailData?: Data;
}

export interface Size {
  width: number;
  height: number;
}

export interface Painter {
  /** The `<svg>` element; `size` is the natural size, `shown` the displayed one. */
  picture(size: Size, shown: Size, content: string): string;
  group(group: GroupAttributes, content: string): string;
  shape(shape: DrawnShape): string;
  text(text: Text): string;
  /** An image by its `data:` URL, as large as fits. */
  image(source: string, geometry: string): string;
  /** Text that a group shows on hover. */
  tooltip(text: string): string;
}

/** For pages: classes for the style sheet, and attributes for where it is missing. */
export const PAGE_PAINTER: Painter = {
  picture: (size, shown, content) =>
    `<svg xmlns="http://www.w3.org/2000/svg" class="mg-svg" ${sizeAttributes(size, shown)} ${PICTURE_ATTRIBUTES}>${content}</svg>`,

  group({ classes, data = {}, expanded, transform, isLink = false }, content) {
    const tag = isLink ? "a" : "g";
    const open = expanded === undefined ? "" : ` aria-expanded="${expanded}"`;
    const place = transform === undefined ? "" : ` ${transform}`;
    const style = classes.includes("edges") ? WIRES_ATTRIBUTES : "";
    return `<${tag} ${classAttribute(classes)}${dataAttributes(data)}${open}${place}${style}>${content}</${tag}>`;
  },

  shape: ({ tag, roles, context, data = {}, geometry }) =>
    `<${tag} ${classAttribute(roles)}${dataAttributes(data)} ${geometry}${shapeAttributes(roles, context)}/>`,

  text({ roles, context, data = {}, x, y, text, detail = "", detailData = {} }) {
    const style = detailAttributes(roles, context);
    const tspan = `<tspan class="mg-detail"${dataAttributes(detailData)}${style}>${displayed(detail)}</tspan>`;
    const beside = detail === "" ? "" : ` ${tspan}`;
    const place = `x="${num(x)}" y="${num(y)}"${textAttributes(roles, context)}`;
    const attributes = `${classAttribute(roles)}${dataAttributes(data)} ${place}`;
    return `<text ${attributes}>${displayed(text)}${beside}</text>`;
  },

  image: (source, geometry) => `<image href="${escapeText(source)}" ${geometry}/>`,

  tooltip: (text) => `<title>${displayed(text)}</title>`,
};

/** The size attributes of an `<svg>`. */
export function sizeAttributes({ width, height }: Size, shown: Size): string {
  return `viewBox="0 0 ${num(width)} ${num(height)}" width="${shown.width}" height="${shown.height}"`;
}

function classAttribute(classes: readonly string[]): string {
  return `class="${classes.map((name) => `mg-${name}`).join(" ")}"`;
}

function dataAttributes(data: Data): string {
  return Object.entries(data)
    .map(([name, value]) => ` data-${name}="${escapeText(value)}"`)
    .join("");
}

function displayed(text: string): string {
  return escapeText(readable(text));
}
