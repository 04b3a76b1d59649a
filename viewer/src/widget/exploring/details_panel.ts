import { detailsOf } from "../../session/details.js";
import type { Session } from "../../session/session.js";
import { words } from "../../shared/explore_strings.js";
import { fill, strings } from "../../shared/strings.js";
import { box, button, iconButton, onResize } from "../controls/dom.js";
import { FocusReturn } from "../controls/focus_return.js";
import { uncoverSelected } from "../features/sticky.js";
import type { Widget } from "../widget.js";
import { contentOf, shorten } from "./details_content.js";
import { roomBeside } from "./room.js";

/**
 * The details panel: facts about a node or the model, and actions. It is beside the picture if there is room, else below it:
 * on one line, until the reader wants more.
 */

const CLOSE = "M4 4l8 8M12 4l-8 8";
/** Time without movement that ends a gesture, longer than animations, ms. */
const REST = 200;

export class DetailsPanel {
  readonly element = box("mg-panel-sheet");
  readonly #widget: Widget;
  readonly #focusReturn: FocusReturn;
  readonly #mode = { text: "", leave: () => void this.close(), part: this.element };
  /** False after the reader closed the panel: clicks on modules then only toggle them. */
  #opensOnModules = true;
  /** Whether the reader wants the whole panel below the picture. */
  #isFull = false;
  readonly #more = button(words.more, () => this.#toggleFull());
  #rest: ReturnType<typeof setTimeout> | undefined;
  /** The picture of the content. */
  #picture: SVGSVGElement | undefined;

  constructor(widget: Widget) {
    this.#widget = widget;
    this.#focusReturn = new FocusReturn(widget, this.element);
    this.element.role = "region";
    this.element.ariaLabel = strings.details;
    this.element.hidden = true;
    this.#more.classList.add("mg-more");
    widget.on("drawn", () => this.#onDrawn());
    widget.on("case", () => {
      if (!this.element.hidden) this.#load();
    });
    widget.on("moved", () => this.#arrangeLater());
    onResize(() => this.#arrange()).observe(widget.stage);
  }

  open(id: string): void {
    this.#opensOnModules = true;
    this.#isFull = true;
    if (this.#widget.selected === id) this.#load();
    else this.#widget.select(id);
  }

  /** Close the panel; whether it was open. */
  close(): boolean {
    if (this.element.hidden) return false;
    const returnFocus = this.#focusReturn.prepare(this.#widget.selected);
    this.#opensOnModules = false;
    this.#isFull = false;
    this.#hide();
    this.#widget.select(undefined);
    returnFocus();
    return true;
  }

  /** Show the details of the selection. */
  follow(): void {
    const { selected, tree } = this.#widget;
    if (selected === undefined) this.#hide();
    else if (this.#opensOnModules || !tree.canToggle(selected)) this.#load();
  }

  #hide(): void {
    this.element.hidden = true;
    this.#widget.modes.set(this.#mode, false);
  }

  #onDrawn(): void {
    const { session, tree } = this.#widget;
    if (!this.element.hidden && session !== undefined && this.#picture !== tree.picture) this.#show(session);
  }

  #load(): void {
    const { session } = this.#widget;
    if (session === undefined) return;
    this.#show(session);
    uncoverSelected(this.#widget);
  }

  #show(session: Session): void {
    const { selected, tree } = this.#widget;
    if (selected === undefined) return;
    const details = detailsOf(session, selected);
    if (this.element.hidden) {
      this.#focusReturn.remember();
      this.#widget.announce(fill(words.detailsBelow, shorten(details.title)));
    }
    this.element.hidden = false;
    this.#widget.modes.set(this.#mode, true);
    const { activeElement } = this.element.getRootNode() as ShadowRoot;
    const focused = this.element.contains(activeElement) ? activeElement : null;
    const closeButton = iconButton(strings.close, CLOSE, () => this.close());
    closeButton.classList.add("mg-close");
    this.element.replaceChildren(closeButton, this.#more, ...contentOf(this.#widget, session, selected, details));
    this.#arrange();
    if (focused !== null) counterpart(this.element, focused)?.focus();
    this.element.scrollTop = 0;
    this.#picture = tree.picture;
  }

  #arrange(): void {
    const { classList, style } = this.element;
    if (this.element.hidden) return;
    // below the picture, it would take some of the height that it has beside it
    classList.remove("mg-line");
    classList.add("mg-side");
    const room = roomBeside(this.#widget, this.element.offsetWidth);
    classList.toggle("mg-side", room !== undefined);
    classList.toggle("mg-left", room?.isLeft === true);
    classList.toggle("mg-line", room === undefined && !this.#isFull);
    style.setProperty("--mg-side", `${room?.height ?? 0}px`);
    this.#more.textContent = this.#isFull ? words.less : words.more;
  }

  /** Place the panel once the picture rests: a jump during a gesture would disturb it. */
  #arrangeLater(): void {
    clearTimeout(this.#rest);
    if (!this.element.hidden) this.#rest = setTimeout(() => this.#arrange(), REST);
  }

  #toggleFull(): void {
    this.#isFull = !this.#isFull;
    this.#arrange();
    uncoverSelected(this.#widget);
  }
}

/** The new control that replaces one of the content before. */
function counterpart(panel: HTMLElement, old: Element): HTMLElement | undefined {
  const controls = [...panel.querySelectorAll<HTMLElement>("button, select")];
  return controls.find(({ tagName, textContent }) => tagName === old.tagName && textContent === old.textContent);
}
