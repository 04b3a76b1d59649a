/** Links to what is shown: another script follows them, and writes them from the menu. */
import type { Widget } from "../widget.js";

/** A hash that may be about a diagram: `#pkg.Net?open=h.0`, or a word of former versions. */
const MAYBE_OURS = /\?|model-graph-/;

export function link(widget: Widget): void {
  // a frame of a notebook has no address
  if (location.protocol === "about:") return;
  const follow = () => {
    // not awaited: it waits for tasks behind this one
    if (MAYBE_OURS.test(location.hash))
      void widget.tasks.withPart("menu.js", ({ followLink }) => void followLink(widget));
  };
  widget.whileConnected((signal) => {
    addEventListener("hashchange", follow, { signal });
    document.addEventListener("click", (event) => repeatsLink(event) && follow(), { signal });
  });
  follow();
}

/** Whether a click is on a link to where the page is already: the browser tells of no change. */
function repeatsLink({ target }: Event): boolean {
  const anchor = target instanceof Element ? target.closest("a") : null;
  return anchor !== null && anchor.hash !== "" && anchor.href === location.href;
}
