/** Puts the toolbar, which lies over a tall picture, on the side where it covers no node. */
import { nodeAt } from "../tree.js";
import type { Widget } from "../widget.js";

/** Distance of the points that are tested, px: hardly any node is narrower. */
const STEP = 10;

const SCROLL = { capture: true, passive: true };

export function toolbarSide(widget: Widget): void {
  const { host } = widget;
  const { element } = widget.toolbar;
  const place = () => {
    // only while the pointer is on the diagram, and not on the toolbar
    if (!host.matches(":hover") || element.matches(":hover, :focus-within")) return;
    const freeSides = [false, true].filter((isLeft) => {
      element.classList.toggle("mg-left", isLeft);
      return !coversNode(element);
    });
    element.classList.toggle("mg-left", freeSides[0] ?? false);
  };
  widget.whileConnected((signal) => {
    const onEnter = () => {
      place();
      document.addEventListener("scroll", place, { ...SCROLL, signal });
    };
    host.addEventListener("pointerenter", onEnter, { signal });
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
