import { onResize } from "../controls/dom.js";
import { LARGE } from "../picture/scene.js";
import type { Widget } from "../widget.js";

/** Updates a large picture when the page scrolls or the diagram's size changes. */

export function viewport(widget: Widget): void {
  const update = () => widget.updateViewport();
  let connected: AbortSignal;
  let isReplaced = false;
  const follow = () => {
    document.addEventListener("scroll", update, { capture: true, passive: true, signal: connected });
  };
  widget.whileConnected((signal) => {
    connected = signal;
    if (isReplaced) follow();
    const observers = [new ResizeObserver(() => widget.camera.onResize()), onResize(update)];
    for (const resized of observers) {
      resized.observe(widget.stage);
      signal.addEventListener("abort", () => resized.disconnect());
    }
  });
  // the page's own picture needs no updates
  widget.on("drawn", () => {
    isReplaced = true;
    follow();
  });
  replaceLargePicture(widget, () => isReplaced);
}

/** The page's own picture is in the document as a whole: a large one moves smoothly only after it was replaced. */
function replaceLargePicture(widget: Widget, isReplaced: () => boolean): void {
  let isRequested = false;
  let isPressed = false;
  const replace = () => {
    if (isRequested || isPressed || isReplaced() || widget.tree.size < LARGE) return;
    // not worth an error message where it can't be drawn
    widget.tasks.ifLaidOut(() => {
      isRequested = true;
      void widget.change((session) => session.state);
    });
  };
  widget.on("moved", replace);
  // what is pressed and replaced before it is released gets no click
  widget.stage.addEventListener("pointerdown", () => {
    isPressed = true;
  });
  widget.whileConnected((signal) => {
    const release = () => {
      if (!isPressed) return;
      // the click comes after this event
      setTimeout(() => {
        isPressed = false;
        replace();
      });
    };
    for (const event of ["pointerup", "pointercancel"]) addEventListener(event, release, { signal });
  });
}
