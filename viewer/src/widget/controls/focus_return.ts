/** Returns the focus when a part of the widget closes. */
import type { Widget } from "../widget.js";

export class FocusReturn {
  #previous: HTMLElement | SVGElement | undefined;

  constructor(
    readonly widget: Widget,
    readonly part: HTMLElement,
  ) {}

  /** Call when the part opens: remembers the focused element. */
  remember(): void {
    const active = this.#active;
    if (active !== null && !this.part.contains(active)) this.#previous = active as HTMLElement | SVGElement;
  }

  /**
   * Call before the part closes, and the returned function after it has closed: focuses a node, else the element that had
   * the focus before, else the tree. Does nothing if the focus is elsewhere.
   */
  prepare(id: string | undefined): () => void {
    const active = this.#active;
    if (active === null || !this.part.contains(active)) return () => undefined;
    return () => {
      const { tree } = this.widget;
      const node = tree.find(id ?? "");
      if (node !== undefined) {
        this.widget.focus(node);
        this.widget.reveal(node);
      } else if (this.#previous?.isConnected && this.#previous.getClientRects().length > 0) this.#previous.focus();
      else tree.tabStop?.focus({ preventScroll: true });
    };
  }

  get #active(): Element | null {
    return (this.part.getRootNode() as ShadowRoot).activeElement;
  }
}
