/** The typeface of flat pictures, from font files, with kerning and without ligatures. */
import { type Font, type Glyph, parse } from "opentype.js";
import type { SetText, Typeface } from "./flat_painter.js";

/** Make a typeface from two TrueType files, regular and semibold. */
export function makeTypeface(regular: ArrayBuffer, semibold: ArrayBuffer): Typeface {
  const fonts = [parse(regular), parse(semibold)] as const;
  return {
    has: (text) => [...text].every((char) => fonts.every((one) => one.charToGlyphIndex(char) > 0)),
    set: (text, size, bold) => set(fonts[bold ? 1 : 0], text, size),
  };
}

function set(font: Font, text: string, size: number): SetText {
  const scale = size / font.unitsPerEm;
  const glyphs: SetText["glyphs"] = [];
  let width = 0;
  let before: Glyph | null = null;
  for (const char of text) {
    const glyph = font.charToGlyph(char);
    if (before !== null) width += font.getKerningValue(before, glyph) * scale;
    glyphs.push({ char, x: width, d: glyph.getPath(0, 0, size).toPathData(2) });
    width += (glyph.advanceWidth ?? 0) * scale;
    before = glyph;
  }
  return { glyphs, width };
}
