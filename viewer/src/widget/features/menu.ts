/** Closes the menu when the reader clicks elsewhere or presses Escape. */
import type { Widget } from "../widget.js";

export function menu(widget: Widget): void {
  const { toolbar } = widget;
  const onPress = (event: PointerEvent) => {
    // a finger that is put down may be about to scroll
    if (event.type === "pointerdown" && event.pointerType === "touch") return;
    if (!event.composedPath().includes(toolbar.element)) toolbar.openMenu(false);
  };
  widget.whileConnected((signal) => {
    for (const press of ["pointerdown", "click"] as const)
      addEventListener(press, onPress, { capture: true, passive: true, signal });
  });
  const mode = { text: "", leave: () => void toolbar.openMenu(false) };
  toolbar.onMenu = (isOpen) => widget.modes.set(mode, isOpen);
}
