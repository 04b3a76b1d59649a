import { box, make } from "../controls/dom.js";
import type { MenuItem, MenuRow } from "../controls/toolbar.js";
import type { Mode } from "../modes.js";
import type { Widget } from "../widget.js";
import { menuRows } from "./menu_rows.js";
import { withStyle } from "./theme.js";

/** The menu above its button, by the pattern of the ARIA Authoring Practices: arrow keys, first letters, Escape. */

/** Approximate height of the bars of themes at the upper edge of the window, px. */
const BAR = 56;
/** Between the menu and the window's edge, px. */
const EDGE = 8;

export class Popup {
  readonly #widget: Widget;
  readonly #element = box("mg-menu");
  readonly #items = new Map<HTMLButtonElement, MenuItem>();
  readonly #mode: Mode = {
    text: "",
    part: this.#element,
    isOver: true,
    leave: () => this.close(),
    onKey: (event) => this.#onKey(event),
  };

  constructor(widget: Widget) {
    const { toolbar } = widget;
    this.#widget = widget;
    withStyle(widget);
    this.#element.role = "menu";
    this.#element.ariaLabel = toolbar.menuButton.ariaLabel;
    this.#element.append(...menuRows(widget).map((row) => this.#row(row)));
    this.#element.hidden = true;
    this.#element.addEventListener("focusout", ({ relatedTarget }) => {
      if (relatedTarget instanceof Node && !toolbar.element.contains(relatedTarget)) this.#toggle(false);
    });
    toolbar.element.append(this.#element);
    widget.on("drawn", () => this.#update());
    widget.whileConnected((signal) => {
      const options = { capture: true, passive: true, signal };
      for (const press of ["pointerdown", "click"] as const)
        addEventListener(press, (event) => this.#onPress(event), options);
      // a notebook's frame grows while the menu opens
      addEventListener("resize", () => this.isOpen && this.#place(), { signal });
    });
  }

  get isOpen(): boolean {
    return !this.#element.hidden;
  }

  open(at: "first" | "last"): void {
    this.#update();
    this.#toggle(true);
    this.#place();
    const items = [...this.#items.keys()];
    items.at(at === "first" ? 0 : -1)?.focus();
  }

  close(): void {
    const hadFocus = this.#element.matches(":focus-within");
    this.#toggle(false);
    if (hadFocus) this.#widget.toolbar.menuButton.focus();
  }

  #toggle(isOpen: boolean): void {
    this.#element.hidden = !isOpen;
    this.#widget.toolbar.menuButton.ariaExpanded = String(isOpen);
    this.#widget.modes.set(this.#mode, isOpen);
  }

  #row({ label, items }: MenuRow): HTMLElement {
    const buttons = items.map((item) => this.#item(item));
    if (label === "") return box("mg-choices", ...buttons);
    const name = make("span", "mg-what", label);
    name.ariaHidden = "true";
    const row = box("mg-row", name, ...buttons);
    row.role = "group";
    row.ariaLabel = label;
    return row;
  }

  #item(item: MenuItem): HTMLButtonElement {
    const element = make("button", "mg-button", item.text);
    element.type = "button";
    element.tabIndex = -1;
    element.role = item.isOn === undefined ? "menuitem" : item.isChoice ? "menuitemradio" : "menuitemcheckbox";
    element.addEventListener("click", () => {
      if (!item.stays) this.close();
      item.run();
      this.#update();
    });
    this.#items.set(element, item);
    return element;
  }

  #update(): void {
    for (const [element, { isOn }] of this.#items) if (isOn !== undefined) element.ariaChecked = String(isOn());
  }

  #onPress(event: PointerEvent): void {
    // a finger may be about to scroll
    if (!this.isOpen || (event.type === "pointerdown" && event.pointerType === "touch")) return;
    if (!event.composedPath().includes(this.#widget.toolbar.element)) this.#toggle(false);
  }

  /** Handle a key while the focus is in the menu; whether it was used. */
  #onKey({ key, target }: KeyboardEvent): boolean {
    const items = [...this.#items.keys()];
    const at = items.indexOf(target as HTMLButtonElement);
    if (at < 0) return false;
    // the browser moves the focus on from the button
    if (key === "Tab") this.close();
    const to = this.#target(key, at, items);
    items[to]?.focus();
    return to >= 0 || (key.length === 1 && key !== " ");
  }

  #target(key: string, at: number, items: HTMLButtonElement[]): number {
    const { length } = items;
    if (key === "ArrowDown" || key === "ArrowRight") return (at + 1) % length;
    if (key === "ArrowUp" || key === "ArrowLeft") return (at - 1 + length) % length;
    if (key === "Home") return 0;
    if (key === "End") return length - 1;
    if (key.length !== 1 || key === " ") return -1;
    const isNext = (_: unknown, i: number) =>
      items[(at + 1 + i) % length]?.textContent.toLowerCase().startsWith(key.toLowerCase());
    const next = items.findIndex(isNext);
    return next < 0 ? -1 : (at + 1 + next) % length;
  }

  /** Place the menu above the buttons or, if the window has no room there, below. */
  #place(): void {
    const { element } = this.#widget.toolbar;
    element.classList.remove("mg-below");
    this.#element.style.maxWidth = "";
    const { top, height, left, right } = this.#element.getBoundingClientRect();
    // with large text, it is wider than the space to the edge of the window
    const excess = Math.max(EDGE - left, right - innerWidth + EDGE);
    if (excess > 0) this.#element.style.maxWidth = `${right - left - excess}px`;
    const below = innerHeight - element.getBoundingClientRect().bottom;
    element.classList.toggle("mg-below", top < BAR && below > Math.min(height, top + height));
  }
}

/** The style of the menu and the help, which comes with their script. */
