/** Where one tensor's wires part: a dot tells them from wires that only cross. */
import type { Geometry } from "../layout/geometry.js";

type Line = Geometry["lines"][number];
type Point = Line[number];

/** Closer points are one. */
const NEAR = 0.5;

/** The points of lines with one tensor from which wires lead to three sides or more. */
export function junctions(lines: readonly Line[]): Point[] {
  if (lines.length < 2) return [];
  const found: Point[] = [];
  for (const point of lines.flatMap((line) => line.slice(1, -1))) {
    if (found.every((other) => !same(point, other)) && sides(lines, point) > 2) found.push(point);
  }
  return found;
}

/** Number of sides of a point on which a line lies. */
function sides(lines: readonly Line[], point: Point): number {
  const ends = lines.flatMap((line) =>
    line.slice(1).flatMap((end, i) => {
      const start = line[i] ?? end;
      return isBetween(start, end, point[0], 0) && isBetween(start, end, point[1], 1) ? [start, end] : [];
    }),
  );
  return new Set(ends.filter((end) => !same(end, point)).map((end) => side(end, point))).size;
}

function side([x, y]: Point, [ofX, ofY]: Point): string {
  if (Math.abs(x - ofX) > NEAR) return x > ofX ? "right" : "left";
  return y > ofY ? "below" : "above";
}

function isBetween(start: Point, end: Point, at: number, axis: 0 | 1): boolean {
  return at >= Math.min(start[axis], end[axis]) - NEAR && at <= Math.max(start[axis], end[axis]) + NEAR;
}

function same(a: Point, b: Point): boolean {
  return Math.abs(a[0] - b[0]) < NEAR && Math.abs(a[1] - b[1]) < NEAR;
}
