/** Finds room beside the picture. */
import type { Widget } from "../widget.js";

/** Margin on both sides of the details, as in exploring.css, px. */
const MARGIN = 8;
/** Least height of the details, px. */
const LEAST_HEIGHT = 240;

interface Room {
  isLeft: boolean;
  /** The visible height of the stage there, px. */
  height: number;
}

/** A place where details of this width don't cover the picture; undefined if there is none. */
export function roomBeside({ stage, tree, foot }: Widget, width: number): Room | undefined {
  const least = width + 2 * MARGIN;
  const around = stage.getBoundingClientRect();
  const picture = tree.picture.getBoundingClientRect();
  const height = Math.min(around.bottom, foot.getBoundingClientRect().top) - Math.max(around.top, 0);
  const [left, right] = [picture.left - around.left, around.right - picture.right];
  if (height < LEAST_HEIGHT || Math.max(left, right) < least) return undefined;
  return { isLeft: right < least, height };
}
