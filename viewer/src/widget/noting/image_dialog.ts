import { strings } from "../../shared/strings.js";
import { colourBehind, hex } from "../controls/css_colour.js";
import { box, button } from "../controls/dom.js";
import { header, idOf, nodeAt } from "../picture/tree.js";
import type { Widget } from "../widget.js";

/** The images of a node in full size, opened by a click or tap on its thumbnail, or by Enter on the node. */

const THUMB = "[data-image]";

/** One for each diagram with images. */
export class ImageDialog {
  readonly #element = document.createElement("dialog");
  readonly #content = box("mg-image-content");
  readonly #widget: Widget;
  /** Id of the node whose images are shown. */
  #node = "";

  constructor(widget: Widget) {
    this.#widget = widget;
    const { host, canvas } = widget;
    this.#element.className = "mg-image-dialog";
    this.#element.append(
      button(strings.close, () => this.#element.close()),
      this.#content,
    );
    // with the styles of the text around it
    (host.closest("figure") ?? host).after(this.#element);
    this.#element.addEventListener("click", ({ target }) => target === this.#element && this.#element.close());
    this.#element.addEventListener("close", () => this.#return());
    canvas.addEventListener("click", (event) => {
      const thumb = (event.target as Element).closest<SVGElement>(THUMB);
      // the details of its node would open, too
      if (thumb !== null && this.#show(thumb)) event.stopPropagation();
    });
    widget.onKey("Enter", (id) => {
      const node = id === undefined ? undefined : widget.tree.findDrawn(id);
      const thumb = node && header(node).querySelector<SVGElement>(`:scope > ${THUMB}`);
      if (thumb) this.#show(thumb);
      return false; // and Enter goes on to do what it does for every node
    });
  }

  /** Show the images of a node; whether there were any. */
  #show(thumb: SVGElement): boolean {
    const node = nodeAt(thumb);
    const images = thumb.dataset.image?.split(" ").flatMap((number) => this.#image(number)) ?? [];
    if (node === null || images.length === 0 || this.#widget.nodePicker !== undefined) return false;
    this.#node = idOf(node);
    this.#content.replaceChildren(...images.flat());
    this.#element.ariaLabel = images.map((image) => image.querySelector("img")?.alt ?? "").join(", ");
    // colours of the page now, as readers switch between light and dark
    this.#element.style.background = hex(colourBehind(this.#widget.host));
    this.#element.style.color = getComputedStyle(this.#widget.host).color;
    this.#element.showModal();
    return true;
  }

  /** A copy of an image and its text from the page's list, which only shows without scripts and on paper. */
  #image(number: string): HTMLElement[] {
    const listed = document.getElementById(`${this.#widget.host.getAttribute("notes")}-image-${number}`);
    if (listed === null) return [];
    const copy = listed.cloneNode(true) as HTMLElement;
    copy.removeAttribute("id");
    return [copy];
  }

  #return(): void {
    const node = this.#widget.tree.find(this.#node);
    if (node !== undefined) this.#widget.focus(node);
  }
}
