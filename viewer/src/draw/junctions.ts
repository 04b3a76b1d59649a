/** Dots where the wires of one tensor part, which distinguish them from wires that cross. */
import type { Geometry } from "../layout/coord/geometry.js";

type Line = Geometry["lines"][number];
type Point = Line[number];
type Piece = readonly [start: Point, end: Point];

/** Closer points count as one. */
const NEAR = 0.5;

/** The points of lines with one tensor from which wires lead to three sides or more. */
export function junctions(lines: readonly Line[]): Point[] {
  if (lines.length < 2) return [];
  const { pieces, corners } = distinct(lines);
  const found: Point[] = [];
  for (const point of corners) {
    if (found.every((other) => !same(point, other)) && sides(pieces, point) > 2) found.push(point);
  }
  return found;
}

/** Distinct segments and corners: wires of a tensor with many readers share most of their way. */
function distinct(lines: readonly Line[]): { pieces: Piece[]; corners: Set<Point> } {
  const known = new Map<number, Map<number, Point>>();
  const one = (point: Point) =>
    entry(
      entry(known, point[0], () => new Map()),
      point[1],
      () => point,
    );
  const ends = new Map<Point, Set<Point>>();
  const corners = new Set<Point>();
  for (const line of lines) {
    const points = line.map(one);
    for (const [i, end] of points.slice(1).entries()) entry(ends, points[i] ?? end, () => new Set()).add(end);
    for (const corner of points.slice(1, -1)) corners.add(corner);
  }
  const pieces = [...ends].flatMap(([start, to]) => [...to].map((end): Piece => [start, end]));
  return { pieces, corners };
}

function entry<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const found = map.get(key) ?? make();
  map.set(key, found);
  return found;
}

/** Number of sides of a point from which a line leads away. */
function sides(pieces: readonly Piece[], point: Point): number {
  const found = new Set<string>();
  for (const [start, end] of pieces) {
    if (!isBetween(start, end, point[0], 0) || !isBetween(start, end, point[1], 1)) continue;
    for (const at of [start, end]) if (!same(at, point)) found.add(side(at, point));
  }
  return found.size;
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
