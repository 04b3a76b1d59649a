/** The toolbar over a tall picture: on the side where it covers no node, if there is one. */
import { nodeAt } from "./tree.js";
import type { Widget } from "./widget.js";

/** So far apart are the points that are looked at, px: the smallest node is hardly narrower. */
const STEP = 10;

const SCROLL = { capture: true, passive: true };

export function aside(widget: Widget): void {
  const { element } = widget.toolbar;
  const place = () => {
    // not away from under the pointer, and not for nobody
    if (!widget.host.matches(":hover") || element.matches(":hover, :focus-within")) return;
    const sides = [false, true].filter((left) => {
      element.classList.toggle("mg-left", left);
      return !coversNode(element);
    });
    element.classList.toggle("mg-left", sides[0] ?? false);
  };
  const { host } = widget;
  widget.whileHere((signal) => {
    const enter = () => {
      place();
      document.addEventListener("scroll", place, { ...SCROLL, signal });
    };
    host.addEventListener("pointerenter", enter, { signal });
    host.addEventListener("pointerleave", () => document.removeEventListener("scroll", place, SCROLL), { signal });
  });
  widget.on("drawn", place);
}

function coversNode(element: HTMLElement): boolean {
  const { left, right, top, bottom } = element.getBoundingClientRect();
  const root = element.getRootNode() as ShadowRoot;
  for (const y of [top + 1, (top + bottom) / 2, bottom - 1]) {
    for (let x = left; x <= right; x += STEP) {
      const below = root.elementsFromPoint(x, y);
      if (below.some((at) => nodeAt(at)?.classList.contains("mg-node"))) return true;
    }
  }
  return false;
}
