/** Frames whose structure has a layout of its own. Structures are found in the graph alone, whatever is open. */
import type { Frame } from "../../view/frame.js";
import type { Shape } from "../../view/shapes.js";
import type { Geometry } from "../coord/geometry.js";
import type { Inner } from "../input.js";
import { inColumns, type Place } from "./columns.js";
import { towersIn } from "./towers.js";
import { type Arms, armsIn } from "./u/arms.js";
import { type Joined, joinedIn } from "./u/joined.js";
import { inU } from "./u/u.js";

/** Broader columns would be too far from each other, in px. */
const BROADEST = 1000;

/** The geometry of a frame by its structure; null if it has none, or if that is too broad while all is closed. */
export function structured(
  frame: Frame,
  inner: readonly (Inner | null)[],
  shapes: readonly Shape[],
  place: Place,
): Geometry | null {
  const towers = hasColumns(frame, shapes) ? towersOf(frame) : null;
  const closed = towers === null ? null : inColumns(frame, [], towers, place);
  if (towers === null || closed === null || closed.width > BROADEST) return null;
  return inner.every((one) => one === null) ? closed : inColumns(frame, inner, towers, place);
}

/** Whether a frame has towers. */
export function hasColumns(frame: Frame, shapes: readonly Shape[]): boolean {
  return shapes.includes("columns") && towersOf(frame) !== null;
}

/** The arms of a frame that is drawn as a U; null if it is none, or too broad while all is closed. */
export function risingIn(frame: Frame, shapes: readonly Shape[], place: Place): Arms | null {
  const arms = shapes.includes("u") ? armsOf(frame) : null;
  const closed = arms === null ? null : inU(frame, [], arms, place);
  return closed === null || closed.width > BROADEST ? null : arms;
}

/** Two open containers of a frame that are one U; null if there are none, or the U would be too broad. */
export function joinedU(frame: Frame, shapes: readonly Shape[]): Joined | null {
  return shapes.includes("u") ? joinedOf(frame) : null;
}

/** Whether a frame, perhaps with two containers, is a U. */
export function hasU(frame: Frame): boolean {
  return armsOf(frame) !== null || joinedOf(frame) !== null;
}

const joinedOf = once(joinedIn);
/** The towers of a frame; null if there are none. */
export const towersOf = once(towersIn);
const armsOf = once(armsIn);

/** Finds something in a frame only once. */
function once<T>(find: (frame: Frame) => T): (frame: Frame) => T {
  const found = new WeakMap<Frame, { value: T }>();
  return (frame) => {
    const known = found.get(frame) ?? { value: find(frame) };
    found.set(frame, known);
    return known.value;
  };
}
