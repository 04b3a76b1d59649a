/** The colours of pictures, for the style sheet of pages and for flat pictures; Python reads them from the same table. */
import * as palette from "../../../src/modeldiagrams/options/palette.json";
import type { Node } from "../../generated/overlay.js";
import type { Family } from "../view/labels/op_families.js";

/** Kinds that have a colour, as `ir/kinds.py` lists them; families without share the grey of `other`. */
export type Hue = NonNullable<Node["kind"]>;

/**
 * In the order of the legend. Chosen by a search so that boxes differ to colour-blind readers, too; `test/palette.test.ts`
 * has the limits.
 */
export const HUES: Readonly<Record<Hue, string>> = palette.hues;

/** Hues for colouring by class, the most frequent class first; `other` is for all further classes. */
export const CLASS_HUES: readonly Hue[] = [
  "linear",
  "attention",
  "normalisation",
  "embedding",
  "pooling",
  "activation",
  "convolution",
  "recurrence",
];

export const ERROR = palette.error;

/** The hue of the bar at what one of few cases runs; grey for others. */
export function caseHue(number = -1): Hue {
  return CASE_HUES[number] ?? "other";
}

const CASE_HUES: readonly Hue[] = ["linear", "attention", "normalisation", "pooling"];

/** Of what costs much. */
export const AMOUNT = palette.amount;

/** Of numbers below 0; colour-blind readers can tell it from the other. */
export const BELOW = palette.below;

/** Behind images, which are made for it, also on dark pages. */
export const PAPER = palette.paper;

export type Theme = "light" | "dark";

/** Text and background of a picture that is not part of a page. */
export const THEMES: Readonly<Record<Theme, { text: string; background: string }>> = palette.themes;

/** Percent of a kind's colour in its boxes. */
export const BOX_TINT = palette.box_tint;

/** Percent of the text's colour in the small text of boxes. */
export const DETAIL_TEXT = palette.detail_text;

/** The hue of a family. */
export function hueOf(family: Family): Hue {
  return family === "elementwise" || family === "shape" ? "other" : family;
}
