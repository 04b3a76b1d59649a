/**
 * The one text-width table. Layout and drawing both ask here, never a browser, so a picture is the same everywhere.
 *
 * Thousandths of the font size, the larger of DejaVu Sans and Liberation Sans (Arial's metrics): text drawn with any
 * common sans-serif font stays inside what was reserved for it.
 */
const ASCII_WIDTHS = [
  318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361, 318, 337, 636, 636, 636, 636, 636, 636, 636,
  636, 636, 636, 337, 337, 838, 838, 838, 556, 1015, 684, 686, 722, 770, 667, 611, 778, 752, 295, 500, 667, 557, 863,
  748, 787, 667, 787, 722, 667, 611, 732, 684, 989, 685, 667, 685, 390, 337, 390, 838, 556, 500, 613, 635, 550, 635,
  615, 352, 635, 634, 278, 278, 579, 278, 974, 634, 612, 635, 635, 411, 521, 392, 634, 592, 818, 592, 592, 525, 636,
  337, 636, 838,
];
const OTHER_WIDTHS: Record<string, number> = { "×": 838, "·": 318, "–": 556, "…": 1000, "→": 838 };
const FIRST_ASCII = 32;
/** Letters outside the table: wide enough for Latin; CJK and emoji take a full em. */
const LATIN = 700;
const WIDE = 1050;
const LATIN_END = 0x250;
const NARROWEST = 275;
/** Bold text is up to this much wider. */
const BOLD = 1.12;

/** Width of a line of text in px. */
export function textWidth(text: string, size: number, bold = false): number {
  let thousandths = 0;
  for (const char of text) thousandths += charWidth(char);
  return (thousandths * size * (bold ? BOLD : 1)) / 1000;
}

/** The text, cut in the middle with an ellipsis where it is wider than allowed: both ends of a name tell something. */
export function fitText(text: string, size: number, width: number, bold = false): string {
  if (textWidth(text, size, bold) <= width) return text;
  const chars = [...text];
  // more of the narrowest letters than this never fit; models put megabytes into a name
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
