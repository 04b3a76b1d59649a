import { ZoomTransform } from "d3-zoom";
import type { Viewport } from "../picture/scene.js";

/** Where a picture is in its stage, where it may be, and which part is visible. */

/** Least visible part, px. */
const ALWAYS_VISIBLE = 48;

interface Size {
  width: number;
  height: number;
}

/** Keep a picture partly inside the stage. @param size the natural size of the picture */
export function keepVisible(
  { x, y, k }: ZoomTransform,
  size: Size,
  { clientWidth, clientHeight }: HTMLElement,
): ZoomTransform {
  const within = (start: number, length: number, frame: number) => {
    const least = Math.min(ALWAYS_VISIBLE, frame / 2);
    return Math.min(Math.max(start, least - length * k), frame - least);
  };
  return new ZoomTransform(k, within(x, size.width, clientWidth), within(y, size.height, clientHeight));
}

/** The position of a picture centred in its element, which may have another aspect ratio. @param stage on screen */
export function restingIn(element: DOMRect, stage: DOMRect, { width, height }: Size): ZoomTransform {
  const k = Math.min(element.width / width, element.height / height);
  const [x, y] = [(element.width - width * k) / 2, (element.height - height * k) / 2];
  return new ZoomTransform(k, element.left - stage.left + x, element.top - stage.top + y);
}

export interface PagePoint {
  x: number;
  y: number;
}

/** A point of a picture on screen. @param stage on screen */
export function pointOnScreen(stage: DOMRect, transform: ZoomTransform, x: number, y: number): PagePoint {
  const [left, top] = transform.apply([x, y]);
  return { x: stage.left + left, y: stage.top + top };
}

/** The distance between two events, px. */
export function distance(one: MouseEvent, other: MouseEvent): number {
  return Math.hypot(one.clientX - other.clientX, one.clientY - other.clientY);
}

/** The part of a picture that is in the stage and in the window. */
export function visiblePart(stage: DOMRect, { x, y, k }: ZoomTransform): Viewport {
  const left = Math.max(stage.left, 0) - stage.left;
  const top = Math.max(stage.top, 0) - stage.top;
  const width = Math.min(stage.right, innerWidth) - stage.left - left;
  const height = Math.min(stage.bottom, innerHeight) - stage.top - top;
  const scale = width > 0 && height > 0 ? k : 0;
  return { x: (left - x) / k, y: (top - y) / k, width: width / k, height: height / k, scale };
}

/**
 * The smallest shift that brings [from, to] into [low, high], with a margin if there is room. An interval outside is
 * centred; one that is too large is aligned at its start.
 */
export function shiftInto(from: number, to: number, low: number, high: number, margin = 0): number {
  if (to - from > high - low) return from < low || from > (low + high) / 2 ? low - from : 0;
  if (to <= low || from >= high) return (low + high - from - to) / 2;
  const room = Math.min(margin, (high - low - (to - from)) / 2);
  if (from < low) return low + room - from;
  return to > high ? high - room - to : 0;
}
