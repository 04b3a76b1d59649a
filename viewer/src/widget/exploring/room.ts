/** Finds room beside the picture. */
import type { Widget } from "../widget.js";

/** On both sides of the details (exploring.css has it, too), px. */
const MARGIN = 8;
/** Less height shows too little of them, px. */
const LEAST_HEIGHT = 240;

interface Room {
  isLeft: boolean;
  /** What is visible of the stage there, px. */
  height: number;
}

/** Where details of this width cover nothing of the picture; undefined where there is no such place. */
export function roomBeside({ stage, tree, foot }: Widget, width: number): Room | undefined {
  const least = width + 2 * MARGIN;
  const around = stage.getBoundingClientRect();
  const picture = tree.picture.getBoundingClientRect();
  const height = Math.min(around.bottom, foot.getBoundingClientRect().top) - Math.max(around.top, 0);
  const [left, right] = [picture.left - around.left, around.right - picture.right];
  if (height < LEAST_HEIGHT || Math.max(left, right) < least) return undefined;
  return { isLeft: right < least, height };
}
