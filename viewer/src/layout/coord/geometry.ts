/** Positions and sizes inside one container, px. */

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** The box of a tensor's label. The text is at the wire: equal containers share positions, not tensors. */
export interface Label extends Box {
  /** Position of a wire with this tensor. */
  wire: number;
  /** Whether the label is left of its wire. */
  before: boolean;
}

/** The box of a title, relative to its container. */
export interface Title extends Box {
  /** Which of the forms of its text. */
  form: number;
}

/** Offsets of a laid-out frame's ports from its left (or, running left to right, upper) edge. */
export interface Ports {
  inputs: number[];
  outputs: number[];
}

/** Layout of one container, relative to its upper left corner; shared by equal containers. */
export interface Geometry {
  width: number;
  height: number;
  /** Item → its box. */
  boxes: Box[];
  /** Items next to each other, from left to right (in a flow from left to right: from top to bottom). */
  rows: number[][];
  /** Wire → its points, from source to target. */
  lines: (readonly [x: number, y: number])[][];
  labels: Label[];
  ports: Ports;
  title: Title | null;
  /** Whether the container has a structure with its own layout. */
  shaped?: boolean;
}

type Shown = Pick<Geometry, "boxes" | "labels" | "lines">;

/** Moves everything. */
export function moved<T extends Shown>(all: T, toX: (x: number) => number, toY: (y: number) => number): T {
  const place = <B extends Box>(box: B): B => ({ ...box, x: toX(box.x), y: toY(box.y) });
  const lines = all.lines.map((line) => line.map(([x, y]) => [toX(x), toY(y)] as const));
  return { ...all, boxes: all.boxes.map(place), labels: all.labels.map(place), lines };
}

/** Adds space at a height that only vertical lines cross. */
export function stretched(geometry: Geometry, at: number, by: number): Geometry {
  const made = moved(
    geometry,
    (x) => x,
    (y) => (y < at ? y : y + by),
  );
  return { ...made, height: geometry.height + by };
}
