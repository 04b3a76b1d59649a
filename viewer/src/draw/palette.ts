/** The colours of pictures, for the style sheet of pages and for flat pictures. */
import type { Family } from "../view/op_families.js";

/** Families with a hue; the others share the grey of `other`. */
export type Hue = Exclude<Family, "elementwise" | "shape">;

/** Chosen by a search so that boxes differ to colour-blind readers, too; `test/palette.test.ts` has the limits. */
export const HUES: Readonly<Record<Hue, string>> = {
  attention: "#a4338c",
  linear: "#7196db",
  convolution: "#6499a4",
  normalisation: "#bd9100",
  activation: "#ce7f3c",
  embedding: "#7255de",
  pooling: "#4daa81",
  recurrence: "#a84e3f",
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
