/** The bar with the search field, which is there at once, while the search may still be loading. */
import { strings } from "../../shared/strings.js";
import type { Widget } from "../widget.js";
import { box, make } from "./dom.js";
import { FocusReturn } from "./focus_return.js";

export class SearchField {
  readonly input = make("input", "mg-field");
  readonly bar = box("mg-search", this.input);
  /** The node found by a search. */
  found: string | undefined;
  readonly #widget: Widget;
  /** Called when the bar has opened or closed. */
  onToggle: () => void = () => undefined;
  readonly #focusReturn: FocusReturn;
  readonly #mode = { text: "", leave: () => this.close(), part: this.bar };

  constructor(widget: Widget) {
    this.#widget = widget;
    this.#focusReturn = new FocusReturn(widget, this.bar);
    this.bar.role = "search";
    this.bar.hidden = true;
    this.input.type = "search";
    this.input.role = "combobox";
    this.input.ariaExpanded = "false";
    this.input.autocomplete = "off";
    this.input.placeholder = strings.searchHint;
    this.input.ariaLabel = strings.search;
  }

  get isOpen(): boolean {
    return !this.bar.hidden;
  }

  open(): void {
    if (!this.isOpen) this.#focusReturn.remember();
    this.bar.hidden = false;
    this.#widget.modes.set(this.#mode, true);
    this.input.focus();
    this.input.select();
    this.onToggle();
  }

  close(): void {
    if (!this.isOpen) return;
    const returnFocus = this.#focusReturn.prepare(this.found);
    this.bar.hidden = true;
    this.#widget.modes.set(this.#mode, false);
    this.onToggle();
    returnFocus();
  }
}
