/** Frames whose structure has a layout of its own. Structures are found in the graph alone, whatever is open. */
import type { Frame } from "../../view/frame.js";
import type { Shape } from "../../view/shapes.js";
import type { Geometry } from "../geometry.js";
import type { Inner } from "../input.js";
import { inColumns, type Place } from "./columns.js";
import { type Towers, towersIn } from "./towers.js";

/** Broader columns would be too far from each other, in px. */
const BROADEST = 1000;

/** Frame → its columns, if these are not too broad while all is closed. */
const found = new WeakMap<Frame, Towers | null>();

/** The geometry of a frame by its structure; null if it has none. */
export function structured(
  frame: Frame,
  inner: readonly (Inner | null)[],
  shapes: readonly Shape[],
  place: Place,
): Geometry | null {
  const towers = shapes.includes("columns") ? columnsOf(frame, place) : null;
  return towers === null ? null : inColumns(frame, inner, towers, place);
}

function columnsOf(frame: Frame, place: Place): Towers | null {
  const known = found.get(frame);
  if (known !== undefined) return known;
  const towers = towersIn(frame);
  const closed = towers === null ? null : inColumns(frame, [], towers, place);
  const columns = closed !== null && closed.width <= BROADEST ? towers : null;
  found.set(frame, columns);
  return columns;
}
