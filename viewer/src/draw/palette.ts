/** The colours of pictures, for the style sheet of pages and for flat pictures. */
import type { Family } from "../view/op_families.js";

/** Families with a hue; the others share the grey of `other`. */
export type Hue = Exclude<Family, "elementwise" | "shape">;

export const HUES: Readonly<Record<Hue, string>> = {
  attention: "#c2569b",
  linear: "#3f7fd6",
  convolution: "#2a93a8",
  normalisation: "#b08a1e",
  activation: "#d9722e",
  embedding: "#7a5fd0",
  pooling: "#4a9a55",
  recurrence: "#c4554d",
  loss: "#b3404a",
  other: "#7a8699",
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
