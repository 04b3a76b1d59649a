/** Frames whose structure has a layout of its own. Structures are found in the graph alone, whatever is open. */
import { memoByObject } from "../../shared/memo.js";
import type { Steps } from "../../shared/slices.js";
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
export function* structured(
  frame: Frame,
  inner: readonly (Inner | null)[],
  shapes: readonly Shape[],
  place: Place,
): Steps<Geometry | null> {
  const towers = hasColumns(frame, shapes) ? towersOf(frame) : null;
  const closed = towers === null ? null : yield* inColumns(frame, [], towers, place);
  if (towers === null || closed === null || closed.width > BROADEST) return null;
  return inner.every((one) => one === null) ? closed : yield* inColumns(frame, inner, towers, place);
}

/** Whether a frame has towers. */
export function hasColumns(frame: Frame, shapes: readonly Shape[]): boolean {
  return shapes.includes("columns") && towersOf(frame) !== null;
}

/** The arms of a frame that is drawn as a U; null if it is none, or too broad while all is closed. */
export function* risingIn(frame: Frame, shapes: readonly Shape[], place: Place): Steps<Arms | null> {
  const arms = shapes.includes("u") ? armsOf(frame) : null;
  const closed = arms === null ? null : yield* inU(frame, [], arms, place);
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

/** The towers of a frame; null if there are none. */
export const towersOf = memoByObject(towersIn);
const joinedOf = memoByObject(joinedIn);
const armsOf = memoByObject((frame: Frame) => armsIn(frame));
