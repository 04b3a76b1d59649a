/** The menu's button, and the key for help; another script brings what they open. */

import { remembered, THEME_KEY } from "../controls/storage.js";
import { loadOwn } from "../loading/loader.js";
import type { Widget } from "../widget.js";

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
  /** Comes with `menu.js`. */
  var modelDiagramsMenu: Menu | undefined;
}

export function menu(widget: Widget): void {
  const { menuButton } = widget.toolbar;
  let popup: Popup | undefined;
  const open = (at: "first" | "last") =>
    void widget.tasks.withPart("menu.js", ({ makePopup }) => {
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
    void widget.tasks.withPart("menu.js", ({ help }) => help(widget));
    return true;
  });
}
