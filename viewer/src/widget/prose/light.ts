/** Lights nodes of a picture: all others are dimmed, until a reader selects something. */
import type { Widget } from "../widget.js";

const lights = new WeakMap<Widget, Light>();

/** The one light of a diagram. */
export function lightOf(widget: Widget): Light {
  let light = lights.get(widget);
  if (light === undefined) {
    light = new Light(widget);
    lights.set(widget, light);
  }
  return light;
}

export class Light {
  readonly #widget: Widget;
  /** What is lit while nothing is pointed at, and what is pointed at. */
  #kept: readonly string[] = [];
  #shown: readonly string[] | undefined;

  constructor(widget: Widget) {
    this.#widget = widget;
    widget.on("drawn", () => this.#paint());
    widget.on("selected", () => {
      if (widget.selected !== undefined) this.keep([]);
    });
  }

  /** Light these from now on; none if there are none. */
  keep(ids: readonly string[]): void {
    this.#kept = ids;
    this.#shown = undefined;
    this.#paint();
  }

  /** Light others for a while, or what was lit before. */
  show(ids: readonly string[] | undefined): void {
    this.#shown = ids;
    this.#paint();
  }

  #paint(): void {
    const { picture } = this.#widget.tree;
    const lit = new Set((this.#shown ?? this.#kept).flatMap((id) => this.#widget.visibleAncestor(id) ?? []));
    picture.classList.toggle("mg-told", lit.size > 0);
    for (const node of picture.querySelectorAll<SVGElement>("[data-id]")) {
      const isLit = lit.has(node.dataset.id ?? "");
      node.classList.toggle("mg-light", isLit);
    }
  }
}
