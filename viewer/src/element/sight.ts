/** Keeps what is in the document of a large picture in step with what is in sight of it. */
import { LARGE } from "./scene.js";
import type { Widget } from "./widget.js";

export function sight(widget: Widget): void {
  const look = () => {
    if (widget.host.isConnected) widget.look();
    else document.removeEventListener("scroll", look, true);
  };
  // before it is touched a diagram follows the page by itself
  widget.on("drawn", () => document.addEventListener("scroll", look, { capture: true, passive: true }));
  new ResizeObserver(look).observe(widget.stage);
  widget.on("loaded", () => {
    // the page shipped all of it, which is more than moves smoothly
    if (widget.tree.size >= LARGE) void widget.change((state) => state);
  });
}
