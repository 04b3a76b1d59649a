/** One catalogue: cards instead of the page's table. */
import { inSlices, type Steps, turn } from "../../shared/slices.js";
import { make } from "../controls/dom.js";
import { type Choice, choiceIn, keepInAddress } from "./address.js";
import { CardList } from "./card_list.js";
import { CatalogueBar } from "./catalogue_bar.js";
import { type CatalogueData, type Listing, listed } from "./catalogue_data.js";
import { ComparedPair } from "./compared_pair.js";
import { resultLine } from "./result_line.js";
import { selected } from "./selection.js";

const MADE = /^mg-(catalogue-(bar|result|cards)|compare-bar|comparison)$/;

export class Catalogue {
  readonly #host: HTMLElement;
  readonly #listing: Listing;
  /** Its position among the catalogues of the page. */
  readonly #place: number;
  readonly #bar: CatalogueBar;
  readonly #line = make("p", "mg-catalogue-result");
  readonly #cards: CardList;
  readonly #made: HTMLElement[];
  /** Ends what a reader wanted before. */
  #stop = new AbortController();

  private constructor(host: HTMLElement, listing: Listing, assets: string) {
    this.#host = host;
    this.#listing = listing;
    // a copy of a page that a host kept (Turbo) has what the original's script made
    for (const child of [...host.children]) if (MADE.test(child.className)) child.remove();
    this.#place = [...document.querySelectorAll(host.localName)].indexOf(host);
    const pair = new ComparedPair(host, assets);
    const context = { assets, isChosen: pair.isChosen.bind(pair), choose: pair.choose.bind(pair) };
    this.#cards = new CardList(context, levelBelow(host));
    this.#bar = new CatalogueBar(listing, host, (choice) => void this.#show(choice));
    this.#line.role = "status";
    this.#made = [this.#bar.element, this.#line, this.#cards.element, pair.element];
  }

  /** @param assets the URL of a file in the site's folder of diagrams */
  static async start(host: HTMLElement, data: CatalogueData, assets: string): Promise<Catalogue> {
    const listing = await inSlices(listed(data));
    await turn();
    const catalogue = new Catalogue(host, listing, assets);
    await turn();
    await catalogue.readAddress();
    return catalogue;
  }

  /** Show what the page's address says. */
  readAddress(): Promise<void> {
    return this.#show(choiceIn(location.search, this.#place));
  }

  focusSearch(): void {
    this.#bar.field.focus();
    this.#bar.field.select();
  }

  async #show(choice: Choice): Promise<void> {
    keepInAddress(this.#place, choice);
    this.#bar.show(choice);
    this.#stop.abort();
    this.#stop = new AbortController();
    const { signal } = this.#stop;
    await inSlices(this.#showing(choice), signal).catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
  }

  *#showing(choice: Choice): Steps<void> {
    const result = yield* selected(this.#listing, choice);
    yield* this.#cards.show(result.groups);
    // until now, readers saw the page's table; the page is laid out only once
    if (!this.#bar.element.isConnected) this.#host.prepend(...this.#made);
    this.#host.dataset.view = "cards";
    const line = resultLine(this.#listing, result);
    // screen readers announce what changes
    if (this.#line.textContent !== line) this.#line.textContent = line;
  }
}

/** The level of headings inside an element. */
function levelBelow(element: Element): number {
  const before = [...document.querySelectorAll("h1, h2, h3, h4, h5")].filter(
    (heading) => heading.compareDocumentPosition(element) & Node.DOCUMENT_POSITION_FOLLOWING,
  );
  return Number(before.at(-1)?.localName.slice(1) ?? 1) + 1;
}
