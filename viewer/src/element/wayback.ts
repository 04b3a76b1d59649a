/** Where the focus goes when something closes that had it. */
import type { Widget } from "./widget.js";

/** The way back from something that opens and closes. */
export class WayBack {
  #from: HTMLElement | SVGElement | undefined;

  constructor(
    readonly widget: Widget,
    readonly part: HTMLElement,
  ) {}

  /** It opens: who has the focus now gets it back. */
  remember(): void {
    const active = this.#active;
    if (active !== null && !this.part.contains(active)) this.#from = active as HTMLElement | SVGElement;
  }

  /** It closes. The answer is to be called then: to this node, or to where the focus came from, never to nowhere. */
  leaving(id: string | undefined): () => void {
    const active = this.#active;
    if (active === null || !this.part.contains(active)) return () => undefined;
    return () => {
      const { tree } = this.widget;
      const node = tree.find(id ?? "");
      if (node !== undefined) {
        this.widget.focus(node);
        this.widget.reveal(node);
      } else if (this.#from?.isConnected && this.#from.getClientRects().length > 0) this.#from.focus();
      else tree.stop?.focus({ preventScroll: true });
    };
  }

  get #active(): Element | null {
    return (this.part.getRootNode() as ShadowRoot).activeElement;
  }
}
