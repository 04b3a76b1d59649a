/** The page's own table, sorted and filtered like the cards, if it has all entries. */
import { each, type Steps } from "../../shared/slices.js";
import type { Result } from "./selection.js";

export class PageTable {
  /** The page with all entries, if there are too many for this one. */
  readonly page: string | undefined;
  readonly #rows = new Map<string, HTMLElement>();
  readonly #others: HTMLElement[] = [];
  readonly #table: HTMLElement | null;

  constructor(host: HTMLElement) {
    this.page = host.querySelector<HTMLAnchorElement>(":scope > .mg-catalogue-rest a")?.href;
    this.#table = host.querySelector(":scope table.mg-catalogue");
    for (const row of this.#table?.querySelectorAll<HTMLElement>("tbody, tbody > tr") ?? []) {
      const number = row.dataset.family;
      if (number !== undefined) this.#rows.set(number, row);
      // headings of groups, and rows that belong to a body
      else if (row.parentElement?.dataset.family === undefined && row.querySelector("[data-family]") === null)
        this.#others.push(row);
    }
  }

  *show({ groups }: Result): Steps<void> {
    const shown = groups.flatMap(({ found }) => found.map(({ entry }) => this.#rows.get(String(entry.number))));
    const hidden = new Set(this.#rows.values());
    yield* each(shown, (row) => {
      if (row === undefined) return;
      hidden.delete(row);
      row.hidden = false;
      (row.localName === "tr" ? row.closest("tbody") : row.parentElement)?.append(row);
    });
    for (const row of [...hidden, ...this.#others]) row.hidden = true;
  }
}
