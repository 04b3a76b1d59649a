/** The legend: the colours of the families in the picture. */

import type { Layout, Placed } from "../layout/layout.js";
import { DETAIL_SIZE } from "../layout/metrics.js";
import { textWidth } from "../layout/text_metrics.js";
import { placeInRows } from "../shared/legend_rows.js";
import { strings } from "../shared/strings.js";
import type { Family } from "../view/op_families.js";
import { HUES, type Hue, hueOf } from "./palette.js";

/** `other` stands for all grey families. */
const LISTED = Object.keys(HUES) as Hue[];

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

/** Entries in rows of the picture's width; none for fewer than two. */
export function makeLegend(layout: Layout): Legend {
  const present = familiesOf(layout.root);
  const listed = LISTED.filter((family) => present.has(family));
  if (!layout.legend) return { entries: [], width: 0, height: 0 };
  if (listed.every((family) => family === "other") || listed.length < 2) return { entries: [], width: 0, height: 0 };
  const names = listed.map((family) => strings[family === "other" ? "mixed or other" : family]);
  const widths = names.map((name) => Math.ceil(textWidth(name, DETAIL_SIZE)));
  const { positions, width, height } = placeInRows(widths, layout.width);
  const entries = listed.map((family, i) => ({ family, name: names[i] ?? "", ...(positions[i] ?? { x: 0, y: 0 }) }));
  return { entries, width, height };
}

function familiesOf(root: Placed): Set<Family> {
  const found = new Set<Family>();
  const stack: Placed[] = [root];
  for (let placed = stack.pop(); placed !== undefined; placed = stack.pop()) {
    for (const item of placed.frame.items) {
      if (hueOf(item.family) !== "other") found.add(item.family);
      else if (item.frame === null && /^(module|function|op)$/.test(item.kind) && item.glyph === null)
        found.add("other");
    }
    stack.push(...placed.inner.filter((inner) => inner !== null));
  }
  return found;
}
