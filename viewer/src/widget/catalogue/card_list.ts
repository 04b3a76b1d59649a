/**
 * The cards in chunks, which are filled shortly before a reader sees them. Empty ones are about as tall as full ones, so that
 * the page has its length from the start, and everything after the catalogue can be reached.
 */
import { words } from "../../shared/catalogue_strings.js";
import { inSlices, type Steps } from "../../shared/slices.js";
import { fill } from "../../shared/strings.js";
import { box, make, onResize } from "../controls/dom.js";
import { type Context, cardOf } from "./card.js";
import type { Found, Group } from "./selection.js";

/** Cards in a chunk: full rows of one to six columns. */
const CHUNK = 60;
/** Full chunks. All of a smaller catalogue are filled, so that the browser's search finds everything in it. */
const MOST_FULL = 20;
/** Chunks are filled this far from the window, px. */
const AHEAD = "1200px 0px";
/** The height of a card divided by the number of columns, before it is known, px. */
const GUESS = 120;

export class CardList {
  readonly element = box("mg-catalogue-cards");
  readonly #context: Context;
  readonly #level: number;
  readonly #observer: IntersectionObserver;
  readonly #cards = new Map<HTMLElement, Found[]>();
  /** Full chunks, the one that was filled last at the end. */
  readonly #full = new Set<HTMLElement>();
  readonly #near = new Set<HTMLElement>();
  #filling = new AbortController();
  #perCard = GUESS;

  /** @param level of headings */
  constructor(context: Context, level: number) {
    this.#context = context;
    this.#level = level;
    this.#observer = new IntersectionObserver((changes) => this.#onNear(changes), { rootMargin: AHEAD });
    onResize(() => this.#measure()).observe(this.element);
  }

  /** Show these cards, in slices. */
  *show(groups: readonly Group[]): Steps<void> {
    this.#filling.abort();
    this.#filling = new AbortController();
    this.#observer.disconnect();
    // removing thousands of cards at once takes long
    for (const chunk of this.#full) {
      if (this.#near.has(chunk)) continue;
      this.#empty(chunk);
      yield;
    }
    for (const set of [this.#full, this.#near, this.#cards]) set.clear();
    const sections: HTMLElement[] = [];
    for (const group of groups) {
      sections.push(this.#section(group));
      yield;
    }
    const [first] = this.#cards.keys();
    // so that readers see no gap
    if (first !== undefined) yield* this.#filled(first);
    this.element.replaceChildren(...sections);
    this.#measure();
    for (const chunk of this.#cards.keys()) this.#observer.observe(chunk);
    if (this.#cards.size <= MOST_FULL) this.#want([...this.#cards.keys()]);
  }

  #section({ name, found }: Group): HTMLElement {
    const section = make("section", "mg-catalogue-group");
    if (name !== "") {
      const count = found.reduce((sum, { models }) => sum + models.length, 0);
      const title = make(
        "p",
        "mg-catalogue-heading",
        name,
        " ",
        make("span", "mg-catalogue-count", fill(words.modelsInGroup, count)),
      );
      title.role = "heading";
      title.ariaLevel = String(this.#level);
      section.append(title);
    }
    for (let at = 0; at < found.length; at += CHUNK) {
      const chunk = make("ul", "mg-catalogue-chunk");
      // lists without bullets are no lists to some screen readers
      chunk.role = "list";
      this.#cards.set(chunk, found.slice(at, at + CHUNK));
      this.#empty(chunk);
      section.append(chunk);
    }
    return section;
  }

  #onNear(changes: IntersectionObserverEntry[]): void {
    for (const { target, isIntersecting } of changes) {
      if (isIntersecting) this.#near.add(target as HTMLElement);
      else this.#near.delete(target as HTMLElement);
    }
    this.#want([...this.#near]);
  }

  #want(chunks: HTMLElement[]): void {
    const filling = function* (this: CardList): Steps<void> {
      for (const chunk of chunks) yield* this.#filled(chunk);
    }.bind(this);
    inSlices(filling(), this.#filling.signal).catch(() => undefined);
  }

  *#filled(chunk: HTMLElement): Steps<void> {
    if (this.#full.has(chunk)) return;
    this.#full.add(chunk);
    for (const found of this.#cards.get(chunk) ?? []) {
      chunk.append(cardOf(found, this.#context));
      yield;
    }
    chunk.style.minHeight = "";
    const oldest = [...this.#full].find((one) => !this.#near.has(one) && !one.contains(document.activeElement));
    if (this.#full.size <= MOST_FULL || oldest === undefined) return;
    this.#full.delete(oldest);
    this.#empty(oldest);
  }

  /** Remove the cards, and keep their room. */
  #empty(chunk: HTMLElement): void {
    chunk.style.minHeight = `${(this.#cards.get(chunk)?.length ?? 0) * this.#perCard}px`;
    chunk.replaceChildren();
  }

  /** Give empty chunks the height of full ones. */
  #measure(): void {
    const [full] = this.#full;
    const count = full?.childElementCount ?? 0;
    if (full === undefined || count < 2) return;
    this.#perCard = full.offsetHeight / count;
    for (const chunk of this.#cards.keys()) if (!this.#full.has(chunk)) this.#empty(chunk);
  }
}
