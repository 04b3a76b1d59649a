/** Loads ahead of need, when the pointer or the focus comes near the diagram. */
import type { Widget } from "../widget.js";

/** Distance from the diagram that is near, px: a hand needs some tenths of a second for it. */
const NEAR = 120;
/** Time between checks of a moving pointer, ms. */
const INTERVAL = 50;

export function prefetch(widget: Widget): void {
  atFirst(widget, "pointerenter", "pointermove", ({ clientX, clientY }: PointerEvent) => new DOMRect(clientX, clientY));
  atFirst(widget, "focusin", "focusin", ({ target }: FocusEvent) => (target as Element).getBoundingClientRect());
}

/** Prefetch at the first event on or near the diagram. */
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
    // a diagram that isn't displayed is nowhere
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
