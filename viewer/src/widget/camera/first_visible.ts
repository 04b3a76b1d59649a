/** Finds what stays in place when a picture gives way to another. */
import { header, idOf, type Tree } from "../picture/tree.js";

/** The first node of a picture that is visible on its stage, and that another picture has, too. */
export function firstVisible(stage: HTMLElement, now: Tree, other: Tree): SVGElement | undefined {
  const frame = stage.getBoundingClientRect();
  const bottom = Math.min(frame.bottom, innerHeight);
  return [...now.picture.querySelectorAll<SVGElement>("[data-id]")].find((node) => {
    if (!other.has(idOf(node))) return false;
    const rect = header(node).getBoundingClientRect();
    const isBeside = rect.right <= frame.left || rect.left >= frame.right;
    return !isBeside && rect.top >= Math.max(0, frame.top) && rect.bottom <= bottom;
  });
}
