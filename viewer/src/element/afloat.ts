/**
 * Keeps the controls in sight where `position: sticky` can't: on pages (PyData's) that put their content into a box which
 * clips, for wide tables, and so counts as what scrolls, although the window does.
 */
import { header } from "./tree.js";
import type { Widget } from "./widget.js";

const SCROLL = { capture: true, passive: true };

/** Puts the controls of a diagram where they belong now; only of those on such pages. */
const places = new WeakMap<Widget, () => void>();

export function afloat(widget: Widget): void {
  const { host, foot, stage } = widget;
  let shift = 0;
  const place = () => {
    const { bottom } = foot.getBoundingClientRect();
    const room = stage.getBoundingClientRect().height;
    shift = Math.max(Math.min(0, innerHeight - (bottom - shift)), -room);
    foot.style.translate = `0 ${shift}px`;
  };
  widget.whileHere((signal) => {
    const resized = new ResizeObserver(place);
    const grown = new ResizeObserver(() => keepClear(widget));
    grown.observe(foot);
    const end = () => {
      document.removeEventListener("scroll", place, SCROLL);
      resized.disconnect();
      places.delete(widget);
    };
    const begin = () => {
      if (signal.aborted || !isStuck(host)) return;
      document.addEventListener("scroll", place, { ...SCROLL, signal });
      for (const part of [foot, stage]) resized.observe(part);
      places.set(widget, place);
    };
    // out of sight it costs nothing; a page may be dressed later than it is seen
    const seen = new IntersectionObserver(([entry]) => (entry?.isIntersecting ? begin() : end()));
    seen.observe(host);
    for (const coming of ["pointerenter", "focusin"]) host.addEventListener(coming, begin, { signal });
    signal.addEventListener("abort", () => {
      seen.disconnect();
      grown.disconnect();
      end();
    });
  });
}

/** The selected node out from under the controls, if they have just come over it. */
export function uncover(widget: Widget): void {
  const node = widget.tree.here(widget.selected ?? "");
  if (node === undefined) return;
  places.get(widget)?.();
  keepClear(widget);
  const { top, bottom } = header(node).getBoundingClientRect();
  const over = widget.foot.getBoundingClientRect();
  if (bottom > over.top && top < over.bottom) widget.reveal(node);
}

/** What scrolls into sight must not end up behind the controls. */
function keepClear({ foot, stage }: Widget): void {
  const covers = getComputedStyle(foot).position === "sticky";
  stage.style.setProperty("--mg-foot", `${covers ? foot.offsetHeight : 0}px`);
}

/** Whether the nearest box that counts as scrolling never scrolls up and down. */
function isStuck(host: Element): boolean {
  for (let at = host.parentElement; at !== null && at !== document.body; at = at.parentElement) {
    if (/auto|scroll|hidden/.test(getComputedStyle(at).overflowY)) return at.scrollHeight <= at.clientHeight + 1;
  }
  return false;
}
