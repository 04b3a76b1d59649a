/**
 * A U in a picture from left to right is drawn as from top to bottom: the encoder is left of the decoder, and skips run to
 * the right. In lines it would not be a U.
 */

import { memoByObject } from "../../../shared/memo.js";
import type { Frame, Item, View } from "../../../view/frame.js";
import { holdsSteps } from "../../../view/repeats/contents.js";
import { hasU } from "../structured.js";

/** The model, to be laid out from top to bottom, if it is a U that would run from left to right; else null. */
export function uprightU({ root, shapes }: View): Frame | null {
  if (root.direction === "TB" || root.placing || !shapes.includes("u")) return null;
  const upright = uprightOf(root);
  return hasU(upright) ? upright : null;
}

/** Equal frames stay equal. */
const uprightOf = memoByObject((frame: Frame): Frame => {
  const direction = isSameInBoth(frame) ? frame.direction : frame.turned ? "LR" : "TB";
  const items = frame.items.map((item): Item => {
    if (item.frame === null) return item;
    // repeats run like their container
    const isAlong = item.kind === "group" && item.frame.direction === frame.direction;
    return { ...item, frame: { ...uprightOf(item.frame), ...(isAlong && { direction }) } };
  });
  return { ...frame, direction, items };
});

/** Whether a frame has the same direction in any picture: steps of a loop, and what an author arranged in lines. */
function isSameInBoth({ id, placing }: Frame): boolean {
  return holdsSteps(id) || (placing !== undefined && (placing.most > 0 || placing.lines > 0));
}
