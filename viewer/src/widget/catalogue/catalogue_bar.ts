/** The controls of a catalogue: search, order and filters. */
import { exact } from "../../shared/amounts.js";
import { words } from "../../shared/catalogue_strings.js";
import { fill } from "../../shared/strings.js";
import { box, button, make } from "../controls/dom.js";
import type { Choice } from "./address.js";
import type { Listing } from "./catalogue_data.js";
import { RANGES, SORTS } from "./selection.js";

/** Modules or families that can be chosen; longer lists are of less use than the search. */
const MOST_CHOICES = 100;
/** How long a reader may pause between letters, ms. */
const PAUSE = 120;

export class CatalogueBar {
  readonly element = box("mg-catalogue-bar");
  readonly field = make("input", "mg-field");
  readonly #sort = make("select", "mg-choice");
  readonly #direction = button("", () => this.#tell({ sort: this.#choice.sort.startsWith("-") ? "" : "-" }));
  readonly #in = make("select", "mg-choice");
  readonly #size = make("select", "mg-choice");
  readonly #onChange: (choice: Choice) => void;
  #choice: Choice = { query: "", sort: "", in: "", size: "" };
  #timer = 0;

  constructor(listing: Listing, host: HTMLElement, onChange: (choice: Choice) => void) {
    this.#onChange = onChange;
    this.#fill(listing);
    this.field.type = "search";
    this.field.autocomplete = "off";
    this.field.spellcheck = false;
    this.field.placeholder = words.searchModelsHint;
    this.field.setAttribute("aria-keyshortcuts", "/");
    this.field.addEventListener("input", () => {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.#tell({}), PAUSE);
    });
    for (const select of [this.#sort, this.#in, this.#size]) select.addEventListener("change", () => this.#tell({}));
    this.#direction.classList.add("mg-catalogue-direction");
    this.element.role = "search";
    this.element.ariaLabel = host.querySelector(".mg-catalogue-box")?.ariaLabel ?? null;
    this.element.append(
      labelled("mg-catalogue-search", words.searchModels, this.field),
      labelled("", words.sortBy, this.#sort),
      this.#direction,
      labelled("", words.within, this.#in),
      labelled("", words.modelSize, this.#size),
      ...tableLink(host),
    );
  }

  /** Show what was chosen, here or in an address. */
  show(choice: Choice): void {
    this.#choice = choice;
    // a reader may be writing
    if (this.field.value.trim() !== choice.query) this.field.value = choice.query;
    const isDescending = choice.sort.startsWith("-");
    show(this.#sort, choice.sort.replace(/^-?(name$)?/, ""));
    show(this.#in, choice.in);
    show(this.#size, choice.size);
    this.#direction.textContent = isDescending ? "↓" : "↑";
    this.#direction.title = isDescending ? words.descending : words.ascending;
    this.#direction.ariaLabel = this.#direction.title;
  }

  /** @param change that the fields don't show; of `sort`, only the sign */
  #tell(change: { sort?: string }): void {
    clearTimeout(this.#timer);
    const sign = change.sort ?? (this.#choice.sort.startsWith("-") ? "-" : "");
    this.#onChange({
      query: this.field.value.trim(),
      sort: `${sign}${this.#sort.value || (sign && "name")}`,
      in: this.#in.value,
      size: this.#size.value,
    });
  }

  #fill({ models, modules, families }: Listing): void {
    const titles = [words.name, words.parameters, words.flops, words.memory, words.firstVersion];
    SORTS.forEach((by, at) => {
      const isKnown = by === "name" || models.some((model) => model[by] !== undefined);
      if (isKnown) this.#sort.append(new Option(titles[at], by === "name" ? "" : by));
    });
    this.#in.append(
      new Option(words.withinAll, ""),
      ...groupOf(words.modules, "module", modules, 1),
      ...groupOf(words.families, "family", families, 2),
    );
    this.#size.append(new Option(words.anySize, ""));
    for (const [name, [, , text]] of Object.entries(RANGES)) this.#size.append(new Option(text, name));
  }
}

/** A link to the page with all models in one table, if there is one. */
function tableLink(host: HTMLElement): HTMLElement[] {
  const page = host.querySelector<HTMLAnchorElement>(".mg-catalogue-rest a");
  if (page === null) return [];
  const link = make("a", "mg-button mg-catalogue-views", words.table);
  link.href = page.href;
  return [link];
}

function show(select: HTMLSelectElement, value: string): void {
  select.value = value;
  // an address may name what isn't listed
  if (select.selectedIndex < 0) select.append(new Option(value.replace(/^\w+:/, ""), value, true, true));
}

function labelled(name: string, text: string, control: HTMLElement): HTMLElement {
  return make("label", name, make("span", "", text), " ", control);
}

/** @param least number of models of what is listed */
function groupOf(title: string, kind: string, counts: ReadonlyMap<string, number>, least: number): HTMLElement[] {
  const names = [...counts.keys()].filter((name) => (counts.get(name) ?? 0) >= least).sort();
  if (names.length < 2) return [];
  const group = make("optgroup", "");
  group.label = title;
  for (const name of names.slice(0, MOST_CHOICES))
    group.append(new Option(`${name} (${exact(counts.get(name) ?? 0)})`, `${kind}:${name}`));
  const rest = names.length - MOST_CHOICES;
  if (rest > 0) group.append(Object.assign(new Option(fill(words.moreNames, rest)), { disabled: true }));
  return [group];
}
