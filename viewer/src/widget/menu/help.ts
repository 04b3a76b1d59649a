/** What keys and gestures do. */
import { keys, words } from "../../shared/menu_strings.js";
import { strings } from "../../shared/strings.js";
import { box, iconButton, make } from "../parts/dom.js";
import type { Widget } from "../widget.js";

const CLOSE = "M4 4l8 8M12 4l-8 8";

/** Diagram → its dialog. */
const dialogs = new WeakMap<Widget, HTMLDialogElement>();

export function help(widget: Widget): void {
  const dialog = dialogs.get(widget) ?? made(widget);
  dialogs.set(widget, dialog);
  if (dialog.open) return;
  dialog.showModal();
  widget.modes.set(modeOf(dialog), true);
}

const modes = new WeakMap<HTMLDialogElement, { text: string; leave(): void; onKey(event: KeyboardEvent): boolean }>();

/** Keys do nothing behind the dialog. */
function modeOf(dialog: HTMLDialogElement) {
  const mode = modes.get(dialog) ?? {
    text: "",
    leave: () => dialog.close(),
    onKey: ({ key }) => key.length === 1 && key !== " ",
  };
  modes.set(dialog, mode);
  return mode;
}

function made(widget: Widget): HTMLDialogElement {
  const dialog = make("dialog", "mg-help");
  const close = iconButton(strings.close, CLOSE, () => dialog.close());
  close.classList.add("mg-close");
  dialog.ariaLabel = words.help;
  dialog.append(close, ...Object.entries(keys()).map(([part, rows]) => section(part, rows)));
  dialog.addEventListener("close", () => widget.modes.set(modeOf(dialog), false));
  // a press beside it
  dialog.addEventListener("click", ({ target }) => target === dialog && dialog.close());
  widget.foot.append(dialog);
  return dialog;
}

function section(name: string, rows: readonly (readonly [key: string, effect: string])[]): HTMLElement {
  const listed = rows.map(([key, effect]) => box("", make("dt", "", make("kbd", "", key)), make("dd", "", effect)));
  return box("", make("strong", "", name), make("dl", "", ...listed));
}
