/**
 * A U in a picture from left to right: the encoder is left of the decoder, and skips run to the right, so that it is drawn
 * as in a picture from top to bottom. In lines it would be none.
 */
import { holdsSteps } from "../../view/contents.js";
import type { Frame, View } from "../../view/frame.js";
import { hasU } from "./structured.js";

/** The model, to be laid out from top to bottom, if it is a U that would run from left to right; else null. */
export function uprightU({ root, shapes }: View): Frame | null {
  if (root.direction === "TB" || root.placing || !shapes.includes("u")) return null;
  const upright = uprightOf(root);
  return hasU(upright) ? upright : null;
}

/** Frames are immutable, and those with one source are one. */
const known = new WeakMap<Frame, Frame>();

function uprightOf(frame: Frame): Frame {
  const before = known.get(frame);
  if (before !== undefined) return before;
  const items = frame.items.map((item) => (item.frame === null ? item : { ...item, frame: uprightOf(item.frame) }));
  const made: Frame = { ...frame, direction: isSameInBoth(frame) ? frame.direction : "TB", items };
  known.set(frame, made);
  return made;
}

/** Whether a frame has its direction in any picture: steps of a loop, and what an author put in lines. */
function isSameInBoth({ id, placing }: Frame): boolean {
  return holdsSteps(id) || (placing !== undefined && (placing.most > 0 || placing.lines > 0));
}
