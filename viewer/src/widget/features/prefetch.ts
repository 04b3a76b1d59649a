/** Loads ahead of need: when a pointer or the focus comes near the diagram, before it is on it. */
import type { Widget } from "../widget.js";

/** How far around the diagram a reader is near it, px: for a hand, some tenths of a second. */
const NEAR = 120;
/** How often a moving pointer is looked at, ms. */
const INTERVAL = 50;

export function prefetch(widget: Widget): void {
  atFirst(widget, "pointerenter", "pointermove", ({ clientX, clientY }: PointerEvent) => new DOMRect(clientX, clientY));
  atFirst(widget, "focusin", "focusin", ({ target }: FocusEvent) => (target as Element).getBoundingClientRect());
}

/** Prefetch at the first event on the diagram, or at one of the page near it. */
function atFirst<E extends Event>(widget: Widget, on: string, nearby: string, place: (event: E) => DOMRect): void {
  const { host } = widget;
  let last = 0;
  const stop = new AbortController();
  const go = () => {
    stop.abort();
    widget.prefetch();
  };
  const look = (event: Event) => {
    if (event.timeStamp - last < INTERVAL) return;
    last = event.timeStamp;
    const own = host.getBoundingClientRect();
    // one that is not displayed is nowhere
    if (own.width > 0 && isNear(place(event as E), own)) go();
  };
  host.addEventListener(on, go, stop);
  widget.whileConnected((connected) => {
    if (stop.signal.aborted) return;
    document.addEventListener(nearby, look, stop);
    connected.addEventListener("abort", () => document.removeEventListener(nearby, look));
  });
}

function isNear(one: DOMRect, other: DOMRect): boolean {
  const across = Math.max(one.left - other.right, other.left - one.right);
  const along = Math.max(one.top - other.bottom, other.top - one.bottom);
  return Math.max(across, along) < NEAR;
}
