/** Search: lists hits while the reader types, lights them in the picture, and goes to the chosen one. */
import { type HitGroup, SearchIndex } from "../../session/search_index.js";
import type { Session } from "../../session/session.js";
import { words } from "../../shared/explore_strings.js";
import { fill, strings } from "../../shared/strings.js";
import { iconButton, make } from "../controls/dom.js";
import type { SearchField } from "../controls/search_field.js";
import type { Widget } from "../widget.js";
import { HitList } from "./hit_list.js";
import { light } from "./light.js";

const UP = "M3.5 10L8 5.5l4.5 4.5";
const DOWN = "M3.5 6L8 10.5L12.5 6";
const CLOSE = "M4 4l8 8M12 4l-8 8";

/** The chosen group, its nodes in the picture, and the index of the shown one. */
interface Chosen {
  group: HitGroup;
  ids: string[];
  at: number;
}

export class SearchBar {
  readonly #widget: Widget;
  readonly #search: SearchField;
  readonly #list: HitList;
  readonly #count = make("output", "mg-count");
  readonly #steps: HTMLElement[];
  #searched: { session: Session; plumbing: boolean | undefined; index: SearchIndex } | undefined;
  #chosen: Chosen | undefined;

  constructor(widget: Widget, search: SearchField) {
    this.#widget = widget;
    this.#search = search;
    this.#list = new HitList(search.input);
    this.#steps = [iconButton(words.previous, UP, () => this.#go(-1)), iconButton(words.next, DOWN, () => this.#go(1))];
    search.bar.append(
      this.#count,
      ...this.#steps,
      iconButton(strings.close, CLOSE, () => search.close()),
      this.#list.element,
    );
    this.#list.onChoice = (position) => {
      this.#list.activate(position);
      this.#go(1);
    };
    search.bar.addEventListener("focusout", ({ relatedTarget }) => {
      if (!search.bar.contains(relatedTarget as Node | null)) this.#list.open(false);
    });
    search.onToggle = () => this.#onToggle();
    widget.on("drawn", () => this.#light());
    this.#tell();
  }

  onKey(event: KeyboardEvent): void {
    // this Enter belongs to the input method, and doesn't choose a hit
    if (event.isComposing) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step === undefined && event.key !== "Enter") return;
    event.preventDefault();
    if (step === undefined) this.#go(event.shiftKey ? -1 : 1);
    else if (this.#list.isOpen) this.#choose(step);
    else this.#list.open(true);
  }

  /** Search for the typed text. */
  find(): void {
    const { session } = this.#widget;
    if (session === undefined) return;
    this.#chosen = undefined;
    this.#search.found = undefined;
    this.#list.show(this.#indexOf(session).search(this.#search.input.value));
    this.#tell();
    this.#light();
  }

  #onToggle(): void {
    if (this.#search.isOpen && this.#search.input.value !== "") this.find();
    this.#light();
  }

  #choose(step: number): void {
    this.#list.step(step);
    this.#light();
  }

  #indexOf(session: Session): SearchIndex {
    const { plumbing } = session.state;
    if (this.#searched?.session !== session || this.#searched.plumbing !== plumbing) {
      const { nodes, series } = session.visibleGraph({ ...session.state, root: undefined });
      const represented = new Set([...series.values()].flat());
      const index = new SearchIndex(session.grouped, (id) => nodes.has(id) || represented.has(id));
      this.#searched = { session, plumbing, index };
    }
    return this.#searched.index;
  }

  /** Go to the chosen group, or on to its next or previous node. */
  #go(step: number): void {
    const { session } = this.#widget;
    const group = this.#list.active;
    if (session === undefined || group === undefined) return;
    if (this.#chosen?.group !== group) {
      const ids = group.ids.length > 1 ? session.rolled().standIns(group.ids) : group.ids;
      this.#chosen = { group, ids, at: step > 0 ? -1 : 0 };
    }
    const { ids, at } = this.#chosen;
    this.#chosen.at = (at + step + ids.length) % ids.length;
    const id = ids[this.#chosen.at] ?? "";
    this.#search.found = id;
    this.#list.open(false);
    this.#tell();
    void this.#widget.show(id);
    this.#light();
  }

  /** Show the number of hits, and which one is shown. */
  #tell(): void {
    this.#count.value = this.#chosen === undefined ? this.#foundText() : shownText(this.#chosen);
    for (const button of this.#steps) button.hidden = (this.#chosen?.ids.length ?? 0) < 2;
  }

  #foundText(): string {
    if (this.#search.input.value.trim() === "") return "";
    const found = this.#list.groups.reduce((sum, { ids }) => sum + ids.length, 0);
    return found === 0 ? words.noHits : fill(words.found, found);
  }

  #light(): void {
    const groups = this.#chosen === undefined ? this.#list.groups : [this.#chosen.group];
    light(this.#widget, this.#search.isOpen ? groups : [], this.#list.active);
  }
}

function shownText({ group, ids, at }: Chosen): string {
  if (ids.length > 1) return fill(strings.hits, at + 1, ids.length);
  // one box represents all
  return group.ids.length > 1 ? `×${group.ids.length}` : "";
}
