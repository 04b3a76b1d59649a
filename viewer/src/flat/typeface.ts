/** The typeface of flat pictures, from font files: glyph by glyph, with kerning and without ligatures. */
import { type Font, type Glyph, parse } from "opentype.js";
import type { Typeface } from "./flatten.js";

/** Of two TrueType files, regular and semibold. */
export function makeTypeface(regular: ArrayBuffer, semibold: ArrayBuffer): Typeface {
  const fonts = [parse(regular), parse(semibold)] as const;
  const font = (bold: boolean): Font => fonts[bold ? 1 : 0];
  return {
    has: (text) => [...text].every((char) => fonts.every((one) => one.charToGlyphIndex(char) > 0)),
    width: (text, size, bold) => set(font(bold), text, size).width,
    outline: (text, x, y, size, bold) =>
      set(font(bold), text, size)
        .glyphs.map(([glyph, at]) => glyph.getPath(x + at, y, size).toPathData(2))
        .join(""),
  };
}

/** Each glyph with its distance from the line's beginning. */
function set(font: Font, text: string, size: number): { glyphs: [Glyph, number][]; width: number } {
  const scale = size / font.unitsPerEm;
  const glyphs: [Glyph, number][] = [];
  let width = 0;
  for (const char of text) {
    const glyph = font.charToGlyph(char);
    const before = glyphs[glyphs.length - 1]?.[0];
    if (before !== undefined) width += font.getKerningValue(before, glyph) * scale;
    glyphs.push([glyph, width]);
    width += (glyph.advanceWidth ?? 0) * scale;
  }
  return { glyphs, width };
}
