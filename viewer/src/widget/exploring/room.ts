/** Finds room beside the picture. */
import type { Widget } from "../widget.js";

/** The width of the details with their margins (exploring.css has it without), px. */
const WIDTH = 312;
/** Less height shows too little of them, px. */
const LEAST_HEIGHT = 240;

interface Room {
  isLeft: boolean;
  /** What is visible of the stage there, px. */
  height: number;
}

/** Where details cover nothing of the picture; undefined where there is no such place. */
export function roomBeside({ stage, tree, foot }: Widget): Room | undefined {
  const around = stage.getBoundingClientRect();
  const picture = tree.picture.getBoundingClientRect();
  const height = Math.min(around.bottom, foot.getBoundingClientRect().top) - Math.max(around.top, 0);
  const [left, right] = [picture.left - around.left, around.right - picture.right];
  if (height < LEAST_HEIGHT || Math.max(left, right) < WIDTH) return undefined;
  return { isLeft: right < WIDTH, height };
}
