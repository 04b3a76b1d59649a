/** The controls of a catalogue: search, order, filters and view. */
import { exact } from "../../shared/amounts.js";
import { words } from "../../shared/catalogue_strings.js";
import { fill } from "../../shared/strings.js";
import { box, button, make } from "../controls/dom.js";
import type { Listing } from "./catalogue_data.js";
import { type Choice, RANGES, SORTS, type SortBy } from "./selection.js";

/** Modules and families that can be chosen: longer lists are slower than the search. */
const MOST_CHOICES = 300;
/** How long a reader may pause between letters, ms. */
const PAUSE = 120;

export type View = "cards" | "table";

export class CatalogueBar {
  readonly element = box("mg-catalogue-bar");
  readonly field = make("input", "mg-field");
  readonly #sort = make("select", "mg-choice");
  readonly #direction: HTMLButtonElement;
  readonly #within = make("select", "mg-choice");
  readonly #size = make("select", "mg-choice");
  readonly #views = make("span", "mg-catalogue-views");
  readonly #onChange: (choice: Choice) => void;
  #isDescending = false;
  #timer = 0;

  constructor(listing: Listing, onChange: (choice: Choice) => void, onView: (view: View) => void) {
    this.#onChange = onChange;
    this.#direction = button("", () => {
      this.#isDescending = !this.#isDescending;
      this.#showDirection();
      this.#tell();
    });
    this.#direction.classList.add("mg-catalogue-direction");
    this.element.role = "search";
    this.field.type = "search";
    this.field.autocomplete = "off";
    this.field.spellcheck = false;
    this.field.placeholder = words.searchModelsHint;
    this.field.setAttribute("aria-keyshortcuts", "/");
    this.field.addEventListener("input", () => {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.#tell(), PAUSE);
    });
    this.#fill(listing);
    for (const select of [this.#sort, this.#within, this.#size]) select.addEventListener("change", () => this.#tell());
    this.#views.role = "group";
    this.#views.ariaLabel = words.listView;
    for (const view of ["cards", "table"] as const) {
      const element = button(words[view], () => onView(view));
      element.dataset.view = view;
      this.#views.append(element);
    }
    this.element.append(
      labelled("mg-catalogue-search", words.searchModels, this.field),
      labelled("", words.sortBy, this.#sort),
      this.#direction,
      labelled("", words.within, this.#within),
      labelled("", words.size, this.#size),
      this.#views,
    );
  }

  /** Show a choice, for example that of an address. */
  show({ query, sort, isDescending, within, size }: Choice): void {
    this.field.value = query;
    for (const [select, value] of [
      [this.#sort, sort],
      [this.#within, within],
      [this.#size, size],
    ] as const) {
      // what an address names may be missing in the lists
      if (value !== "" && ![...select.options].some((option) => option.value === value))
        select.append(new Option(value.replace(/^\w+:/, ""), value));
      select.value = value;
    }
    this.#isDescending = isDescending;
    this.#showDirection();
  }

  showView(view: View): void {
    for (const element of this.#views.children)
      element.ariaPressed = String((element as HTMLElement).dataset.view === view);
  }

  /** Instead of a table in this page, there is one on another page. */
  leadTable(page: string): void {
    const link = make("a", "mg-button", words.table);
    link.href = page;
    this.#views.lastElementChild?.replaceWith(link);
  }

  #tell(): void {
    clearTimeout(this.#timer);
    this.#onChange({
      query: this.field.value,
      sort: this.#sort.value as SortBy,
      isDescending: this.#isDescending,
      within: this.#within.value,
      size: this.#size.value,
    });
  }

  #showDirection(): void {
    this.#direction.textContent = this.#isDescending ? "↓" : "↑";
    this.#direction.ariaLabel = this.#isDescending ? words.descending : words.ascending;
    this.#direction.title = this.#direction.ariaLabel;
  }

  #fill({ models, modules, families }: Listing): void {
    const isKnown = (by: SortBy) => by === "name" || models.some((model) => model[by] !== undefined);
    this.#sort.append(...SORTS.filter(isKnown).map((by) => new Option(words[`sort_${by}`], by)));
    const several = [...families].filter(([, count]) => count > 1);
    this.#within.append(
      new Option(words.withinAll, ""),
      ...groupOf(words.modules, "module", [...modules]),
      ...groupOf(words.families, "family", several),
    );
    this.#size.append(new Option(words.anySize, ""), ...Object.keys(RANGES).map((name) => new Option(name)));
  }
}

function labelled(name: string, text: string, control: HTMLElement): HTMLElement {
  return make("label", name, make("span", "", text), " ", control);
}

function groupOf(title: string, kind: string, counts: [string, number][]): HTMLElement[] {
  if (counts.length < 2) return [];
  const sorted = counts.sort(([a], [b]) => (a < b ? -1 : 1)).slice(0, MOST_CHOICES);
  const offered = sorted.map(([name, count]) => counted(name, count, `${kind}:${name}`));
  const group = make("optgroup", "", ...offered);
  group.label = title;
  const rest = new Option(fill(words.moreNames, counts.length - MOST_CHOICES));
  rest.disabled = true;
  if (counts.length > MOST_CHOICES) group.append(rest);
  return [group];
}

function counted(name: string, count: number, value: string): HTMLOptionElement {
  return new Option(fill(words.countedChoice, name, exact(count)), value);
}
