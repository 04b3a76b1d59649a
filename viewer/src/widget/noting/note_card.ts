import { colourBehind, hex } from "../controls/css_colour.js";
import { box } from "../controls/dom.js";
import { header, nodeAt } from "../picture/tree.js";

/** The card with the notes of a node, next to it and always inside the window. */

/** Distance of the card from its node, and from the edges of the window, px. */
const GAP = 6;
const EDGE = 8;
/** How long a card stays while the pointer moves to it, ms. */
const GRACE = 300;

/** One for each diagram with notes. */
export class NoteCard {
  readonly element = box("mg-note-card");
  readonly #host: HTMLElement;
  /** The node whose notes are shown. */
  #node: SVGElement | undefined;
  #leaving = 0;

  constructor(host: HTMLElement) {
    this.#host = host;
    this.element.role = "note";
    this.element.ariaLive = "polite";
    // in the top layer, it is also above full screens
    if ("popover" in this.element) this.element.popover = "manual";
    else this.hide();
    // with the styles of the text around it
    (host.closest("figure") ?? host).after(this.element);
    const root = host.shadowRoot ?? host;
    const onNode = ({ target }: Event) => this.#follow(target);
    for (const type of ["pointerover", "focusin"]) root.addEventListener(type, onNode);
    // first, because a click on a block from afar zooms in, and no other handler gets it
    root.addEventListener("click", (event) => this.#onClick(event), { capture: true });
    root.addEventListener("focusout", () => this.#leave());
    host.addEventListener("pointerleave", () => this.#leave());
    this.element.addEventListener("pointerenter", () => clearTimeout(this.#leaving));
    this.element.addEventListener("pointerleave", () => this.#leave());
    addEventListener("scroll", (event) => event.target !== this.element && this.#place(), {
      capture: true,
      passive: true,
    });
    addEventListener("resize", () => this.#place());
    addEventListener("keydown", ({ key }) => key === "Escape" && this.hide());
    addEventListener("pointerdown", ({ target }) => {
      if (target !== host && !this.element.contains(target as Node)) this.hide();
    });
  }

  hide(): void {
    clearTimeout(this.#leaving);
    this.#node = undefined;
    if (this.element.popover === "manual") this.element.hidePopover();
    else this.element.hidden = true;
  }

  #follow(target: EventTarget | null): void {
    const node = nodeAt(target);
    const at = node === null ? null : header(node);
    const contents = at?.contains(target as Node) ? this.#contents(at) : [];
    if (node === null || contents.length === 0) {
      this.#leave();
      return;
    }
    clearTimeout(this.#leaving);
    if (this.#node === node && !this.#isHidden()) return;
    this.#node = node;
    this.element.replaceChildren(...contents);
    // colours of the page now, as readers switch between light and dark
    this.element.style.background = hex(colourBehind(this.#host));
    this.element.style.color = getComputedStyle(this.#host).color;
    if (this.element.popover === "manual") this.element.showPopover();
    else this.element.hidden = false;
    this.element.scrollTop = 0;
    this.#place();
  }

  #onClick({ target }: Event): void {
    this.#follow(target);
    requestAnimationFrame(async () => {
      await Promise.allSettled((this.#host.shadowRoot ?? document).getAnimations().map(({ finished }) => finished));
      this.#place();
    });
  }

  #isHidden(): boolean {
    return this.element.popover === "manual" ? !this.element.matches(":popover-open") : this.element.hidden === true;
  }

  #leave(): void {
    clearTimeout(this.#leaving);
    this.#leaving = setTimeout(() => this.hide(), GRACE);
  }

  /** Copies of the notes with the numbers of a node. */
  #contents(node: SVGElement): HTMLElement[] {
    // from afar, a block has the notes of its inside
    const face = node.querySelector<SVGElement>(":scope > .mg-face[data-notes]")?.dataset.notes;
    const numbers = face ?? node.querySelector(":scope > .mg-note text")?.textContent?.trim() ?? "";
    return numbers.split(",").flatMap((number) => {
      const note = document.getElementById(`${this.#host.getAttribute("notes")}-note-${number}`);
      if (number === "" || note === null) return [];
      const copy = box("mg-note-text", box("mg-note-number", number));
      copy.append(...[...note.childNodes].map((child) => withoutIds(child.cloneNode(true))));
      return [copy];
    });
  }

  /** Below the node or, if there is more room, above it. */
  #place(): void {
    const { element } = this;
    const node = this.#node && header(this.#node);
    if (node === undefined || this.#isHidden()) return;
    // a redrawn picture has another element for the node
    if (!node.isConnected) {
      this.hide();
      return;
    }
    const { left, top, bottom } = node.getBoundingClientRect();
    const width = document.documentElement.clientWidth;
    const [above, below] = [top - GAP - EDGE, innerHeight - bottom - GAP - EDGE];
    element.style.maxWidth = `${width - 2 * EDGE}px`;
    element.style.maxHeight = "";
    const isBelow = element.offsetHeight <= below || below >= above;
    element.style.maxHeight = `${Math.max(isBelow ? below : above, 48)}px`;
    const x = Math.max(EDGE, Math.min(left, width - element.offsetWidth - EDGE));
    const y = isBelow ? bottom + GAP : top - GAP - element.offsetHeight;
    element.style.left = `${x}px`;
    element.style.top = `${Math.max(EDGE, Math.min(y, innerHeight - element.offsetHeight - EDGE))}px`;
  }
}

/** Removes ids and names, which belong to the page's own list. */
function withoutIds(node: Node): Node {
  if (node instanceof Element)
    for (const element of [node, ...node.querySelectorAll("[id], [name]")]) {
      element.removeAttribute("id");
      element.removeAttribute("name");
    }
  return node;
}
