/** Lights nodes of a picture and dims all others, until a reader selects something. */
import type { Widget } from "../widget.js";

const lights = new WeakMap<Widget, Light>();

/** The light of a diagram. */
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
  /** The lit nodes while nothing is pointed at, and the nodes that are pointed at. */
  #kept: readonly string[] = [];
  #shown: readonly string[] | undefined;

  constructor(widget: Widget) {
    this.#widget = widget;
    widget.on("drawn", () => this.#paint());
    widget.on("selected", () => {
      if (widget.selected !== undefined) this.keep([]);
    });
  }

  /** Light these nodes from now on. */
  keep(ids: readonly string[]): void {
    this.#kept = ids;
    this.#shown = undefined;
    this.#paint();
  }

  /** Light other nodes for a while, or the former ones again. */
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
