import type { Session } from "../../session/session.js";
import { strings } from "../../shared/strings.js";
import { box, button } from "../controls/dom.js";
import { remembered, THEME_KEY } from "../controls/storage.js";
import { loadOwn, wasmAllowed } from "../loading/loader.js";
import type { Widget } from "../widget.js";

/** The menu's button, the key for help, and other features whose code is in scripts that are loaded later. */

/** The menu of one diagram. */
interface Popup {
  open(at: "first" | "last"): void;
  close(): void;
  readonly isOpen: boolean;
}

interface Menu {
  makePopup(widget: Widget): Popup;
  help(widget: Widget): void;
  applyTheme(widget: Widget): void;
  followLink(widget: Widget): Promise<void>;
}

declare global {
  /** Set by `menu.js`. */
  var modelDiagramsMenu: Menu | undefined;
}

export function menu(widget: Widget): void {
  const { menuButton } = widget.toolbar;
  let popup: Popup | undefined;
  const open = (at: "first" | "last") =>
    void widget.tasks.withScript("menu.js", ({ makePopup }) => {
      popup ??= makePopup(widget);
      popup.open(at);
    });
  menuButton.addEventListener("click", () => (popup?.isOpen ? popup.close() : open("first")));
  menuButton.addEventListener("keydown", (event) => {
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    event.preventDefault();
    open(event.key === "ArrowDown" ? "first" : "last");
  });
  if (remembered(THEME_KEY) !== null)
    loadOwn("menu.js").then(
      ({ applyTheme }) => applyTheme(widget),
      () => undefined,
    );
  widget.onKey("?", () => {
    void widget.tasks.withScript("menu.js", ({ help }) => help(widget));
    return true;
  });
}

/** Follows links to views; `menu.js` follows and writes them. */

/** A hash that may concern a diagram: `#pkg.Net?open=h.0`, or a word of former versions. */
const MAYBE_OURS = /\?|model-graph-/;

export function link(widget: Widget): void {
  // a frame of a notebook has no address
  if (location.protocol === "about:") return;
  const follow = () => {
    // not awaited, because it waits for tasks after this one
    if (MAYBE_OURS.test(location.hash))
      void widget.tasks.withScript("menu.js", ({ followLink }) => void followLink(widget));
  };
  widget.whileConnected((signal) => {
    addEventListener("hashchange", follow, { signal });
    document.addEventListener("click", (event) => repeatsLink(event) && follow(), { signal });
  });
  follow();
}

/** Whether a click is on a link to the page's current address: the browser reports no change. */
function repeatsLink({ target }: Event): boolean {
  const anchor = target instanceof Element ? target.closest("a") : null;
  return anchor !== null && anchor.hash !== "" && anchor.href === location.href;
}

/** From near, nodes show their lines of code if the page has them; `code.js` writes them. */

declare global {
  /** Set by `code.js`. */
  var modelDiagramsCode: ((widget: Widget, session: Session, near: number) => void) | undefined;
}

/** Least scale at which lines of code fit into boxes. */
const NEAR = 1.5;

export function code(widget: Widget): void {
  if (!widget.host.hasAttribute("source-link")) return;
  let isNear = false;
  widget.on("moved", () => {
    // nobody asked for it, so nobody is told if it is impossible
    if (isNear || widget.camera.viewport.scale < NEAR || !wasmAllowed()) return;
    isNear = true;
    void widget.tasks.withLayout(async (session) => {
      (await loadOwn("code.js"))(widget, session, NEAR);
    });
  });
}

declare global {
  /** Set by `recording.js`. */
  var modelDiagramsRecording: ((widget: Widget, session: Session) => void) | undefined;
}

export function recording(widget: Widget): void {
  const { host, foot } = widget;
  const live = host.getAttribute("recording");
  if (live === null) return;
  const open = () => {
    offer.remove();
    void widget.tasks.withSession(async (session) => {
      (await loadOwn("recording.js"))(widget, session);
    });
  };
  const offer = box("mg-scale", button(strings.showTraining, open));
  if (live !== "" || !host.hasAttribute("src")) open();
  else foot.prepend(offer);
}
