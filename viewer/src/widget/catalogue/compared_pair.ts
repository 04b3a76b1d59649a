/** Two models that a reader chooses, and what differs between them: the viewer's comparison, in a dialog. */
import { words } from "../../shared/catalogue_strings.js";
import { fill, strings } from "../../shared/strings.js";
import { colourBehind, hex } from "../controls/css_colour.js";
import { box, button, make } from "../controls/dom.js";
import { LoadError, loadData, loadScript, ownUrl, wasmAllowed } from "../loading/loader.js";
import type { Model } from "./catalogue_data.js";
import { figuresOf } from "./figures.js";

export class ComparedPair {
  /** The bar with what is chosen. */
  readonly element = box("mg-compare-bar");
  readonly #host: HTMLElement;
  readonly #assets: string;
  readonly #dialog = make("dialog", "mg-comparison");
  #chosen: Model[] = [];

  constructor(host: HTMLElement, assets: string) {
    this.#host = host;
    this.#assets = assets;
    this.element.role = "region";
    this.element.ariaLabel = words.chosenTwo;
    this.element.hidden = true;
    // stops what it shows
    this.#dialog.addEventListener("close", () => this.#dialog.replaceChildren());
    host.append(this.#dialog);
  }

  isChosen(model: Model): boolean {
    return this.#chosen.includes(model);
  }

  /** Choose a model or not; the third replaces the first. */
  choose(model: Model, isChosen: boolean): void {
    const others = this.#chosen.filter((one) => one !== model);
    this.#chosen = isChosen ? [...others.slice(-1), model] : others;
    this.#show();
  }

  #show(): void {
    const chosen = new Set(this.#chosen.map(({ name }) => name));
    for (const input of this.#host.querySelectorAll<HTMLInputElement>("input[data-model]"))
      input.checked = chosen.has(input.dataset.model ?? "");
    const [first, second] = this.#chosen;
    this.element.hidden = first === undefined;
    if (first === undefined) return;
    const clear = button(words.clearChoice, () => {
      this.#chosen = [];
      this.#show();
      this.#host.querySelector<HTMLElement>("input[type=search]")?.focus();
    });
    const text = make("span", "", second === undefined ? fill(words.chooseSecond, first.shortName) : "");
    text.role = "status";
    const compare =
      second && button(fill(words.compareTwo, ...namesOf([first, second])), () => void this.#open([first, second]));
    this.element.replaceChildren(text, ...(compare ? [compare] : []), clear);
  }

  async #open(pair: readonly [Model, Model]): Promise<void> {
    const dialog = this.#dialog;
    const [before, after] = namesOf(pair);
    const title = make("h2", "mg-comparison-title", fill(words.comparedTitle, before, after));
    const close = button(words.closeComparison, () => dialog.close());
    close.classList.add("mg-comparison-close");
    const note = make("p", "mg-card-problem", strings.loading);
    note.role = "status";
    dialog.replaceChildren(make("header", "", title, close), figureTable(pair), note);
    dialog.ariaLabel = title.textContent;
    // colours of the page now, as readers switch between light and dark
    dialog.style.background = hex(colourBehind(this.#host));
    dialog.style.color = getComputedStyle(this.#host).color;
    dialog.showModal();
    const problem = await this.#load(pair);
    if (!note.isConnected) return;
    if (problem !== undefined) {
      note.textContent = problem;
      return;
    }
    const diagram = document.createElement("model-graph");
    const [other, own] = pair;
    const attributes = { graph: own.id, src: this.#urlOf(own), against: other.id, names: `${before} ${after}` };
    for (const [name, value] of Object.entries(attributes)) diagram.setAttribute(name, value);
    diagram.addEventListener("mg-ready", () => note.remove());
    dialog.append(diagram);
  }

  /** Load what shows a difference; returns why there is none. */
  async #load(pair: readonly Model[]): Promise<string | undefined> {
    const failed = pair.find(({ id, parameters }) => !id || parameters === undefined);
    if (failed !== undefined) return fill(words.failedModel, failed.shortName, failed.problem ?? "").trim();
    if (!wasmAllowed()) return strings.stillPicture;
    try {
      await Promise.all([
        ...pair.map((model) => loadData(model.id, this.#urlOf(model))),
        customElements.get("model-graph") ?? loadScript(ownUrl("model-graph.js"), "model-graph.js"),
      ]);
    } catch (error) {
      if (error instanceof LoadError) return fill(strings.loadFailed, error.file);
      throw error;
    }
    return undefined;
  }

  #urlOf({ id }: Model): string {
    return new URL(`${encodeURIComponent(id)}.js`, this.#assets).href;
  }
}

/** Short names, unless they are the same. */
function namesOf([a, b]: readonly [Model, Model]): [string, string] {
  return a.shortName === b.shortName ? [a.name, b.name] : [a.shortName, b.shortName];
}

function figureTable(pair: readonly [Model, Model]): HTMLElement {
  const figures = pair.map((model) => new Map(figuresOf([model])));
  const titles = [...new Set(figures.flatMap((one) => [...one.keys()]))];
  const head = make("tr", "", make("td", ""), ...namesOf(pair).map((name) => make("th", "", name)));
  for (const cell of head.querySelectorAll("th")) cell.scope = "col";
  const rows = titles.map((title) => {
    const name = make("th", "", title);
    name.scope = "row";
    return make("tr", "", name, ...figures.map((one) => make("td", "", one.get(title) ?? "–")));
  });
  return box("mg-table", make("table", "mg-rows", make("thead", "", head), make("tbody", "", ...rows)));
}
