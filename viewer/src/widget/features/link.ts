/** Links to what is shown: another script writes and follows them. */
import { strings } from "../../shared/strings.js";
import { button } from "../parts/dom.js";
import type { Widget } from "../widget.js";

interface Menu {
  copyLink(widget: Widget): Promise<void>;
  followLink(widget: Widget): Promise<void>;
}

declare global {
  /** Comes with `menu.js`. */
  var modelDiagramsMenu: Menu | undefined;
}

/** A hash that may be about a diagram: `#pkg.Net?open=h.0`, or a word of former versions. */
const MAYBE_OURS = /\?|model-graph-/;

export function link(widget: Widget): void {
  // a frame of a notebook has no address
  if (location.protocol === "about:") return;
  const withMenu = (task: (menu: Menu) => Promise<void>) =>
    // not awaited: it waits for tasks behind this one
    void widget.withPart("menu.js", (menu) => void task(menu));
  widget.toolbar.addToMenu(
    "",
    button(strings.copyLink, () => withMenu(({ copyLink }) => copyLink(widget))),
  );
  const follow = () => {
    if (MAYBE_OURS.test(location.hash)) withMenu(({ followLink }) => followLink(widget));
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
