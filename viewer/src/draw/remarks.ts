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
  /** Space above the lines. */
  above: number;
}

/** Break the sentences into lines as wide as the picture. */
export function makeRemarks(sentences: readonly string[], pictureWidth: number): Remarks {
  if (sentences.length === 0) return NONE;
  return placed(broken(sentences.join(" ").split(" "), " ", roomIn(pictureWidth)), MARGIN);
}

/** Break what names of sizes mean into lines as wide as the picture, between parts if possible. */
export function makeSizeLines(parts: readonly string[], pictureWidth: number): Remarks {
  if (parts.length === 0) return NONE;
  const room = roomIn(pictureWidth);
  const whole = broken(parts, " · ", room);
  const lines = whole.flatMap((line) => (isWithin(line, room) ? [line] : broken(line.split(" "), " ", room)));
  // the picture, or its legend, has a margin
  return placed(lines, 0);
}

const NONE: Remarks = { lines: [], above: 0, width: 0, height: 0 };

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

function placed(lines: readonly string[], above: number): Remarks {
  const longest = Math.max(...lines.map((one) => textWidth(one, DETAIL_SIZE)));
  const height = above + lines.length * DETAIL_LINE + MARGIN;
  return { lines, above, width: Math.ceil(longest) + 2 * MARGIN, height };
}

/** @param name of the group */
export function drawRemarks({ lines, above }: Remarks, top: number, painter: Painter, name = "legend"): string {
  if (lines.length === 0) return "";
  const context: StyleContext = { family: "other", classes: [name] };
  const base = top + above + DETAIL_SIZE;
  const texts = lines.map((text, i) =>
    painter.text({ roles: ["detail"], context, x: MARGIN, y: base + i * DETAIL_LINE, text }),
  );
  return painter.group({ classes: context.classes }, texts.join(""));
}
