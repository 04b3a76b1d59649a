/**
 * Watches sizes for what changes sizes itself: in the next frame, because at once browsers tell the page of an error
 * ("ResizeObserver loop completed with undelivered notifications").
 */
export function onResize(action: () => void): ResizeObserver {
  let frame = 0;
  return new ResizeObserver(() => {
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(action);
  });
}
