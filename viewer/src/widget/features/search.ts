/** Search: a bar below the picture that goes from hit to hit. */
import { fill, strings } from "../../shared/strings.js";
import { box, iconButton, make } from "../parts/dom.js";
import { FocusReturn } from "../parts/focus_return.js";
import type { Widget } from "../widget.js";

const GLASS = "M7 2.5a4.5 4.5 0 1 0 0 9a4.5 4.5 0 0 0 0-9zM10.5 10.5l3.5 3.5";
const UP = "M3.5 10L8 5.5l4.5 4.5";
const DOWN = "M3.5 6L8 10.5L12.5 6";
const CLOSE = "M4 4l8 8M12 4l-8 8";

export function search(widget: Widget): void {
  const bar = new SearchBar(widget);
  widget.foot.prepend(bar.element);
  widget.toolbar.add(iconButton(strings.search, GLASS, () => bar.open()));
  widget.onKey("/", () => bar.open());
}

class SearchBar {
  readonly element: HTMLElement;
  readonly #widget: Widget;
  readonly #field = make("input", "mg-field");
  readonly #count = make("output", "mg-count");
  readonly #focusReturn: FocusReturn;
  readonly #mode = { text: "", leave: () => void this.close() };
  #hits: string[] = [];
  /** Index of the current hit. */
  #current = -1;

  constructor(widget: Widget) {
    this.#widget = widget;
    this.element = box(
      "mg-search",
      this.#field,
      this.#count,
      iconButton(strings.previous, UP, () => this.#go(-1)),
      iconButton(strings.next, DOWN, () => this.#go(1)),
      iconButton(strings.close, CLOSE, () => this.close()),
    );
    this.#focusReturn = new FocusReturn(widget, this.element);
    this.element.role = "search";
    this.element.hidden = true;
    this.#field.type = "search";
    this.#field.placeholder = strings.searchHint;
    this.#field.ariaLabel = strings.search;
    this.#field.addEventListener("input", () => this.#search());
    this.#field.addEventListener("keydown", (event) => this.#onKey(event));
  }

  open(): boolean {
    if (this.element.hidden) this.#focusReturn.remember();
    this.element.hidden = false;
    this.#widget.modes.set(this.#mode, true);
    this.#field.focus();
    this.#field.select();
    return true;
  }

  /** Close the bar; whether it was open. */
  close(): boolean {
    if (this.element.hidden) return false;
    const returnFocus = this.#focusReturn.prepare(this.#current >= 0 ? this.#widget.selected : undefined);
    this.element.hidden = true;
    this.#widget.modes.set(this.#mode, false);
    returnFocus();
    return true;
  }

  #onKey(event: KeyboardEvent): void {
    if (event.key !== "Enter") return;
    event.preventDefault();
    this.#go(event.shiftKey ? -1 : 1);
  }

  /** Go to the next or previous hit, after the search for what was just typed. */
  #go(step: number): void {
    void this.#widget.withSession(() => this.#step(step));
  }

  #search(): void {
    void this.#widget.withSession((session) => {
      const { value } = this.#field;
      this.#hits = session.search(value);
      this.#current = -1;
      if (value.trim() === "") this.#count.value = "";
      else this.#count.value = this.#hits.length === 0 ? strings.noHits : fill(strings.hits, 0, this.#hits.length);
    });
  }

  #step(step: number): void {
    if (this.#hits.length === 0) return;
    // the first step back leads to the last hit
    const from = Math.max(this.#current, step < 0 ? 0 : -1);
    this.#current = (from + step + this.#hits.length) % this.#hits.length;
    const hit = this.#hits[this.#current] ?? "";
    this.#count.value = fill(strings.hits, this.#current + 1, this.#hits.length);
    if (this.#widget.tree.has(hit)) this.#widget.goTo(hit);
    else void this.#widget.change((session) => session.withNode(hit)).then(() => this.#widget.goTo(hit));
  }
}
