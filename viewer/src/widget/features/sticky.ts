import { header, nodeAt } from "../picture/tree.js";
import type { Widget } from "../widget.js";

/**
 * Keeps the controls visible where `position: sticky` fails: some pages (PyData's) wrap their content in a box that clips
 * wide tables, which browsers take for the scrolling element although the window scrolls.
 */

/** Height of the controls that cover the picture; the default is in stage.css. */
const ROOM = "--mg-foot";
/** Greatest height of the toolbar, px. */
const TOOLBAR = 44;

const SCROLL = { capture: true, passive: true };

export function sticky(widget: Widget): void {
  const { host, foot, stage } = widget;
  const place = placerOf(widget);
  widget.whileConnected((signal) => {
    const resized = new ResizeObserver(place);
    const grown = new ResizeObserver(() => reserveRoom(widget));
    grown.observe(foot);
    const end = () => {
      document.removeEventListener("scroll", place, SCROLL);
      resized.disconnect();
      widget.placeFoot = () => undefined;
    };
    const begin = () => {
      if (signal.aborted || !isClipped(host)) return;
      document.addEventListener("scroll", place, { ...SCROLL, signal });
      for (const part of [foot, stage]) resized.observe(part);
      widget.placeFoot = place;
    };
    // no cost while out of view; themes may add their box after the diagram is visible
    const seen = new IntersectionObserver(([entry]) => (entry?.isIntersecting ? begin() : end()));
    seen.observe(host);
    for (const event of ["pointerenter", "focusin"]) host.addEventListener(event, begin, { signal });
    signal.addEventListener("abort", () => {
      seen.disconnect();
      grown.disconnect();
      end();
    });
  });
}

/** Reveal the selected node if the controls now cover it. */
export function uncoverSelected(widget: Widget): void {
  const node = widget.tree.findDrawn(widget.selected ?? "");
  if (node === undefined) return;
  widget.placeFoot();
  reserveRoom(widget);
  const { top, bottom } = header(node).getBoundingClientRect();
  const controls = widget.foot.getBoundingClientRect();
  if (bottom > controls.top && top < controls.bottom) widget.reveal(node);
}

/** Shifts the controls to the lower edge of the window, but not beyond the upper edge of the picture. */
function placerOf({ foot, stage }: Widget): () => void {
  let shift = 0;
  return () => {
    const { bottom } = foot.getBoundingClientRect();
    const room = stage.getBoundingClientRect().height;
    shift = Math.max(Math.min(0, innerHeight - (bottom - shift)), -room);
    foot.style.translate = `0 ${shift}px`;
  };
}

/** Nodes that scroll into view must not be covered by the controls; the style sheet reserves room for the toolbar. */
function reserveRoom({ foot, stage }: Widget): void {
  const height = foot.offsetHeight;
  const isCovering = height > TOOLBAR && getComputedStyle(foot).position === "sticky";
  const room = isCovering ? `${height}px` : "";
  // the whole picture inherits the property, so that setting it restyles every node
  if (stage.style.getPropertyValue(ROOM) !== room) stage.style.setProperty(ROOM, room);
}

/** Whether the nearest scrolling box never scrolls vertically. */
function isClipped(host: Element): boolean {
  for (let at = host.parentElement; at !== null && at !== document.body; at = at.parentElement) {
    if (/auto|scroll|hidden/.test(getComputedStyle(at).overflowY)) return at.scrollHeight <= at.clientHeight + 1;
  }
  return false;
}

/**
 * Puts the toolbar over a tall picture on the side where it covers no node. It keeps its place while the pointer is on the
 * diagram.
 */

/** Distance of tested points, px: hardly any node is narrower. */
const STEP = 10;

export function toolbarSide(widget: Widget): void {
  const { host, toolbar, stage } = widget;
  const { element } = toolbar;
  const isFree = (isLeft: boolean, covers: (element: HTMLElement) => boolean) => {
    element.classList.toggle("mg-left", isLeft);
    return !covers(element);
  };
  // then it is in the row of the outline's summary, which begins on the left
  const rests = () => element.getBoundingClientRect().top >= stage.getBoundingClientRect().bottom - 1;
  const isUsed = () => element.matches(":hover, :focus-within");
  const place = () => {
    if (isUsed()) return;
    if (rests()) {
      element.classList.remove("mg-left");
      return;
    }
    // for every scroll position of the page, or else for the current one
    const tests = [(covering: HTMLElement) => standsInColumn(covering, stage), coversNode];
    const sides = tests.flatMap((covers) => [false, true].filter((isLeft) => isFree(isLeft, covers)));
    element.classList.toggle("mg-left", sides[0] ?? false);
  };
  const leaveSummary = () => {
    if (element.classList.contains("mg-left") && !isUsed() && rests()) element.classList.remove("mg-left");
  };
  widget.whileConnected((signal) => {
    host.addEventListener("pointerenter", place, { signal });
    document.addEventListener("scroll", leaveSummary, { capture: true, passive: true, signal });
  });
}

/** Whether any node of the picture is above or below an element. */
function standsInColumn(element: HTMLElement, stage: HTMLElement): boolean {
  const { left, right } = element.getBoundingClientRect();
  const boxes = [...stage.querySelectorAll(".mg-node")].map((node) => node.getBoundingClientRect());
  return boxes.some((box) => box.left < right && box.right > left);
}

/** Whether an element covers a node. */
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
