/** Levels of detail: in a picture too small to read, which containers become blocks and which boxes get larger names. */

import type { Box, Placed } from "../layout/layout.js";
import { memoByObject } from "../shared/memo.js";
import { type Item, timesText } from "../view/frame.js";

/** Blocks appear below the first scale and disappear above the second. Names have 12 px at scale 1, and are legible from 7 px. */
const FAR = 7 / 12;
const NEAR = 0.64;
/** Largest and smallest height of a block's name, smallest height of other names, px on screen. */
const LARGEST_TEXT = 13;
const SMALLEST_TEXT = 9;
const LEGIBLE = 7;
const LARGEST_TITLE = 11;
/** Width of a character (more than most letters need) and room around a line, in heights of the text. */
const CHARACTER = 0.64;
const ROOM = 0.8;
/** Room above and below a line if there is little. */
const TIGHT = 0.15;
/** A container is a block until this share of its items has room for names; inner containers at a scale smaller by a factor. */
const SHARE = 0.5;
const AMPLE = 1.5;
/** Most notes that are listed by number. */
const MOST_NOTES = 3;
/** Blocks open at a scale that is larger by this factor than the one at which they closed. */
const STEADY = 1.1;

export interface Block {
  /** Where it is in the picture. */
  box: Box;
  /** One or two lines. */
  lines: readonly string[];
  /** Height of the first line, px on screen. */
  size: number;
  /** `block` covers the inside of a container; `box` and `title` are larger names of closed and open nodes. */
  kind: "block" | "box" | "title";
  /** Numbers of the author's notes on a block and on its hidden inside. */
  notes: readonly number[];
  /** The numbers of notes inside as on its second line: `[2] [3]`. */
  inside?: string;
  /** The middle of the text, or the start of a title, from the upper left corner. */
  x: number;
  y: number;
}

/**
 * The blocks of a picture at a scale, by id: of nested containers, the innermost that leave most names legible.
 *
 * @param before the blocks that are shown, which stay as long as possible
 * @param detailOf the text below the name of a block
 */
export function blocks(
  root: Placed,
  scale: number,
  before: ReadonlyMap<string, Block>,
  detailOf: (item: Item) => string = ({ detail }) => detail,
): Map<string, Block> {
  const found = new Map<string, Block>();
  if (scale > 0 && scale < (before.size > 0 ? NEAR : FAR))
    collect(root, { x: 0, y: 0 }, { scale, before, detailOf }, found);
  return found;
}

interface Context {
  scale: number;
  before: ReadonlyMap<string, Block>;
  detailOf: (item: Item) => string;
}

function collect(
  { frame, geometry, inner }: Placed,
  origin: { x: number; y: number },
  context: Context,
  found: Map<string, Block>,
): void {
  frame.items.forEach((item, i) => {
    const [inside, at] = [inner[i] ?? null, geometry.boxes[i]];
    if (at === undefined || item.glyph !== null) return;
    const box = { ...at, x: origin.x + at.x, y: origin.y + at.y };
    const shown = formOf(item, box, inside, context);
    if (shown !== undefined) found.set(item.id, shown);
    if (inside !== null && shown?.kind !== "block") collect(inside, box, context, found);
  });
}

function formOf(item: Item, box: Box, inside: Placed | null, context: Context): Block | undefined {
  const { scale, before, detailOf } = context;
  if (inside === null) return labelled(item, box, scale, "box");
  const block = labelled(item, box, scale, "block");
  const steady = before.get(item.id)?.kind === "block" ? STEADY : 1;
  if (block === undefined || opens(inside, scale / steady)) return titled(item, box, inside.geometry.title, scale);
  const detail = detailOf(item);
  const signs = signsOf(block.notes.filter((note) => !item.notes?.includes(note)));
  const withSigns = [`${signs} · ${detail}`, signs].map((line) => withDetail(block, line, scale));
  const found = signs === "" ? undefined : withSigns.find(({ lines }) => lines.length > 1);
  return found === undefined ? withDetail(block, detail, scale) : { ...found, inside: signs };
}

/** Whether enough direct children have room for their names. */
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

/** A name in the middle; undefined if it doesn't fit. */
function labelled(item: Item, box: Box, scale: number, kind: "block" | "box"): Block | undefined {
  const name = nameOf(item);
  const size = Math.min(fitting(name, box, scale), (box.height * scale) / (1 + (kind === "box" ? TIGHT : ROOM)));
  if (name === "" || size < (kind === "box" ? LEGIBLE : SMALLEST_TEXT)) return undefined;
  return {
    box,
    kind,
    x: box.width / 2,
    y: box.height / 2,
    lines: [name],
    size,
    notes: kind === "block" ? notesIn(item) : [],
  };
}

/** Adds a line below if it fits. */
function withDetail(block: Block, detail: string, scale: number): Block {
  const size = Math.min(block.size, fitting(detail, block.box, scale));
  const isRoomy = detail !== "" && size >= SMALLEST_TEXT && block.box.height * scale >= 4 * block.size;
  return isRoomy ? { ...block, lines: [...block.lines, detail], size } : block;
}

/** The greatest height of a line, px. */
function fitting(text: string, { width }: Box, scale: number): number {
  return Math.min(LARGEST_TEXT, (width * scale) / (text.length * CHARACTER + ROOM));
}

/** The name of an open container, as large as the space of its title allows. */
function titled(item: Item, box: Box, title: Box | null, scale: number): Block | undefined {
  if (title === null) return undefined;
  const name = nameOf(item);
  const wide = (title.width * scale) / (name.length * CHARACTER);
  const height = title.y + title.height;
  const size = Math.min(LARGEST_TITLE, wide, (height * scale) / (1 + TIGHT));
  const at = { box, kind: "title" as const, x: title.x, y: height / 2, notes: [] };
  return name === "" || size < LEGIBLE ? undefined : { ...at, lines: [name], size };
}

/** The numbers of the notes on an item and inside it. Every step of a zoom needs them. */
const notesIn = memoByObject((item: Item): readonly number[] => {
  const all = [...(item.notes ?? []), ...(item.frame?.items.flatMap(notesIn) ?? [])];
  return [...new Set(all)].sort((one, other) => one - other);
});

/** A name with the number of repeats and the numbers of notes. */
export function nameOf(item: Item): string {
  const { name, notes = [] } = item;
  return [name, timesText(item), signsOf(notes)].filter((part) => part !== "").join(" ");
}

function signsOf(notes: readonly number[]): string {
  const signs = notes.slice(0, MOST_NOTES).map((note) => `[${note}]`);
  return [...signs, ...(notes.length > MOST_NOTES ? ["…"] : [])].join(" ");
}
