/** The menu closes when the reader turns to something else. */
import type { Widget } from "./widget.js";

export function menu(widget: Widget): void {
  const { toolbar } = widget;
  const elsewhere = (event: PointerEvent) => {
    // a finger that is put down may be about to scroll
    if (event.type === "pointerdown" && event.pointerType === "touch") return;
    if (!event.composedPath().includes(toolbar.element)) toolbar.openMenu(false);
  };
  widget.whileHere((signal) => {
    for (const press of ["pointerdown", "click"] as const)
      addEventListener(press, elsewhere, { capture: true, passive: true, signal });
  });
  widget.onKey("Escape", () => toolbar.openMenu(false));
}
