/**
 * Mouse, wheel and fingers on the picture, as movements of it. Written here because d3-zoom, with what it brings along,
 * would be a quarter of the widget.
 */

/** A mouse wheel's notch is about 100 px, a pinch on a touchpad a few: bounded, both zoom at a pleasant pace. */
const WHEEL_LIMIT = 30;
const WHEEL_SPEED = 0.01;
/** Firefox reports lines of about this many px. */
const LINE = 16;
const DELTA_IN_LINES = 1;
/** A press that moves less than this is a click, px. */
const CLICK_DISTANCE = 4;

/** What is moved. Positions are the window's. */
export interface Movable {
  pan(dx: number, dy: number): void;
  zoom(factor: number, x: number, y: number): void;
}

/** Let gestures on an element move something; `whole` says whether the widget has the screen for itself. */
export function listen(stage: HTMLElement, target: Movable, whole: () => boolean): void {
  stage.addEventListener(
    "wheel",
    (event) => {
      if (!isOurs(event, whole())) return;
      event.preventDefault();
      target.zoom(2 ** wheelDelta(event), event.clientX, event.clientY);
    },
    { passive: false },
  );
  stage.addEventListener("mousedown", (event) => {
    if (isOurs(event, whole())) drag(event, target);
  });
  // a drag moves the picture; it selects no words and carries no link away
  for (const type of ["selectstart", "dragstart"]) stage.addEventListener(type, (event) => event.preventDefault());
  pinch(stage, target, whole);
}

function drag(start: MouseEvent, target: Movable): void {
  let last = start;
  let moved = false;
  const stop = new AbortController();
  const move = (event: MouseEvent) => {
    // let go where nobody told us
    if (event.buttons === 0) return stop.abort();
    moved ||= Math.hypot(event.clientX - start.clientX, event.clientY - start.clientY) >= CLICK_DISTANCE;
    if (!moved) return;
    target.pan(event.clientX - last.clientX, event.clientY - last.clientY);
    last = event;
  };
  addEventListener("mousemove", move, { signal: stop.signal });
  addEventListener(
    "mouseup",
    () => {
      stop.abort();
      if (moved) swallowClick();
    },
    { signal: stop.signal },
  );
}

/** The click that ends a drag means nothing. */
function swallowClick(): void {
  const swallow = (event: Event) => event.stopPropagation();
  addEventListener("click", swallow, { capture: true, once: true });
  setTimeout(() => removeEventListener("click", swallow, true));
}

interface Fingers {
  count: number;
  x: number;
  y: number;
  /** Between the first two, px. */
  distance: number;
}

function pinch(stage: HTMLElement, target: Movable, whole: () => boolean): void {
  let last: Fingers | undefined;
  const follow = (event: TouchEvent) => {
    last = isOurs(event, whole()) ? fingers(event.touches) : undefined;
  };
  for (const type of ["touchstart", "touchend", "touchcancel"] as const) {
    stage.addEventListener(type, follow, { passive: true });
  }
  stage.addEventListener(
    "touchmove",
    (event) => {
      if (last === undefined || !event.cancelable) return;
      event.preventDefault();
      const now = fingers(event.touches);
      if (now.count === last.count) {
        target.pan(now.x - last.x, now.y - last.y);
        if (now.count > 1) target.zoom(now.distance / last.distance, now.x, now.y);
      }
      last = now;
    },
    { passive: false },
  );
}

function fingers(touches: TouchList): Fingers {
  const [one, other = one] = touches;
  const { clientX = 0, clientY = 0 } = one ?? {};
  const { clientX: x = 0, clientY: y = 0 } = other ?? {};
  const distance = Math.hypot(x - clientX, y - clientY) || 1;
  return { count: touches.length, x: (clientX + x) / 2, y: (clientY + y) / 2, distance };
}

/** Which gestures are for the diagram; all others are the page's. */
export function isOurs(event: Event, whole: boolean): boolean {
  if (event.type === "wheel") return whole || (event as WheelEvent).ctrlKey || (event as WheelEvent).metaKey;
  if (event.type === "mousedown") return (event as MouseEvent).button === 0 && !(event as MouseEvent).ctrlKey;
  const { touches } = event as TouchEvent;
  return touches.length > (whole ? 0 : 1);
}

/** Powers of two to zoom by for one wheel event. */
export function wheelDelta(event: WheelEvent): number {
  const pixels = event.deltaY * (event.deltaMode === DELTA_IN_LINES ? LINE : 1);
  return -Math.max(-WHEEL_LIMIT, Math.min(WHEEL_LIMIT, pixels)) * WHEEL_SPEED;
}
