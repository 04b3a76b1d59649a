/**
 * Keeps the controls in sight where `position: sticky` can't: on pages (PyData's) that put their content into a box which
 * clips, for wide tables, and so counts as what scrolls, although the window does.
 */
import type { Widget } from "./widget.js";

export function afloat(widget: Widget): void {
  const { host, foot, stage } = widget;
  let shift = 0;
  const place = () => {
    if (!host.isConnected) {
      document.removeEventListener("scroll", place, true);
      return;
    }
    const { bottom, height } = foot.getBoundingClientRect();
    const room = Math.max(0, stage.getBoundingClientRect().height - height);
    shift = Math.max(Math.min(0, innerHeight - (bottom - shift)), -room);
    foot.style.translate = `0 ${shift}px`;
  };
  const begin = () => {
    if (!isStuck(host)) return;
    document.addEventListener("scroll", place, { capture: true, passive: true });
    const watch = new ResizeObserver(place);
    for (const part of [foot, stage]) watch.observe(part);
  };
  // not before somebody is there: it asks for the style of everything around
  host.addEventListener("pointerenter", begin, { once: true });
}

/** Whether the nearest box that counts as scrolling never scrolls up and down. */
function isStuck(host: Element): boolean {
  for (let at = host.parentElement; at !== null && at !== document.body; at = at.parentElement) {
    if (/auto|scroll|hidden/.test(getComputedStyle(at).overflowY)) return at.scrollHeight <= at.clientHeight + 1;
  }
  return false;
}
