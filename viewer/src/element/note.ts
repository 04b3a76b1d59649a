/** One quiet line below the picture: what is going on, or why something is not. */
import { strings } from "./strings.js";

/** Waiting shorter than this needs no words, ms. */
const PATIENCE = 300;

export class Note {
  readonly element = document.createElement("p");
  #timer = 0;
  /** Whether something was said since the waiting began. */
  #news = false;
  /** Whether it stays until something else is said. */
  #lasts = false;

  constructor() {
    this.element.className = "mg-note";
    this.element.role = "status";
  }

  /** Say it until there is other news. */
  say(text: string): void {
    clearTimeout(this.#timer);
    this.#news = true;
    this.#lasts = false;
    this.element.textContent = text;
  }

  /** Say what stays true whatever else goes on, with a button to try again where that may help. */
  insist(text: string, retry?: () => void): void {
    this.say(text);
    this.#lasts = true;
    if (retry === undefined) return;
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = strings.retry;
    button.addEventListener("click", retry, { once: true });
    this.element.append(" ", button);
  }

  /** Say it if it takes long. */
  wait(text: string): void {
    clearTimeout(this.#timer);
    this.#news = false;
    this.#timer = setTimeout(() => {
      if (!this.#lasts) this.element.textContent = text;
    }, PATIENCE);
  }

  /** The waiting is over; what came up meanwhile is still to be read. */
  done(): void {
    clearTimeout(this.#timer);
    if (!this.#news && !this.#lasts) this.clear();
  }

  clear(): void {
    this.say("");
  }
}
