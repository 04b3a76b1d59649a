/** The legend: the colours of the families in the picture. */

import { DETAIL_SIZE } from "../layout/coord/metrics.js";
import { textWidth } from "../layout/coord/text_metrics.js";
import type { Layout, Placed } from "../layout/layout.js";
import { placeInRows } from "../shared/legend_rows.js";
import { memoByObject } from "../shared/memo.js";
import { strings } from "../shared/strings.js";
import type { Family } from "../view/labels/op_families.js";
import { HUES, type Hue, hueOf } from "./palette.js";

/** `other` includes all grey families. */
const LISTED = Object.keys(HUES) as Hue[];

/** A colour and its meaning. */
export interface LegendKey {
  family: Family;
  /** Class of boxes with another colour than their family. */
  mark?: string;
  name: string;
  /** The letter of a case instead of a colour, and which of few cases it is. */
  letter?: string;
  hue?: number;
}

interface LegendEntry extends LegendKey {
  x: number;
  y: number;
}

export interface Legend {
  entries: LegendEntry[];
  width: number;
  height: number;
}

/** Entries in rows as wide as the picture: cases, then given keys, or else the families if there are at least two. */
export function makeLegend(layout: Layout, others: readonly LegendKey[] = keysOf(layout)): Legend {
  const keys = [...caseKeys(layout), ...others];
  if (!layout.legend || keys.length === 0) return { entries: [], width: 0, height: 0 };
  const widths = keys.map(({ name }) => Math.ceil(textWidth(name, DETAIL_SIZE)));
  const { positions, width, height } = placeInRows(widths, layout.width);
  return { entries: keys.map((key, i) => ({ ...key, ...(positions[i] ?? { x: 0, y: 0 }) })), width, height };
}

function keysOf(layout: Layout): LegendKey[] {
  const present = familiesOf(layout.root);
  const listed = LISTED.filter((family) => present.has(family));
  if (listed.every((family) => family === "other") || listed.length < 2) return [];
  return listed.map((family) => ({ family, name: strings[family === "other" ? "mixed or other" : family] }));
}

function caseKeys({ cases, root }: Layout): LegendKey[] {
  const forced: LegendKey[] = hasForced(root) ? [{ family: "other", mark: "forced", name: strings.forced }] : [];
  return [...cases.map((one): LegendKey => ({ family: "other", ...one })), ...forced];
}

const hasForced = memoByObject(
  ({ frame, inner }: Placed): boolean =>
    frame.items.some(({ marks }) => marks.includes("forced")) ||
    frame.wires.some(({ forced }) => forced) ||
    inner.some((one) => one !== null && hasForced(one)),
);

/** Toggling leaves most containers unchanged. */
const familiesOf = memoByObject((placed: Placed): ReadonlySet<Family> => {
  const found = new Set<Family>();
  for (const item of placed.frame.items) {
    if (hueOf(item.family) !== "other") found.add(item.family);
    else if (item.frame === null && /^(module|function|op)$/.test(item.kind) && item.glyph === null) found.add("other");
  }
  for (const inner of placed.inner) if (inner !== null) for (const family of familiesOf(inner)) found.add(family);
  return found;
});
