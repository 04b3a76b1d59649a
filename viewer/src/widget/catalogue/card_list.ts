/**
 * The cards in chunks, which are filled shortly before a reader sees them. Empty ones are about as tall as full ones, so that
 * the page has its length from the start, and everything after the catalogue can be reached.
 */
import { words } from "../../shared/catalogue_strings.js";
import { inSlices, type Steps } from "../../shared/slices.js";
import { fill } from "../../shared/strings.js";
import { box, make } from "../controls/dom.js";
import { type Context, cardOf } from "./family_card.js";
import type { Found } from "./selection.js";

/** Cards in a chunk: full rows of one to six columns. */
const CHUNK = 60;
/** Cards that are made at once. */
const LOT = 5;
/** Cards in the page. All of a smaller catalogue are there, so that the browser's search finds everything in it. */
const MOST_CARDS = 1200;
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
  #stop = new AbortController();
  #isFilling = false;
  #perCard = GUESS;
  /** For which it was measured, px. */
  #width = 0;

  /** @param level of headings */
  constructor(context: Context, level: number) {
    this.#context = context;
    this.#level = level;
    this.#observer = new IntersectionObserver((changes) => this.#onNear(changes), { rootMargin: AHEAD });
    new ResizeObserver(([change]) => {
      const width = change?.contentRect.width ?? 0;
      if (width !== this.#width && this.#full.size > 0) requestAnimationFrame(() => this.#measure(width));
    }).observe(this.element);
  }

  /** Show these cards, in slices. */
  *show(groups: ReadonlyMap<string, Found[]>): Steps<void> {
    this.#stop.abort();
    this.#stop = new AbortController();
    this.#isFilling = false;
    this.#observer.disconnect();
    // removing thousands of cards at once takes long
    for (const chunk of this.#full) {
      if (this.#near.has(chunk)) continue;
      this.#empty(chunk);
      yield;
    }
    for (const set of [this.#full, this.#near, this.#cards]) set.clear();
    const sections: HTMLElement[] = [];
    for (const [name, found] of groups) {
      sections.push(this.#section(name, found));
      yield;
    }
    const [first] = this.#cards.keys();
    // so that readers see no gap
    if (first !== undefined) this.#fill(first);
    this.element.replaceChildren(...sections);
    for (const chunk of this.#cards.keys()) this.#observer.observe(chunk);
    this.#want();
  }

  #section(name: string, found: Found[]): HTMLElement {
    const section = make("section", "mg-catalogue-group");
    if (name !== "") {
      const count = sum(found, ({ models }) => models.length);
      const models = make("span", "mg-catalogue-count", fill(words.modelCount, count));
      const title = make("p", "mg-catalogue-heading", name, " ", models);
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
    this.#want();
  }

  /** Fill the chunks near the window, or all if they are not many. */
  #want(): void {
    if (!this.#isFilling) inSlices(this.#filling(), this.#stop.signal).catch(() => undefined);
  }

  *#filling(): Steps<void> {
    this.#isFilling = true;
    const all = sum(this.#cards.values(), ({ length }) => length) <= MOST_CARDS ? [...this.#cards.keys()] : [];
    for (;;) {
      const next = [...this.#near, ...all].find((chunk) => !this.#full.has(chunk));
      if (next === undefined) break;
      this.#fill(next);
      // one lot for each frame, which has to lay it out
      yield new Promise(requestAnimationFrame);
    }
    this.#isFilling = false;
  }

  /** Add a lot of cards. */
  #fill(chunk: HTMLElement): void {
    const found = this.#cards.get(chunk) ?? [];
    const at = chunk.childElementCount;
    chunk.append(...found.slice(at, at + LOT).map((one) => cardOf(one, this.#context)));
    if (at + LOT < found.length) return;
    chunk.style.minHeight = "";
    this.#full.add(chunk);
    const isFree = (one: HTMLElement) => !this.#near.has(one) && !one.contains(document.activeElement);
    const oldest = [...this.#full].find(isFree);
    if (oldest === undefined || sum(this.#full, ({ childElementCount }) => childElementCount) <= MOST_CARDS) return;
    this.#full.delete(oldest);
    this.#empty(oldest);
  }

  /** Remove the cards, and keep their room. */
  #empty(chunk: HTMLElement): void {
    const height = `${(this.#cards.get(chunk)?.length ?? 0) * this.#perCard}px`;
    chunk.style.minHeight = height;
    // far cards aren't laid out; once they were, the browser knows their height
    chunk.style.containIntrinsicBlockSize = `auto ${height}`;
    chunk.replaceChildren();
  }

  /** Give empty chunks the height of full ones, once for each width. */
  #measure(width: number): void {
    const [full] = this.#full;
    if (full === undefined) return;
    this.#width = width;
    this.#perCard = full.offsetHeight / full.childElementCount;
    for (const chunk of this.#cards.keys()) if (chunk.childElementCount === 0) this.#empty(chunk);
  }
}

function sum<T>(items: Iterable<T>, of: (item: T) => number): number {
  let total = 0;
  for (const item of items) total += of(item);
  return total;
}
