/**
 * Text widths from one table instead of a browser, so that pictures are equal everywhere.
 *
 * In thousandths of the font size, the larger of DejaVu Sans and Liberation Sans (Arial's metrics), so that text in any
 * common sans-serif font fits.
 */
const ASCII_WIDTHS = [
  318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361, 318, 337, 636, 636, 636, 636, 636, 636, 636,
  636, 636, 636, 337, 337, 838, 838, 838, 556, 1015, 684, 686, 722, 770, 667, 611, 778, 752, 295, 500, 667, 557, 863,
  748, 787, 667, 787, 722, 667, 611, 732, 684, 989, 685, 667, 685, 390, 337, 390, 838, 556, 500, 613, 635, 550, 635,
  615, 352, 635, 634, 278, 278, 579, 278, 974, 634, 612, 635, 635, 411, 521, 392, 634, 592, 818, 592, 592, 525, 636,
  337, 636, 838,
];
const OTHER_WIDTHS: Record<string, number> = {
  ...{ "×": 838, "·": 318, "–": 556, "…": 1000, "→": 838, "≤": 838, "≈": 838 },
  // in names of sizes
  ...Object.fromEntries([..."₀₁₂₃₄₅₆₇₈₉⁰⁴⁵⁶⁷⁸⁹"].map((digit) => [digit, 480])),
  ...{ "′": 300, "⌈": 500, "⌉": 500, "⌊": 500, "⌋": 500 },
};
const FIRST_ASCII = 32;
/** Widths of characters outside the table: Latin letters, and CJK or emoji. */
const LATIN = 700;
const WIDE = 1050;
const LATIN_END = 0x250;
const NARROWEST = 275;
/** Upper bound of the width of bold text relative to regular text. */
const BOLD = 1.12;

/** Width of a line of text in px. */
export function textWidth(text: string, size: number, bold = false): number {
  let thousandths = 0;
  for (const char of text) thousandths += charWidth(char);
  return (thousandths * size * (bold ? BOLD : 1)) / 1000;
}

/** Shortens text to a width with an ellipsis in the middle: both ends of a name are informative. */
export function fitText(text: string, size: number, width: number, bold = false): string {
  if (textWidth(text, size, bold) <= width) return text;
  const chars = [...text];
  // start from the most letters that could fit: names may have megabytes
  let keep = Math.min(chars.length - 1, Math.ceil((width * 1000) / (NARROWEST * size)));
  while (keep > 2 && textWidth(cut(chars, keep), size, bold) > width) keep -= 1;
  return cut(chars, keep);
}

function cut(chars: string[], keep: number): string {
  const head = Math.ceil(keep / 2);
  return `${chars.slice(0, head).join("")}…${chars.slice(chars.length - (keep - head)).join("")}`;
}

function charWidth(char: string): number {
  const code = char.codePointAt(0) ?? 0;
  const known = ASCII_WIDTHS[code - FIRST_ASCII] ?? OTHER_WIDTHS[char];
  if (known !== undefined) return known;
  return code < LATIN_END ? LATIN : WIDE;
}
