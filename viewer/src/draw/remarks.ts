/**
 * Lines under a picture: what names of sizes mean and, in a file, what its readers must know. Pages say that beside the
 * picture.
 */
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
  if (sentences.length === 0) return NONE;
  return placed(broken(sentences.join(" ").split(" "), " ", roomIn(pictureWidth)));
}

/** Break what names of sizes mean into lines as wide as the picture, between parts if possible. */
export function makeSizeLines(parts: readonly string[], pictureWidth: number): Remarks {
  if (parts.length === 0) return NONE;
  const room = roomIn(pictureWidth);
  const whole = broken(parts, " · ", room);
  return placed(whole.flatMap((line) => (isWithin(line, room) ? [line] : broken(line.split(" "), " ", room))));
}

const NONE: Remarks = { lines: [], width: 0, height: 0 };

function roomIn(pictureWidth: number): number {
  return Math.max(pictureWidth, LEAST) - 2 * MARGIN;
}

function isWithin(line: string, room: number): boolean {
  return textWidth(line, DETAIL_SIZE) <= room;
}

function broken(pieces: readonly string[], separator: string, room: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const piece of pieces) {
    const longer = line === "" ? piece : `${line}${separator}${piece}`;
    const fits = isWithin(longer, room);
    if (!fits && line !== "") lines.push(line);
    line = fits ? longer : piece;
  }
  return [...lines, line];
}

function placed(lines: readonly string[]): Remarks {
  const longest = Math.max(...lines.map((one) => textWidth(one, DETAIL_SIZE)));
  return { lines, width: Math.ceil(longest) + 2 * MARGIN, height: lines.length * DETAIL_LINE + 2 * MARGIN };
}

/** @param name of the group */
export function drawRemarks({ lines }: Remarks, top: number, painter: Painter, name = "legend"): string {
  if (lines.length === 0) return "";
  const context: StyleContext = { family: "other", classes: [name] };
  const base = top + MARGIN + DETAIL_SIZE;
  const texts = lines.map((text, i) =>
    painter.text({ roles: ["detail"], context, x: MARGIN, y: base + i * DETAIL_LINE, text }),
  );
  return painter.group({ classes: context.classes }, texts.join(""));
}
