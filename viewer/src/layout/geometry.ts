/** Positions and sizes inside one container, in px. */

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** The box of a tensor's label. The text comes from the wire: equal containers share positions, not tensors. */
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
  /** Items beside each other, from left to right (running left to right: from top to bottom). */
  rows: number[][];
  /** Wire → its points, from source to target. */
  lines: (readonly [x: number, y: number])[][];
  labels: Label[];
  ports: Ports;
  title: Title | null;
  /** Whether the container has a structure with a layout of its own. */
  shaped?: boolean;
}
