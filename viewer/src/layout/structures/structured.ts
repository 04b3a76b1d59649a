/** Frames whose structure has a layout of its own. Structures are found in the graph alone, whatever is open. */
import type { Frame } from "../../view/frame.js";
import type { Shape } from "../../view/shapes.js";
import type { Geometry } from "../geometry.js";
import type { Inner } from "../input.js";
import { inColumns, type Place } from "./columns.js";
import { type Towers, towersIn } from "./towers.js";

/** Broader columns would be too far from each other, in px. */
const BROADEST = 1000;

/** Frame → its towers. */
const found = new WeakMap<Frame, Towers | null>();

/** The geometry of a frame by its structure; null if it has none, or if that is too broad while all is closed. */
export function structured(
  frame: Frame,
  inner: readonly (Inner | null)[],
  shapes: readonly Shape[],
  place: Place,
): Geometry | null {
  const towers = hasColumns(frame, shapes) ? foundIn(frame) : null;
  const closed = towers === null ? null : inColumns(frame, [], towers, place);
  if (towers === null || closed === null || closed.width > BROADEST) return null;
  return inner.every((one) => one === null) ? closed : inColumns(frame, inner, towers, place);
}

/** Whether a frame has towers. */
export function hasColumns(frame: Frame, shapes: readonly Shape[]): boolean {
  return shapes.includes("columns") && foundIn(frame) !== null;
}

function foundIn(frame: Frame): Towers | null {
  const known = found.get(frame);
  const towers = known === undefined ? towersIn(frame) : known;
  found.set(frame, towers);
  return towers;
}
