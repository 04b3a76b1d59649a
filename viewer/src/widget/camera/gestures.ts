/** Which gestures are for the diagram, and how far a wheel zooms. d3-zoom (see camera.ts) does the rest. */

/** Limit of one wheel event: a notch of a mouse wheel is about 100 px, a pinch on a touchpad a few. */
const WHEEL_LIMIT = 30;
const WHEEL_SPEED = 0.01;
/** Firefox reports lines of about this height, px. */
const LINE = 16;
const DELTA_IN_LINES = 1;

/** Whether a gesture that begins with this event is for the diagram, not for the page. */
export function isForDiagram(event: Event, isFullscreen: boolean): boolean {
  const { ctrlKey, metaKey, button } = event as MouseEvent;
  if (event.type === "wheel") return isFullscreen || ctrlKey || metaKey;
  if (event.type === "mousedown") return button === 0 && !ctrlKey;
  // once one finger scrolls the page, the browser takes all fingers
  return event.cancelable && (event as TouchEvent).touches.length > (isFullscreen ? 0 : 1);
}

/** The exponent of two to zoom by for a wheel event. */
export function wheelDelta({ deltaY, deltaMode }: WheelEvent): number {
  const pixels = deltaY * (deltaMode === DELTA_IN_LINES ? LINE : 1);
  return -Math.max(-WHEEL_LIMIT, Math.min(WHEEL_LIMIT, pixels)) * WHEEL_SPEED;
}

/** Turn WebKit's pinches on a touchpad into wheel events with Ctrl, as in other browsers. */
export function translatePinches(stage: HTMLElement): void {
  // touch screens also report them as touches
  if (navigator.maxTouchPoints > 0) return;
  let last = 1;
  stage.addEventListener("gesturestart", (event) => {
    event.preventDefault();
    last = 1;
  });
  stage.addEventListener("gesturechange", (event) => {
    event.preventDefault();
    const { scale, clientX, clientY } = event as MouseEvent & { scale: number };
    const deltaY = -Math.log2(scale / last) / WHEEL_SPEED;
    last = scale;
    stage.dispatchEvent(new WheelEvent("wheel", { ctrlKey: true, deltaY, clientX, clientY, cancelable: true }));
  });
}
