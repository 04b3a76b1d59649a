/** Letters at wires: each where it is nearest to its own line by far, so that nobody reads it with another. */
import type { Box, Geometry } from "../layout/coord/geometry.js";
import { LETTER_SIZE } from "../layout/coord/metrics.js";
import { textWidth } from "../layout/coord/text_metrics.js";
import type { Frame, Wire } from "../view/frame.js";
import { casesData } from "./badge.js";
import { PAGE_PAINTER, type Painter } from "./painter.js";
import { pathKey, type WirePart } from "./wires.js";

/** Distance of letters from their line, from the ends of its segments, and between places that are tried; their height, px. */
const [ASIDE, END, STEP, HIGH] = [5, 5, 8, 8];
/** Room around them without other lines, or at least without any part of one; and without boxes and text, px. */
const [ALONE, FREE, BESIDE] = [9, 3, 2];

type Line = Geometry["lines"][number];

/** The letters of the cases that have a wire: other wires of its tensor may be in more cases. */
export function wireLetters(frame: Frame, geometry: Geometry, painter: Painter = PAGE_PAINTER): WirePart[] {
  const placed: Box[] = [];
  return frame.wires.flatMap((wire, i) => {
    const { letters: text } = wire;
    const line = geometry.lines[i] ?? [];
    if (text === undefined || line.length === 0) return [];
    const width = Math.ceil(textWidth(text, LETTER_SIZE, true));
    const places = [...placesAlong(line, width)];
    const surroundings = { frame, geometry, wire, placed };
    const isFree = (room: number) => (place: Box) => hasRoom(place, room, surroundings);
    const [endX, endY] = line[line.length - 1] ?? [0, 0];
    const atEnd = { x: endX + ASIDE, y: endY - END - HIGH, width, height: HIGH };
    const box = places.find(isFree(ALONE)) ?? places.find(isFree(FREE)) ?? places[0] ?? atEnd;
    placed.push(box);
    const at = { x: box.x, y: box.y + HIGH, text };
    const draw = () =>
      painter.text({ roles: ["letters"], context: { family: "other", classes: [] }, data: casesData(wire), ...at });
    return [{ box, draw }];
  });
}

/** Places beside a line, from its end to its start: right of it before left, above before below. */
function* placesAlong(line: Line, width: number): Generator<Box> {
  for (let i = line.length - 1; i > 0; i -= 1) {
    const [[x, y], [fromX, fromY]] = [line[i] ?? [0, 0], line[i - 1] ?? [0, 0]];
    const isUpright = Math.abs(y - fromY) > Math.abs(x - fromX);
    const [length, size] = isUpright ? [Math.abs(y - fromY), HIGH] : [Math.abs(x - fromX), width];
    for (let at = END; at + size <= length; at += STEP) {
      const along = (end: number, from: number) => (end > from ? end - at - size : end + at);
      const [left, top] = isUpright ? [x + ASIDE, along(y, fromY)] : [along(x, fromX), y - ASIDE - HIGH];
      yield { x: left, y: top, width, height: HIGH };
      yield { ...(isUpright ? { x: x - ASIDE - width, y: top } : { x: left, y: y + ASIDE }), width, height: HIGH };
    }
  }
}

interface Surroundings {
  frame: Frame;
  geometry: Geometry;
  wire: Wire;
  /** Other letters. */
  placed: readonly Box[];
}

/** Whether a place is in the container, on nothing else, and no line but its own is near. */
function hasRoom(place: Box, room: number, { frame, geometry, wire, placed }: Surroundings): boolean {
  const { boxes, labels, title, lines, width, height } = geometry;
  const { x, y } = place;
  if (x < 0 || y < 0 || x + place.width > width || y + place.height > height) return false;
  const around = grown(place, BESIDE);
  if ([...boxes, ...labels, ...placed, ...(title ? [title] : [])].some((box) => meet(around, box))) return false;
  return frame.wires.every((other, i) => {
    const far = grown(place, pathKey(other) === pathKey(wire) ? BESIDE : room);
    return !segments(lines[i] ?? []).some((segment) => meet(far, segment));
  });
}

function segments(line: Line): Box[] {
  return line.slice(1).map(([x, y], i) => {
    const [fromX, fromY] = line[i] ?? [x, y];
    return { x: Math.min(x, fromX), y: Math.min(y, fromY), width: Math.abs(x - fromX), height: Math.abs(y - fromY) };
  });
}

function grown({ x, y, width, height }: Box, by: number): Box {
  return { x: x - by, y: y - by, width: width + 2 * by, height: height + 2 * by };
}

function meet(one: Box, other: Box): boolean {
  return (
    one.x <= other.x + other.width &&
    other.x <= one.x + one.width &&
    one.y <= other.y + other.height &&
    other.y <= one.y + one.height
  );
}
