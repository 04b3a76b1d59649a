/** Chips above a picture of several cases: each dims what its case does not run; two of them show what differs. */
import { words } from "../../shared/case_strings.js";
import { fill } from "../../shared/strings.js";
import { box, button, make } from "../controls/dom.js";
import type { Mode } from "../modes.js";
import type { Widget } from "../widget.js";
import { paintCases } from "./paint.js";

/** A case as the page describes it. */
export interface PageCase {
  /** In `Graph.cases`. */
  position: number;
  name: string;
  /** What the author wrote for it. */
  text: string;
  /** Its sign in the picture; empty if it failed. */
  letter: string;
  error: string;
}

/** Kinds of differences: the first case's, the second's, and sizes. */
const KEYS = ["first", "second", "sizes"];

export class Chips {
  readonly #widget: Widget;
  readonly #cases: readonly PageCase[];
  readonly #element = box("mg-cases");
  /** What differs between two cases, in the button that ends their comparison. */
  readonly #told = make("span", "mg-case-keys");
  readonly #chips = new Map<number, HTMLButtonElement>();
  readonly #all = button(words.allCases, () => this.choose([]));
  readonly #compare = button(words.compareCases, () => this.#toggleCompare());
  #differences: readonly string[] = [];
  /** Why the last pressed case failed. */
  #why = "";
  /** Positions of the chosen case, or of two that are compared; empty for all. */
  #chosen: readonly number[] = [];
  readonly #mode: Mode = { text: "", more: this.#told, leave: () => this.choose([]) };

  constructor(widget: Widget, cases: readonly PageCase[]) {
    this.#widget = widget;
    this.#cases = cases;
    for (const one of cases) this.#chips.set(one.position, this.#chipOf(one));
    this.#compare.title = words.compareHint;
    this.#told.title = words.counted;
    this.#element.role = "group";
    this.#element.ariaLabel = words.cases;
    const canCompare = this.#run.length > 1;
    this.#element.append(this.#all, ...this.#chips.values(), ...(canCompare ? [this.#compare] : []));
    widget.stage.before(this.#element);
    widget.on("drawn", () => this.#paint());
    widget.exportDecorators.push((picture) => paintCases(picture, this.#run, this.#chosen));
    widget.linked.case = { get: () => this.#names.join(":"), set: (names) => this.choose(this.#named(names)) };
    this.#show();
    // a link that was followed before this script was there
    this.choose(this.#named(widget.asked.case ?? ""));
  }

  /** @param positions of one case or two; none for all */
  choose(positions: readonly number[]): void {
    if (positions.join() === this.#chosen.join()) return;
    const { status } = this.#widget;
    if (this.#why !== "" && status.element.textContent === this.#why) status.clear();
    this.#chosen = positions;
    const [first = "", second] = this.#names;
    this.#mode.text = second === undefined ? fill(words.caseMode, first) : fill(words.casesMode, first, second);
    this.#widget.modes.set(this.#mode, positions.length > 0);
    this.#widget.chooseCase(positions.length === 1 ? positions[0] : undefined);
    this.#show();
    this.#widget.announce(positions.length === 0 ? words.allCases : [this.#mode.text, ...this.#differences].join(", "));
  }

  /** The cases that ran to their end. */
  get #run(): readonly PageCase[] {
    return this.#cases.filter(({ error }) => error === "");
  }

  get #names(): string[] {
    return this.#chosen.map((position) => this.#cases.find((one) => one.position === position)?.name ?? "");
  }

  /** The positions for names in a link. */
  #named(names: string): readonly number[] {
    const one = this.#run.find(({ name }) => name === names);
    if (one !== undefined) return [one.position];
    const pairs = this.#run.flatMap((first) => this.#run.map((second) => [first, second] as const));
    const pair = pairs.find(([first, second]) => first !== second && `${first.name}:${second.name}` === names);
    return pair?.map(({ position }) => position) ?? [];
  }

  #chipOf({ position, name, text, letter, error }: PageCase): HTMLButtonElement {
    const chip = button("", () => this.#press(position));
    chip.append(...(letter === "" ? [] : [make("b", "", letter), " "]), name);
    const hint = error === "" ? fill(words.onlyCase, name) : fill(words.caseFailed, name, error);
    chip.title = text === "" ? hint : `${text}\n${hint}`;
    if (error === "") return chip;
    // not `disabled`: a keyboard reaches it, and screen readers read why
    chip.ariaDisabled = "true";
    chip.ariaLabel = hint;
    return chip;
  }

  #press(position: number): void {
    const failed = this.#cases.find((one) => one.position === position && one.error !== "");
    if (failed !== undefined) {
      this.#why = fill(words.caseFailed, failed.name, failed.error);
      this.#widget.status.pin(this.#why);
    } else if (this.#chosen.length === 2) {
      // the one that was chosen last stays
      if (!this.#chosen.includes(position)) this.choose([this.#chosen[1] ?? position, position]);
    } else this.choose(this.#chosen[0] === position ? [] : [position]);
  }

  #toggleCompare(): void {
    const [first = this.#run[0]?.position ?? 0, second] = this.#chosen;
    if (second !== undefined) this.choose([first]);
    else
      this.choose(
        [first, this.#run.find(({ position }) => position !== first)?.position ?? first].sort((a, b) => a - b),
      );
  }

  #show(): void {
    const press = (chip: HTMLElement, isOn: boolean) => {
      chip.ariaPressed = String(isOn);
    };
    press(this.#all, this.#chosen.length === 0);
    press(this.#compare, this.#chosen.length === 2);
    for (const [position, chip] of this.#chips) press(chip, this.#chosen.includes(position));
    this.#paint();
  }

  #paint(): void {
    const { tree } = this.#widget;
    const { first, second, sizes } = paintCases(tree.picture, this.#run, this.#chosen);
    // of a large picture, only a part is in the document, and nobody has counted the rest
    const isWhole = tree.picture.querySelectorAll("[data-id]").length >= tree.size;
    const counted = (count: number) => (isWhole ? count : "…");
    const [one = "", other] = this.#names;
    this.#differences =
      other === undefined
        ? []
        : [
            fill(words.onlyIn, one, counted(first)),
            fill(words.onlyIn, other, counted(second)),
            fill(words.sizesDiffer, counted(sizes)),
          ];
    const keys = this.#differences.map((text, i) => make("span", "mg-case-key", make("i", `mg-key-${KEYS[i]}`), text));
    // separated for screen readers, too
    this.#told.replaceChildren(...keys.flatMap((key) => [" · ", key]));
  }
}
