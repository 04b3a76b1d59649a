/** Entry for the embedded V8: a picture's SVG in, the flat SVG out. */
import "../polyfills.js";
import sheet from "../picture.css";
import type { Theme } from "./css.js";
import { flatten, type Typeface } from "./flatten.js";
import { makeTypeface } from "./typeface.js";

let typeface: Typeface | null = null;

/** Take the font files, each as text of one character a byte. */
function useFonts(regular: string, semibold: string): void {
  const bytes = (text: string) => Uint8Array.from(text, (char) => char.charCodeAt(0)).buffer;
  typeface = makeTypeface(bytes(regular), bytes(semibold));
}

function flat(svg: string, theme: Theme, outlines: boolean): string {
  if (typeface === null) throw new Error("expected `modelDiagrams.useFonts` before the first flat picture");
  return flatten(svg, sheet, theme, typeface, outlines);
}

const ready = Promise.resolve();
const hasFonts = () => typeface !== null;
(globalThis as Record<string, unknown>).modelDiagrams = { ready, hasFonts, useFonts, flat };
