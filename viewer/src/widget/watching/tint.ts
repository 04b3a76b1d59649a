/** Colours the boxes of a picture by a measure, with a strip for each repeat, and hatches boxes without values. */

import { svg } from "../controls/dom.js";
import { idOf } from "../picture/tree.js";
import type { Scale } from "./measures.js";
import type { Reading } from "./run.js";

/** Height of all rows of strips, and their distance from the sides of the box, px. */
const STRIPS = 4.5;
const INSET = 5;
/** Distance of the lines of a hatch, px. */
const HATCH = 7;

/** What a box shows: the worst reading of all, and the repeats of each run. */
export interface Shown {
  worst: Reading;
  strips: readonly (readonly Reading[])[];
}

export function paintTints(
  picture: SVGSVGElement,
  scale: Scale | undefined,
  shownOf: (id: string) => Shown | undefined,
): void {
  for (const node of picture.querySelectorAll<SVGElement>("[data-id]")) {
    for (const old of node.querySelectorAll(":scope > .mg-recorded")) old.remove();
    delete node.dataset.tint;
    // an open module shows its inside
    const shape = node.querySelector<SVGGraphicsElement>(":scope > .mg-box");
    const shown = scale === undefined || shape === null ? undefined : shownOf(idOf(node));
    if (scale !== undefined && shape !== null && shown !== undefined) decorate(node, shape, scale, shown);
  }
}

function decorate(node: SVGElement, shape: SVGGraphicsElement, scale: Scale, { worst, strips }: Shown): void {
  node.dataset.tint = tintOf(worst, scale);
  const { x, y, width, height } = shape.getBBox();
  if (worst.state === "unseen")
    shape.after(svg("path", { class: "mg-recorded mg-hatch", d: hatch(x, y, width, height) }));
  const rows = strips.some((strip) => strip.length > 1) || strips.length > 1 ? strips : [];
  const strip = STRIPS / rows.length;
  rows.forEach((readings, row) => {
    const top = y + height - strip * (rows.length - row);
    const step = (width - 2 * INSET) / readings.length;
    readings.forEach((reading, i) => {
      const left = rounded(x + INSET + i * step);
      const size = { x: left, y: rounded(top), width: rounded(Math.max(step - 2, 1)), height: rounded(strip - 0.5) };
      node.append(svg("rect", { class: "mg-recorded mg-strip", "data-tint": tintOf(reading, scale), ...size }));
    });
  });
}

/** The state of a reading, or the step of its value: `7`, `bad`. */
function tintOf({ state, value }: Reading, scale: Scale): string {
  return state === "value" && value !== undefined ? String(scale.stepOf(value)) : state;
}

/** Slanted lines in a box, away from its rounded corners. */
function hatch(x: number, y: number, width: number, height: number): string {
  const [left, top, right, bottom] = [x + 3, y + 3, x + width - 3, y + height - 3];
  let d = "";
  for (let at = left + HATCH; at < right + bottom - top; at += HATCH) {
    const from = [Math.min(at, right), top + Math.max(0, at - right)];
    const to = [Math.max(left, at - (bottom - top)), Math.min(bottom, top + at - left)];
    d += `M${from.map(rounded)}L${to.map(rounded)}`;
  }
  return d;
}

function rounded(value: number): string {
  return String(Number(value.toFixed(1)));
}
