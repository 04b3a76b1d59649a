/** Levels of detail: which containers are shown as one block each, because a picture is too small to read. */
import type { Box, Placed } from "../layout/layout.js";

/** Names are 12 px high at scale 1. Blocks appear below the first scale, and disappear above the second. */
const FAR = 0.4;
const NEAR = 0.46;
/** Height of a block's name, and the least that it may be reduced to, px on screen. */
const LARGEST_TEXT = 13;
const SMALLEST_TEXT = 9;
/** Width of a character, more than that of most letters, and room around a line, in heights of the text. */
const CHARACTER = 0.64;
const ROOM = 0.8;
/** A container stays a block until this share of the containers in it could be blocks at a scale smaller by a factor. */
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
}

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
    if (inside === null || at === undefined) return;
    const box = { ...at, x: origin.x + at.x, y: origin.y + at.y };
    const block = labelled(item, box, scale);
    if (block === undefined || opens(inside, (before.has(item.id) ? scale / STEADY : scale) / AMPLE)) {
      collect(inside, box, scale, before, found);
    } else found.set(item.id, block);
  });
}

/** Whether enough of the containers directly inside have room for their names. */
function opens({ frame, geometry, inner }: Placed, scale: number): boolean {
  let [all, legible] = [0, 0];
  frame.items.forEach((item, i) => {
    const box = geometry.boxes[i];
    if (!inner[i] || box === undefined) return;
    all += 1;
    if (labelled(item, box, scale) !== undefined) legible += 1;
  });
  return all > 0 && legible >= SHARE * all;
}

/** A container's name with what else fits below it; undefined where not even the name does. */
function labelled(item: Placed["frame"]["items"][number], box: Box, scale: number): Block | undefined {
  const name = item.times > 1 ? `${item.name} ×${item.times}` : item.name;
  const [width, height] = [box.width * scale, box.height * scale];
  const fitting = (text: string) => Math.min(LARGEST_TEXT, width / (text.length * CHARACTER + ROOM));
  const size = Math.min(fitting(name), height / (1 + ROOM));
  if (name === "" || size < SMALLEST_TEXT) return undefined;
  const isRoomy = item.detail !== "" && fitting(item.detail) >= SMALLEST_TEXT && height >= 4 * size;
  const both = Math.min(size, fitting(item.detail));
  return isRoomy ? { box, lines: [name, item.detail], size: both } : { box, lines: [name], size };
}
