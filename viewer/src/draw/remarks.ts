/** Sentences under a picture in a file: what its readers must know. Pages say it beside the picture. */
import { DETAIL_LINE, DETAIL_SIZE, GRID } from "../layout/coord/metrics.js";
import { textWidth } from "../layout/coord/text_metrics.js";
import type { Painter, Size } from "./painter.js";
import type { StyleContext } from "./style.js";

/** Least width of the lines, px. */
const LEAST = 240;
/** Distance from the picture's sides. */
const MARGIN = 2 * GRID;

export interface Remarks extends Size {
  lines: readonly string[];
}

/** Break the sentences into lines as wide as the picture. */
export function makeRemarks(sentences: readonly string[], pictureWidth: number): Remarks {
  if (sentences.length === 0) return { lines: [], width: 0, height: 0 };
  const width = Math.max(pictureWidth, LEAST);
  const lines: string[] = [];
  let line = "";
  for (const word of sentences.join(" ").split(" ")) {
    const longer = line === "" ? word : `${line} ${word}`;
    const fits = textWidth(longer, DETAIL_SIZE) <= width - 2 * MARGIN;
    if (!fits && line !== "") lines.push(line);
    line = fits ? longer : word;
  }
  lines.push(line);
  const longest = Math.max(...lines.map((one) => textWidth(one, DETAIL_SIZE)));
  return { lines, width: Math.ceil(longest) + 2 * MARGIN, height: lines.length * DETAIL_LINE + 2 * MARGIN };
}

export function drawRemarks({ lines }: Remarks, top: number, painter: Painter): string {
  if (lines.length === 0) return "";
  const context: StyleContext = { family: "other", classes: ["legend"] };
  const base = top + MARGIN + DETAIL_SIZE;
  const texts = lines.map((text, i) =>
    painter.text({ roles: ["detail"], context, x: MARGIN, y: base + i * DETAIL_LINE, text }),
  );
  return painter.group({ classes: context.classes }, texts.join(""));
}
