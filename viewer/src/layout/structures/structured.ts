import { memoByObject } from "../../shared/memo.js";
import type { Steps } from "../../shared/slices.js";
import type { Frame } from "../../view/frame.js";
import type { Shape } from "../../view/state.js";
import type { Geometry } from "../coord/geometry.js";
import type { Inner } from "../input.js";
import { inColumns, type PlaceSubframe } from "./columns.js";
import { towersIn } from "./towers.js";
import { type Arms, armsIn } from "./u/arms.js";
import { type Joined, joinedIn } from "./u/joined.js";
import { inU } from "./u/u.js";

/** Frames whose structure has its own layout. Structures depend on the graph alone, not on what is open. */

/** Greatest width while everything is closed, px. */
const BROADEST = 1000;

/** The geometry of a frame by its structure; null without one, or if it is too wide while everything is closed. */
export function* structured(
  frame: Frame,
  inner: readonly (Inner | null)[],
  shapes: readonly Shape[],
  place: PlaceSubframe,
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

/** The arms of a frame that is drawn as a U; null for others, or if the U is too wide while everything is closed. */
export function* risingIn(frame: Frame, shapes: readonly Shape[], place: PlaceSubframe): Steps<Arms | null> {
  const arms = shapes.includes("u") ? armsOf(frame) : null;
  const closed = arms === null ? null : yield* inU(frame, [], arms, place);
  return closed === null || closed.width > BROADEST ? null : arms;
}

/** Two open containers of a frame that form a U; null without any. */
export function joinedU(frame: Frame, shapes: readonly Shape[]): Joined | null {
  return shapes.includes("u") ? joinedOf(frame) : null;
}

/** Whether a frame, alone or with two of its containers, is a U. */
export function hasU(frame: Frame): boolean {
  return armsOf(frame) !== null || joinedOf(frame) !== null;
}

/** The towers of a frame; null if there are none. */
export const towersOf = memoByObject(towersIn);
const joinedOf = memoByObject(joinedIn);
const armsOf = memoByObject((frame: Frame) => armsIn(frame));
