/** The colours of pictures, for the style sheet of pages and for flat pictures. */
import type { Node } from "../../generated/overlay.js";
import type { Family } from "../view/labels/op_families.js";

/** Kinds that have a colour, as `ir/kinds.py` lists them; families without share the grey of `other`. */
export type Hue = NonNullable<Node["kind"]>;

/**
 * In the order of the legend. Chosen by a search so that boxes differ to colour-blind readers, too; `test/palette.test.ts`
 * has the limits.
 */
export const HUES: Readonly<Record<Hue, string>> = {
  embedding: "#7255de",
  attention: "#a4338c",
  linear: "#7196db",
  convolution: "#6499a4",
  recurrence: "#a84e3f",
  normalisation: "#bd9100",
  activation: "#ce7f3c",
  pooling: "#4daa81",
  loss: "#b60027",
  other: "#98949b",
};

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

export const ERROR = "#d1242f";

/** Of what costs much. */
export const AMOUNT = "#d9722e";

/** Behind images, which are made for it, also on dark pages. */
export const PAPER = "#ffffff";

export type Theme = "light" | "dark";

/** Text and background of a picture that is not part of a page. */
export const THEMES: Readonly<Record<Theme, { text: string; background: string }>> = {
  light: { text: "#1f2328", background: "#ffffff" },
  dark: { text: "#dfe4ea", background: "#15171a" },
};

/** The hue of a family. */
export function hueOf(family: Family): Hue {
  return family === "elementwise" || family === "shape" ? "other" : family;
}
