/**
 * Entry of `catalogue.js`: `<model-catalogue>` shows a library's models as cards. Until a reader comes near, and if the data
 * doesn't load, the page's table is there.
 */
import { inSlices } from "../shared/slices.js";
import { Catalogue } from "../widget/catalogue/catalogue.js";
import { type CatalogueData, parsedLines } from "../widget/catalogue/catalogue_data.js";
import { loadData } from "../widget/loading/loader.js";

const NAME = "model-catalogue";

/** Data is loaded this far from the window. */
const AHEAD = "1000px";

const parsed = (text: string): Promise<CatalogueData> => inSlices(parsedLines(text));

class ModelCatalogue extends HTMLElement {
  #catalogue: Catalogue | undefined;
  #connection = new AbortController();
  readonly #observer = new IntersectionObserver(
    (changes) => changes.some(({ isIntersecting }) => isIntersecting) && void this.#start(),
    { rootMargin: AHEAD },
  );

  connectedCallback(): void {
    this.#connection = new AbortController();
    const { signal } = this.#connection;
    if (this.#catalogue === undefined) this.#observer.observe(this);
    // here, the key is ours; elsewhere, what the page does with it comes first
    for (const target of [this, window])
      target.addEventListener("keydown", (event) => this.#onKey(event as KeyboardEvent), { signal });
    addEventListener("popstate", () => void this.#catalogue?.readAddress(), { signal });
  }

  disconnectedCallback(): void {
    this.#connection.abort();
    this.#observer.disconnect();
  }

  async #start(): Promise<void> {
    this.#observer.disconnect();
    // resolved now, because instant navigation may change the address of the page
    const src = new URL(this.getAttribute("src") ?? "", document.baseURI).href;
    const data = await loadData(this.getAttribute("catalogue") ?? "", src, parsed).catch(() => undefined);
    if (data === undefined || !this.isConnected || this.#catalogue !== undefined) return;
    this.#catalogue = await Catalogue.start(this, data, src);
  }

  #onKey(event: KeyboardEvent): void {
    const { key, target, defaultPrevented, ctrlKey, metaKey, altKey } = event;
    if (this.#catalogue === undefined || key !== "/" || defaultPrevented || ctrlKey || metaKey || altKey) return;
    if (target instanceof Element && target.closest("input, textarea, select, [contenteditable], dialog")) return;
    event.preventDefault();
    event.stopPropagation();
    this.#catalogue.focusSearch();
  }
}

if (customElements.get(NAME) === undefined) customElements.define(NAME, ModelCatalogue);
