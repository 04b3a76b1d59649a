/** Writes code into boxes, in px on screen, so that its size doesn't change with the scale. */
import type { Box } from "../../layout/layout.js";
import { nameOf } from "../../session/levels.js";
import type { Item } from "../../view/frame.js";
import { svg } from "../controls/dom.js";
import { sourceUrl } from "../controls/source_link.js";
import { broken } from "./lines.js";

/** Distances between lines, and around them, px on screen. */
const [NAME, LINE, PLACE] = [18, 15, 15];
const PADDING = 9;
/** Width of a character of code and of names of places, px on screen; for the bold name, more than most letters need. */
const [CODE_WIDTH, PLACE_WIDTH, NAME_WIDTH] = [6.9, 6.3, 8];
const LEAST_COLUMNS = 14;
const MOST_LINES = 8;

export interface Face {
  name: string;
  detail: string;
  lines: readonly string[];
  /** File and line, shortened to fit, and in full. */
  place: string;
  source: string;
  box: Box;
  /** Distance from the upper edge of the box to the first line, px on screen. */
  top: number;
}

/** The contents of a box with code; undefined if it has no room, or an image. */
export function faceOf(item: Item, box: Box, scale: number, code: readonly string[], source: string): Face | undefined {
  const [width, height] = [box.width * scale - 2 * PADDING, box.height * scale - 2 * PADDING];
  const columns = Math.floor(width / CODE_WIDTH);
  const room = Math.min(MOST_LINES, Math.floor((height - NAME - PLACE) / LINE));
  const name = nameOf(item);
  const isTooNarrow = columns < LEAST_COLUMNS || name.length * NAME_WIDTH > width;
  if (isTooNarrow || room < 1 || item.thumb !== undefined || item.moreImages !== undefined) return undefined;
  const lines = broken(code, columns, room);
  const spare = height - NAME - PLACE - lines.length * LINE;
  const isShort = (name.length + item.detail.length + 2) * NAME_WIDTH <= width;
  const place = shortened(source, Math.floor(width / PLACE_WIDTH));
  return { name, detail: isShort ? item.detail : "", lines, place, source, box, top: PADDING + spare / 2 };
}

/** Shortens a path at the start, because its end says most. */
function shortened(source: string, columns: number): string {
  return source.length <= columns ? source : `…${source.slice(source.length - columns + 1)}`;
}

/** @param templates of links to lines of code */
export function layer(faces: readonly Face[], scale: number, templates: string): SVGElement {
  const attributes = { class: "mg-codes", "aria-hidden": "true" };
  return svg("g", attributes, ...faces.map((face) => drawn(face, scale, templates)));
}

function drawn(face: Face, scale: number, templates: string): SVGElement {
  const { x, y: top } = face.box;
  const group = svg("g", { class: "mg-code", transform: `translate(${x}, ${top}) scale(${1 / scale})` });
  let y = face.top + NAME - 5;
  const add = (className: string, text: string, below: number) => {
    const line = svg("text", { class: className, x: PADDING, y }, text);
    y += below;
    return line;
  };
  const title = add("mg-code-name", face.name, LINE);
  if (face.detail !== "") title.append(svg("tspan", { class: "mg-code-detail", dx: 8 }, face.detail));
  // leading spaces would collapse
  const lines = face.lines.map((line) => add("mg-code-line", line.replaceAll(" ", "\u00a0"), LINE));
  y += 1;
  const place = add("mg-code-place", face.place, PLACE);
  const url = sourceUrl(templates, face.source);
  group.append(title, ...lines, url === undefined ? place : linked(place, url));
  return group;
}

/** A link for mouse and touch; for the keyboard, the same link is in the details. */
function linked(content: SVGElement, url: string): SVGElement {
  const link = svg("a", { href: url, tabindex: -1 }, content);
  link.addEventListener("click", (event) => event.stopPropagation());
  return link;
}
