/**
 * Puts the toolbar, which lies over a tall picture, on the side where it covers no node. It keeps its place while the pointer
 * is on the diagram.
 */
import { nodeAt } from "../picture/tree.js";
import type { Widget } from "../widget.js";

/** Distance of the points that are tested, px: hardly any node is narrower. */
const STEP = 10;

export function toolbarSide(widget: Widget): void {
  const { host, toolbar, stage } = widget;
  const { element } = toolbar;
  const isFree = (isLeft: boolean, covers: (element: HTMLElement) => boolean) => {
    element.classList.toggle("mg-left", isLeft);
    return !covers(element);
  };
  const place = () => {
    if (element.matches(":hover, :focus-within")) return;
    // wherever the page is scrolled to, or else where it is now
    const tests = [(covering: HTMLElement) => standsInColumn(covering, stage), coversNode];
    const sides = tests.flatMap((covers) => [false, true].filter((isLeft) => isFree(isLeft, covers)));
    element.classList.toggle("mg-left", sides[0] ?? false);
  };
  widget.whileConnected((signal) => host.addEventListener("pointerenter", place, { signal }));
}

/** Whether any node of the picture stands above or below an element. */
function standsInColumn(element: HTMLElement, stage: HTMLElement): boolean {
  const { left, right } = element.getBoundingClientRect();
  const boxes = [...stage.querySelectorAll(".mg-node")].map((node) => node.getBoundingClientRect());
  return boxes.some((box) => box.left < right && box.right > left);
}

/** Whether an element lies over a node. */
export function coversNode(element: HTMLElement): boolean {
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
