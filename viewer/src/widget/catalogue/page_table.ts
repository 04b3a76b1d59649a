/** The page's own table, sorted and filtered like the cards, if it has all entries. */
import { each, type Steps } from "../../shared/slices.js";
import type { Result } from "./selection.js";

export class PageTable {
  /** The page with all entries, if there are too many for this one. */
  readonly page: string | undefined;
  readonly #all: HTMLElement[];
  /** Number of a family → its rows. */
  readonly #rows = new Map<string, HTMLElement[]>();

  constructor(host: HTMLElement) {
    this.page = host.querySelector<HTMLAnchorElement>(".mg-catalogue-rest a")?.href;
    this.#all = [...host.querySelectorAll<HTMLElement>("table.mg-catalogue > tbody > tr")];
    for (const row of this.#all) {
      const { family = "" } = row.dataset;
      this.#rows.set(family, [...(this.#rows.get(family) ?? []), row]);
    }
  }

  /** Show the rows of what was found, in one group. */
  *show({ groups }: Result): Steps<void> {
    const found = [...groups.values()].flat();
    const rows = found.flatMap(({ entry }) => this.#rows.get(String(entry.number)) ?? []);
    const body = this.#all[0]?.closest("tbody");
    yield* each(this.#all, (row) => {
      row.hidden = true;
    });
    yield* each(rows, (row) => {
      row.hidden = false;
      body?.append(row);
    });
  }
}
