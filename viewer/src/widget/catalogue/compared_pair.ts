/** Two models that a reader chooses, and what differs between them: the viewer's comparison, in a dialog. */
import { words } from "../../shared/catalogue_strings.js";
import { fill, strings } from "../../shared/strings.js";
import { colourBehind, hex } from "../controls/css_colour.js";
import { box, button, make } from "../controls/dom.js";
import { LoadError, loadData, loadScript, ownUrl, wasmAllowed } from "../loading/loader.js";
import type { Model } from "./catalogue_data.js";
import { imageOf } from "./family_card.js";
import { figuresOf } from "./figures.js";

type Pair = readonly [before: Model, after: Model];

export class ComparedPair {
  /** The bar with what is chosen. */
  readonly element: HTMLElement;
  readonly #host: HTMLElement;
  readonly #assets: string;
  readonly #dialog = make("dialog", "mg-comparison");
  readonly #text = make("span", "");
  readonly #open = button("", () => void this.#compare());
  #chosen: Model[] = [];

  constructor(host: HTMLElement, assets: string) {
    this.#host = host;
    this.#assets = assets;
    const clear = button(words.clearChoice, () => this.#choose([]));
    this.element = box("mg-compare-bar", this.#text, this.#open, clear);
    this.#text.role = "status";
    this.#choose([]);
    // what it shows ends
    this.#dialog.addEventListener("close", () => this.#dialog.replaceChildren());
    host.append(this.#dialog);
  }

  isChosen(model: Model): boolean {
    return this.#chosen.includes(model);
  }

  /** Choose a model or not; the third replaces the first. */
  choose(model: Model, isChosen: boolean): void {
    const others = this.#chosen.filter((one) => one !== model);
    this.#choose(isChosen ? [...others.slice(-1), model] : others);
  }

  #choose(chosen: Model[]): void {
    // the focus isn't lost with the bar
    const boxes = this.#host.querySelectorAll<HTMLInputElement>("input[data-model]");
    const last = [...boxes].find((input) => input.dataset.model === this.#chosen.at(-1)?.name);
    if (chosen.length === 0 && this.element.contains(document.activeElement)) last?.focus();
    this.#chosen = chosen;
    for (const input of boxes) input.checked = chosen.some(({ name }) => name === input.dataset.model);
    const [first, second] = chosen;
    this.element.hidden = first === undefined;
    this.#open.hidden = second === undefined;
    this.#text.textContent = first && !second ? fill(words.chooseSecond, first.shortName) : "";
    if (!first || !second) return;
    const names = namesOf([first, second]);
    this.#text.textContent = fill(words.twoChosen, ...names);
    this.#open.textContent = fill(words.compareTwo, ...names);
  }

  async #compare(): Promise<void> {
    const [before, after] = this.#chosen;
    if (before === undefined || after === undefined) return;
    const pair: Pair = [before, after];
    const [dialog, note] = [this.#dialog, make("p", "mg-card-problem", strings.loading)];
    const title = make("h2", "mg-comparison-title", fill(words.comparedTitle, ...namesOf(pair)));
    const close = button(words.closeComparison, () => dialog.close());
    close.classList.add("mg-comparison-close");
    note.role = "status";
    dialog.replaceChildren(make("header", "", title, close), this.#figures(pair), note);
    dialog.ariaLabel = title.textContent;
    // colours of the page now, as readers switch between light and dark
    dialog.style.background = hex(colourBehind(this.#host));
    dialog.style.color = getComputedStyle(this.#host).color;
    dialog.showModal();
    const problem = await this.#load(pair);
    if (!note.isConnected) return;
    if (problem !== undefined) note.textContent = problem;
    else dialog.append(this.#diagram(pair, () => note.remove()));
  }

  #diagram(pair: Pair, onReady: () => void): HTMLElement {
    const [before, after] = pair;
    const diagram = document.createElement("model-graph");
    const names = namesOf(pair).join(" ");
    const attributes = { graph: after.id, src: this.#urlOf(after), against: before.id, names };
    for (const [name, value] of Object.entries(attributes)) diagram.setAttribute(name, value);
    diagram.addEventListener("mg-ready", onReady, { once: true });
    return diagram;
  }

  /** Load what shows a difference; returns why there is none. */
  async #load(pair: Pair): Promise<string | undefined> {
    const failed = pair.find(({ parameters }) => parameters === undefined);
    if (failed !== undefined) return fill(words.failedModel, failed.shortName, failed.problem ?? "").trim();
    if (!wasmAllowed()) return strings.stillPicture;
    const script = () => loadScript(ownUrl("model-graph.js"), "model-graph.js");
    try {
      await Promise.all(pair.map((model) => loadData(model.id, this.#urlOf(model))));
      if (customElements.get("model-graph") === undefined) await script();
      return undefined;
    } catch (error) {
      if (!(error instanceof LoadError)) throw error;
      return fill(strings.loadFailed, error.file);
    }
  }

  #figures(pair: Pair): HTMLElement {
    const figures = pair.map((model) => figuresOf([model]));
    const titles = [...new Set(figures.flatMap((one) => [...one.keys()]))];
    const names = namesOf(pair).map((name, at) => headOf("col", imageOf(pair[at]?.picture, this.#assets), name));
    const rows = titles.map((title) => {
      const cells = figures.map((one) => make("td", "", one.get(title) ?? "–"));
      return make("tr", "", headOf("row", title), ...cells);
    });
    const head = make("thead", "", make("tr", "", make("td", ""), ...names));
    return box("mg-table", make("table", "mg-rows", head, make("tbody", "", ...rows)));
  }

  #urlOf({ id }: Model): string {
    return new URL(`${encodeURIComponent(id)}.js`, this.#assets).href;
  }
}

function headOf(scope: "col" | "row", ...content: (Node | string)[]): HTMLTableCellElement {
  const cell = make("th", "", ...content);
  cell.scope = scope;
  return cell;
}

/** Short names, unless they are the same. */
function namesOf([a, b]: Pair): [string, string] {
  return a.shortName === b.shortName ? [a.name, b.name] : [a.shortName, b.shortName];
}
