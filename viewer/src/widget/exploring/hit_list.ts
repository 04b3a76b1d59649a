/** The hits of a search, as the options of a combobox. */
import type { HitGroup, Hits } from "../../session/search_index.js";
import { words } from "../../shared/explore_strings.js";
import { fill } from "../../shared/strings.js";
import { box, make } from "../controls/dom.js";

/** The id of the list, in the diagram's shadow root. */
const LIST = "mg-hits";
/** Most hits that are listed. */
const MAX_SHOWN = 50;

export class HitList {
  readonly element = box("mg-hits");
  /** Called with the option under the pointer. */
  onChoice: (position: number) => void = () => undefined;
  groups: readonly HitGroup[] = [];
  readonly #field: HTMLInputElement;
  readonly #list = make("ul", "");
  readonly #note = make("p", "mg-hits-note");
  #active = -1;

  /** @param field the text field, which keeps the focus */
  constructor(field: HTMLInputElement) {
    this.#field = field;
    this.#list.id = LIST;
    this.#list.role = "listbox";
    this.#list.ariaLabel = words.hitList;
    this.#note.role = "status";
    this.element.append(this.#list, this.#note);
    this.element.addEventListener("pointerdown", (event) => event.preventDefault());
    field.ariaAutoComplete = "list";
    field.setAttribute("aria-controls", LIST);
    this.open(false);
  }

  get isOpen(): boolean {
    return !this.element.hidden;
  }

  open(isOpen: boolean): void {
    this.element.hidden = !isOpen || (this.groups.length === 0 && this.#note.textContent === "");
    this.#field.ariaExpanded = String(!this.element.hidden);
    if (this.element.hidden) this.#field.removeAttribute("aria-activedescendant");
    else this.activate(this.#active);
  }

  show({ groups, isSimilar, isLeftOut }: Hits): void {
    this.groups = groups;
    this.#active = groups.length > 0 ? 0 : -1;
    this.#list.replaceChildren(...groups.slice(0, MAX_SHOWN).map((group, position) => this.#option(group, position)));
    const notes = [
      isLeftOut ? words.leftOutHits : "",
      isSimilar ? words.similarHits : "",
      groups.length > MAX_SHOWN ? fill(words.moreHits, groups.length - MAX_SHOWN) : "",
    ];
    this.#note.textContent = notes.filter(Boolean).join(" ");
    this.#list.hidden = groups.length === 0;
    this.open(true);
  }

  /** The group that Enter chooses. */
  get active(): HitGroup | undefined {
    return this.groups[this.#active];
  }

  /** Choose the option that is some steps further, in a circle. */
  step(step: number): void {
    const { length } = this.#list.children;
    if (length > 0) this.activate((this.#active + step + length) % length);
  }

  activate(position: number): void {
    const options = [...this.#list.children] as HTMLElement[];
    for (const [i, option] of options.entries()) option.ariaSelected = String(i === position);
    this.#active = position;
    const option = options[position];
    if (option === undefined) return;
    this.#field.setAttribute("aria-activedescendant", option.id);
    option.scrollIntoView({ block: "nearest" });
  }

  #option({ name, place, type, ids }: HitGroup, position: number): HTMLElement {
    const times = ids.length > 1 ? [make("span", "mg-times", `×${ids.length}`)] : [];
    const said = [make("b", "", name), ...times, make("code", "", type), make("span", "mg-place", place)];
    const option = make("li", "mg-hit", ...said.filter(({ textContent }) => textContent !== ""));
    option.id = `${LIST}-${position}`;
    option.role = "option";
    option.addEventListener("click", () => this.onChoice(position));
    return option;
  }
}
