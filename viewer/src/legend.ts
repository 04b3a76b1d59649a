/** The legend: which colour is which family, for the families on the picture. */
import { DETAIL_SIZE, GRID } from "./box.js";
import type { Family } from "./families.js";
import type { Layout, Placed } from "./layout.js";
import { textWidth } from "./text.js";
import { word } from "./words.js";

/** In the order they are listed. Families that are drawn alike, in grey, need no explanation. */
const LISTED: readonly Family[] = [
  "embedding",
  "attention",
  "linear",
  "convolution",
  "recurrence",
  "normalisation",
  "activation",
  "pooling",
  "loss",
];

export interface Entry {
  family: Family;
  name: string;
  x: number;
  y: number;
}

export interface Legend {
  entries: Entry[];
  width: number;
  height: number;
}

export const SWATCH = 12;
const ROW = 20;
const BETWEEN = 16;
const MARGIN = 8;

/** Entries in rows as wide as the picture; nothing where there is no choice of colours. */
export function makeLegend(layout: Layout): Legend {
  const present = familiesOf(layout.root);
  const listed = LISTED.filter((family) => present.has(family));
  if (listed.length < 2) return { entries: [], width: 0, height: 0 };
  const entries: Entry[] = [];
  let x = MARGIN;
  let y = 0;
  let width = 0;
  for (const family of listed) {
    const name = word(family, family);
    const size = SWATCH + GRID + Math.ceil(textWidth(name, DETAIL_SIZE));
    if (x > MARGIN && x + size > layout.width - MARGIN) {
      x = MARGIN;
      y += ROW;
    }
    entries.push({ family, name, x, y });
    width = Math.max(width, x + size + MARGIN);
    x += size + BETWEEN;
  }
  return { entries, width, height: y + ROW + MARGIN };
}

function familiesOf(root: Placed): Set<Family> {
  const found = new Set<Family>();
  const stack: Placed[] = [root];
  for (let placed = stack.pop(); placed !== undefined; placed = stack.pop()) {
    for (const item of placed.frame.items) if (item.glyph === null) found.add(item.family);
    stack.push(...placed.inner.filter((inner) => inner !== null));
  }
  return found;
}
