/** Prints the page's own picture, whatever a reader has opened. */
import type { Widget } from "../widget.js";

export function paper(widget: Widget): void {
  const print = () => widget.print();
  widget.whileConnected((signal) => {
    addEventListener("beforeprint", print, { signal });
    // also for pages that are only shown as on paper
    matchMedia("print").addEventListener("change", print, { signal });
  });
}
