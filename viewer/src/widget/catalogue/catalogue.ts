/** One catalogue: cards instead of the page's table. */
import { inSlices, type Steps } from "../../shared/slices.js";
import { make } from "../controls/dom.js";
import { choiceIn, keepInAddress } from "./address.js";
import { CardList } from "./card_list.js";
import { CatalogueBar, type View } from "./catalogue_bar.js";
import { type CatalogueData, type Listing, listed } from "./catalogue_data.js";
import { ComparedPair } from "./compared_pair.js";
import { PageTable } from "./page_table.js";
import { resultLine } from "./result_line.js";
import { type Choice, type Result, selected } from "./selection.js";

export class Catalogue {
  readonly #host: HTMLElement;
  readonly #listing: Listing;
  /** Its position among the catalogues of the page. */
  readonly #place: number;
  readonly #bar: CatalogueBar;
  readonly #line = make("p", "mg-catalogue-result");
  readonly #cards: CardList;
  readonly #table: PageTable;
  #result: Result | undefined;
  #view: View = "cards";
  #work = new AbortController();

  private constructor(host: HTMLElement, listing: Listing, assets: string) {
    this.#host = host;
    this.#listing = listing;
    this.#place = [...document.querySelectorAll(host.localName)].indexOf(host);
    this.#table = new PageTable(host);
    const pair = new ComparedPair(host, assets);
    const context = { assets, isChosen: pair.isChosen.bind(pair), choose: pair.choose.bind(pair) };
    this.#cards = new CardList(context, levelBelow(host));
    this.#bar = new CatalogueBar(
      listing,
      (choice) => void this.#show(choice),
      (view) => void this.#showView(view),
    );
    if (this.#table.page !== undefined) this.#bar.leadTable(this.#table.page);
    this.#line.role = "status";
    host.prepend(this.#bar.element, this.#line, this.#cards.element, pair.element);
  }

  static async start(host: HTMLElement, data: CatalogueData, assets: string): Promise<Catalogue> {
    const catalogue = new Catalogue(host, await inSlices(listed(data)), assets);
    await catalogue.readAddress();
    return catalogue;
  }

  /** Show what the page's address says. */
  async readAddress(): Promise<void> {
    const choice = choiceIn(location.search, this.#place);
    this.#bar.show(choice);
    await this.#show(choice);
  }

  focusSearch(): void {
    this.#bar.field.focus();
    this.#bar.field.select();
  }

  async #show(choice: Choice): Promise<void> {
    keepInAddress(this.#place, choice);
    await this.#run(this.#selecting(choice));
  }

  async #showView(view: View): Promise<void> {
    this.#view = view;
    if (this.#result !== undefined) await this.#run(this.#drawing(this.#result));
  }

  /** Run what a reader wants now; what was wanted before ends. */
  async #run(work: Steps<void>): Promise<void> {
    this.#work.abort();
    this.#work = new AbortController();
    const { signal } = this.#work;
    await inSlices(work, signal).catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
  }

  *#selecting(choice: Choice): Steps<void> {
    this.#result = yield* selected(this.#listing, choice);
    yield* this.#drawing(this.#result);
    // screen readers announce it
    const line = resultLine(this.#listing, this.#result);
    if (this.#line.textContent !== line) this.#line.textContent = line;
  }

  *#drawing(result: Result): Steps<void> {
    if (this.#view === "cards") yield* this.#cards.show(result.groups);
    else yield* this.#table.show(result);
    // until now, readers saw the page's table
    this.#host.dataset.view = this.#view;
    this.#bar.showView(this.#view);
  }
}

/** The level of headings inside an element. */
function levelBelow(element: Element): number {
  const before = [...document.querySelectorAll("h1, h2, h3, h4, h5")].filter(
    (heading) => heading.compareDocumentPosition(element) & Node.DOCUMENT_POSITION_FOLLOWING,
  );
  return Number(before.at(-1)?.localName.slice(1) ?? 1) + 1;
}
