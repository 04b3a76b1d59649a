/** Places the entries of a legend, each a colour sample and a text, in rows. */

/** Side of a colour sample, and where the text beside it begins, px. */
export const SWATCH = 12;
export const TEXT_START = 16;
const ROW = 20;
const GAP = 16;
const MARGIN = 8;

export interface Rows {
  /** Upper left corner of each entry. */
  positions: { x: number; y: number }[];
  width: number;
  height: number;
}

/** Place entries with texts of these widths in rows no wider than `limit`; a wider entry gets its own row. */
export function placeInRows(textWidths: readonly number[], limit: number): Rows {
  let x = MARGIN;
  let y = 0;
  let width = 0;
  const positions = textWidths.map((textWidth) => {
    const size = TEXT_START + textWidth;
    if (x > MARGIN && x + size > limit - MARGIN) {
      x = MARGIN;
      y += ROW;
    }
    const position = { x, y };
    width = Math.max(width, x + size + MARGIN);
    x += size + GAP;
    return position;
  });
  return { positions, width, height: y + ROW + MARGIN };
}

/** Whether rows fit into a box, ignoring the outer margins. */
export function fits({ width, height }: Rows, box: { width: number; height: number }): boolean {
  return width - MARGIN <= box.width && height - MARGIN <= box.height;
}
