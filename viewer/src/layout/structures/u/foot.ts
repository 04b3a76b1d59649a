/** The bottom of a U: how the left arm leads to the right one, with or without an item between them. */
import type { Box, Geometry } from "../../coord/geometry.js";
import { LABEL_GAP, LABEL_HEIGHT } from "../../plan.js";
import { STEP } from "./sides.js";

type Point = Geometry["lines"][number][number];

/** The item at the bottom and the wires there. */
export interface Foot {
  /** The item with its lines; null if there is none. */
  geometry: Geometry | null;
  x: number;
  y: number;
  /** Points of the wire from the left arm, and of the wire to the right one. */
  from: Point[];
  to: Point[];
}

/** Distance from the arms to the bottom. */
const TURN = 8;
/** The least length of a line beside the item. */
const LEAST_LINE = 28;
/** Distance of a wire from what it passes. */
const CLEAR = 12;

/** How far apart the ends of the arms must be for a closed item between them. */
export function spanOf({ boxes, labels }: Geometry): number {
  const label = Math.max(0, ...labels.map(({ width }) => LABEL_GAP + width + LABEL_GAP));
  return (boxes[0]?.width ?? 0) + 2 * Math.max(LEAST_LINE, label);
}

/** A wire straight below both arms. */
export function withoutItem(left: number, right: number, bottom: number): Foot {
  const level = bottom + TURN;
  return { geometry: null, x: 0, y: level, from: [[left, level]], to: [[right, level]] };
}

/** A closed item, entered on the left and left on the right. */
export function throughItem(item: Geometry, left: number, right: number, bottom: number): Foot {
  const [box = NO_BOX] = item.boxes;
  const [x, y] = [(left + right) / 2 - box.x - box.width / 2, bottom + TURN - box.y];
  const middle = box.y + box.height / 2;
  const end = box.x + box.width;
  const labels = item.labels.map((label) => ({ ...label, x: end + LABEL_GAP, y: middle - LABEL_HEIGHT - 2 }));
  const lines = item.lines.map((line): Point[] => [[isInto(line, box) ? box.x : end, middle]]);
  const height = Math.max(box.y + box.height, 0) + TURN;
  const level = y + middle;
  return { geometry: { ...item, labels, lines, height }, x, y, from: [[left, level]], to: [[right, level]] };
}

/** An open item, in which everything flows down. */
export function aroundItem(item: Geometry, left: number, right: number, bottom: number): Foot {
  const x = (left + right) / 2 - item.width / 2;
  const [into = 0, out = 0] = [item.ports.inputs[0], item.ports.outputs[0]];
  const [above, y] = [bottom + TURN, bottom + TURN + STEP];
  const below = y + item.height;
  const beside = Math.max(right, x + item.width + CLEAR);
  const up: Point[] =
    beside === right
      ? []
      : [
          [beside, bottom],
          [right, bottom],
        ];
  return {
    ...{ geometry: { ...item, height: item.height + TURN }, x, y },
    from: [
      [left, above],
      [x + into, above],
    ],
    to: [[x + out, below], [beside, below], ...up],
  };
}

const NO_BOX: Box = { x: 0, y: 0, width: 0, height: 0 };

/** Whether a line ends at the top of a box, rather than starting at its bottom. */
function isInto(line: readonly Point[], { y }: Box): boolean {
  return Math.abs((line[line.length - 1]?.[1] ?? 0) - y) < 1;
}
