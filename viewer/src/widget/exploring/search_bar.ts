/** Search: a bar below the picture that goes from hit to hit. */
import { SearchIndex } from "../../session/search_index.js";
import type { Session } from "../../session/session.js";
import { words } from "../../shared/explore_strings.js";
import { fill, strings } from "../../shared/strings.js";
import { iconButton, make } from "../parts/dom.js";
import type { SearchField } from "../parts/search_field.js";
import type { Widget } from "../widget.js";

const UP = "M3.5 10L8 5.5l4.5 4.5";
const DOWN = "M3.5 6L8 10.5L12.5 6";
const CLOSE = "M4 4l8 8M12 4l-8 8";

export class SearchBar {
  readonly #widget: Widget;
  readonly #search: SearchField;
  readonly #count = make("output", "mg-count");
  #searched: { session: Session; index: SearchIndex } | undefined;
  #hits: string[] = [];
  /** Index of the current hit. */
  #current = -1;

  constructor(widget: Widget, search: SearchField) {
    this.#widget = widget;
    this.#search = search;
    search.bar.append(
      this.#count,
      iconButton(words.previous, UP, () => this.#go(-1)),
      iconButton(words.next, DOWN, () => this.#go(1)),
      iconButton(strings.close, CLOSE, () => search.close()),
    );
  }

  onKey(event: KeyboardEvent): void {
    if (event.key !== "Enter") return;
    event.preventDefault();
    this.#go(event.shiftKey ? -1 : 1);
  }

  #indexOf(session: Session): SearchIndex {
    if (this.#searched?.session !== session) this.#searched = { session, index: new SearchIndex(session.grouped) };
    return this.#searched.index;
  }

  /** Search for what was typed. */
  find(): void {
    const { session } = this.#widget;
    if (session === undefined) return;
    const { value } = this.#search.input;
    this.#hits = this.#indexOf(session).search(value);
    this.#current = -1;
    this.#search.found = undefined;
    if (value.trim() === "") this.#count.value = "";
    else this.#count.value = this.#hits.length === 0 ? words.noHits : fill(strings.hits, 0, this.#hits.length);
  }

  /** Go to the next or previous hit. */
  #go(step: number): void {
    if (this.#hits.length === 0) return;
    // the first step back leads to the last hit
    const from = Math.max(this.#current, step < 0 ? 0 : -1);
    this.#current = (from + step + this.#hits.length) % this.#hits.length;
    const hit = this.#hits[this.#current] ?? "";
    this.#search.found = hit;
    this.#count.value = fill(strings.hits, this.#current + 1, this.#hits.length);
    if (this.#widget.tree.has(hit)) this.#widget.goTo(hit);
    else void this.#widget.change((session) => session.withNode(hit)).then(() => this.#widget.goTo(hit));
  }
}
