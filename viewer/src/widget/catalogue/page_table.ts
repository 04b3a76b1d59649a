/** The page's own table, sorted and filtered like the cards, if it has all entries. */
import { each, type Steps } from "../../shared/slices.js";
import type { Result } from "./selection.js";

export class PageTable {
  /** The page with all entries, if there are too many for this one. */
  readonly page: string | undefined;
  /** Number of a family → its rows. */
  readonly #rows = new Map<string, HTMLElement[]>();
  readonly #headings: HTMLElement[] = [];
  readonly #body: HTMLElement | null;

  constructor(host: HTMLElement) {
    this.page = host.querySelector<HTMLAnchorElement>(".mg-catalogue-rest a")?.href;
    this.#body = host.querySelector<HTMLElement>("table.mg-catalogue > tbody");
    for (const row of host.querySelectorAll<HTMLElement>("table.mg-catalogue > tbody > tr")) {
      const number = row.dataset.family;
      if (number === undefined) this.#headings.push(row);
      else this.#rows.set(number, [...(this.#rows.get(number) ?? []), row]);
    }
  }

  *show({ groups }: Result): Steps<void> {
    const shown = groups.flatMap(({ found }) =>
      found.flatMap(({ entry }) => this.#rows.get(String(entry.number)) ?? []),
    );
    const hidden = new Set([...this.#rows.values()].flat());
    yield* each(shown, (row) => {
      hidden.delete(row);
      row.hidden = false;
      this.#body?.append(row);
    });
    for (const row of [...hidden, ...this.#headings]) row.hidden = true;
  }
}
