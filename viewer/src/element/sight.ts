/** Keeps what is in the document of a large picture in step with what is in sight of it. */
import { LARGE } from "./scene.js";
import type { Widget } from "./widget.js";

export function sight(widget: Widget): void {
  const look = () => widget.look();
  let here: AbortSignal;
  let touched = false;
  const follow = () => document.addEventListener("scroll", look, { capture: true, passive: true, signal: here });
  widget.whileHere((signal) => {
    here = signal;
    if (touched) follow();
    const watch = new ResizeObserver(() => {
      widget.camera.resized();
      look();
    });
    watch.observe(widget.stage);
    signal.addEventListener("abort", () => watch.disconnect());
  });
  // before it is touched a diagram follows the page by itself
  widget.on("drawn", () => {
    touched = true;
    follow();
  });
  let thinned = false;
  widget.on("moved", () => {
    if (thinned || touched || widget.tree.size < LARGE) return;
    // the page shipped all of it, which is more than moves smoothly; where nothing can be drawn, nobody has asked for it
    widget.peek(() => {
      thinned = true;
      void widget.change((state) => state);
    });
  });
}
