/** Levels of detail: where a picture is too small to read, which containers are one block each, and which boxes get larger names. */
import type { Box, Placed } from "../layout/layout.js";

/** Names are 12 px high at scale 1, and legible from 7 px on. Blocks appear below the first scale, and disappear above the second. */
const FAR = 7 / 12;
const NEAR = 0.64;
/** Height of a block's name, and the least that it may be reduced to, px on screen; the least of other names. */
const LARGEST_TEXT = 13;
const SMALLEST_TEXT = 9;
const LEGIBLE = 7;
const LARGEST_TITLE = 11;
/** Width of a character, more than that of most letters, and room around a line, in heights of the text. */
const CHARACTER = 0.64;
const ROOM = 0.8;
/** The same above and below, where there is little. */
const TIGHT = 0.15;
/** A container is a block until this share of what is in it has room for names; of containers, at a scale smaller by a factor. */
const SHARE = 0.5;
const AMPLE = 1.5;
/** Blocks open at a scale larger than that at which they closed by this factor. */
const STEADY = 1.1;

export interface Block {
  /** Where it is in the picture. */
  box: Box;
  /** One or two lines. */
  lines: readonly string[];
  /** Height of the first line, px on screen. */
  size: number;
  /** `block` covers the inside of a container; `box` and `title` are larger names of what is closed and open. */
  kind: "block" | "box" | "title";
  /** The middle of the text, of a title its beginning, from the upper left corner. */
  x: number;
  y: number;
}

type Item = Placed["frame"]["items"][number];

/**
 * The blocks of a picture at a scale, by id: of nested containers, the innermost that leave most names legible.
 *
 * @param before the blocks that are shown, which stay as long as they can
 */
export function blocks(root: Placed, scale: number, before: ReadonlyMap<string, Block>): Map<string, Block> {
  const found = new Map<string, Block>();
  if (scale > 0 && scale < (before.size > 0 ? NEAR : FAR)) collect(root, { x: 0, y: 0 }, scale, before, found);
  return found;
}

function collect(
  { frame, geometry, inner }: Placed,
  origin: { x: number; y: number },
  scale: number,
  before: ReadonlyMap<string, Block>,
  found: Map<string, Block>,
): void {
  frame.items.forEach((item, i) => {
    const [inside, at] = [inner[i] ?? null, geometry.boxes[i]];
    if (at === undefined || item.glyph !== null) return;
    const box = { ...at, x: origin.x + at.x, y: origin.y + at.y };
    const isBlock = before.get(item.id)?.kind === "block";
    const shown = formOf(item, box, inside, isBlock ? scale / STEADY : scale, scale);
    if (shown !== undefined) found.set(item.id, shown);
    if (inside !== null && shown?.kind !== "block") collect(inside, box, scale, before, found);
  });
}

/** @param opening at which scale it opens */
function formOf(item: Item, box: Box, inside: Placed | null, opening: number, scale: number): Block | undefined {
  const block = labelled(item, box, scale, inside === null ? "box" : "block");
  if (inside === null || (block !== undefined && !opens(inside, opening))) return block;
  return titled(item, box, inside.geometry.title, scale);
}

/** Whether enough of what is directly inside has room for its name. */
function opens({ frame, geometry, inner }: Placed, scale: number): boolean {
  let [all, legible] = [0, 0];
  frame.items.forEach((item, i) => {
    const box = geometry.boxes[i];
    if (item.glyph !== null || box === undefined) return;
    all += 1;
    const found = inner[i] ? labelled(item, box, scale / AMPLE, "block") : labelled(item, box, scale, "box");
    if (found !== undefined) legible += 1;
  });
  return all > 0 && legible >= SHARE * all;
}

/** A name with what else fits below it; undefined where not even the name does. */
function labelled(item: Item, box: Box, scale: number, kind: "block" | "box"): Block | undefined {
  const name = nameOf(item);
  const [width, height] = [box.width * scale, box.height * scale];
  const fitting = (text: string) => Math.min(LARGEST_TEXT, width / (text.length * CHARACTER + ROOM));
  const size = Math.min(fitting(name), height / (1 + (kind === "box" ? TIGHT : ROOM)));
  if (name === "" || size < (kind === "box" ? LEGIBLE : SMALLEST_TEXT)) return undefined;
  const isRoomy = item.detail !== "" && fitting(item.detail) >= SMALLEST_TEXT && height >= 4 * size;
  const at = { box, kind, x: box.width / 2, y: box.height / 2 };
  return isRoomy
    ? { ...at, lines: [name, item.detail], size: Math.min(size, fitting(item.detail)) }
    : { ...at, lines: [name], size };
}

/** The name of a container whose inside is shown, as large as the place of its title allows. */
function titled(item: Item, box: Box, title: Box | null, scale: number): Block | undefined {
  if (title === null) return undefined;
  const name = nameOf(item);
  const wide = (title.width * scale) / (name.length * CHARACTER);
  const height = title.y + title.height;
  const size = Math.min(LARGEST_TITLE, wide, (height * scale) / (1 + TIGHT));
  const at = { box, kind: "title" as const, x: title.x, y: height / 2 };
  return name === "" || size < LEGIBLE ? undefined : { ...at, lines: [name], size };
}

function nameOf({ name, times }: Item): string {
  return times > 1 ? `${name} ×${times}` : name;
}
