import { onResize } from "../controls/dom.js";
import { LARGE } from "../picture/scene.js";
import type { Widget } from "../widget.js";

/** Updates a large picture when the page scrolls or the size of the diagram changes. */

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

/** Replace a large page's own picture, which is in the document as a whole, so that it moves smoothly. */
function replaceLargePicture(widget: Widget, isReplaced: () => boolean): void {
  let isRequested = false;
  let isPressed = false;
  const replace = () => {
    if (isRequested || isPressed || isReplaced() || widget.tree.size < LARGE) return;
    // a failure isn't worth an error message
    widget.tasks.ifLaidOut(() => {
      isRequested = true;
      void widget.change((session) => session.state);
    });
  };
  widget.on("moved", replace);
  // an element that is replaced between press and release gets no click
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
