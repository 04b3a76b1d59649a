/** The help on keys and gestures. */
import { keys, words } from "../../shared/menu_strings.js";
import { strings } from "../../shared/strings.js";
import { box, iconButton, make } from "../controls/dom.js";
import type { Mode } from "../modes.js";
import type { Widget } from "../widget.js";
import { withStyle } from "./theme.js";

const CLOSE = "M4 4l8 8M12 4l-8 8";

const opened = new WeakMap<Widget, Help>();

export function help(widget: Widget): void {
  const shown = opened.get(widget) ?? new Help(widget);
  opened.set(widget, shown);
  shown.open();
}

class Help {
  readonly #widget: Widget;
  readonly #dialog = make("dialog", "mg-help");
  /** Letter keys do nothing behind the dialog. */
  readonly #mode: Mode = {
    text: "",
    part: this.#dialog,
    isOver: true,
    leave: () => this.#close(),
    onKey: ({ key }) => key.length === 1 && key !== " ",
  };

  constructor(widget: Widget) {
    this.#widget = widget;
    withStyle(widget);
    const close = iconButton(strings.close, CLOSE, () => this.#close());
    close.classList.add("mg-close");
    this.#dialog.ariaLabel = words.help;
    this.#dialog.append(close, ...Object.entries(keys()).map(([part, rows]) => section(part, rows)));
    // closed by the browser, or some time ago, as the event comes late
    this.#dialog.addEventListener("close", () => this.#tell());
    // a press beside it
    this.#dialog.addEventListener("click", ({ target }) => target === this.#dialog && this.#close());
    widget.foot.append(this.#dialog);
  }

  open(): void {
    if (this.#dialog.open) return;
    this.#dialog.showModal();
    this.#tell();
  }

  #close(): void {
    this.#dialog.close();
    this.#tell();
  }

  /** Set at once whether letter keys do nothing. */
  #tell(): void {
    this.#widget.modes.set(this.#mode, this.#dialog.open);
  }
}

function section(name: string, rows: readonly (readonly [key: string, effect: string])[]): HTMLElement {
  const listed = rows.map(([key, effect]) => box("", make("dt", "", make("kbd", "", key)), make("dd", "", effect)));
  return box("", make("strong", "", name), make("dl", "", ...listed));
}
