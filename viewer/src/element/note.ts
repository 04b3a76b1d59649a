/** One quiet line below the picture: what is going on, or why something is not. */
import { strings } from "./strings.js";

/** Waiting shorter than this needs no words, ms. */
const PATIENCE = 300;

export class Note {
  readonly element = document.createElement("p");
  #timer = 0;
  /** Whether something was said since the waiting began. */
  #news = false;

  constructor() {
    this.element.className = "mg-note";
    this.element.role = "status";
  }

  /** Say it, with a button to try again where that may help. */
  say(text: string, retry?: () => void): void {
    clearTimeout(this.#timer);
    this.#news = true;
    this.element.textContent = text;
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
      this.element.textContent = text;
    }, PATIENCE);
  }

  /** The waiting is over; what came up meanwhile is still to be read. */
  done(): void {
    clearTimeout(this.#timer);
    if (!this.#news) this.clear();
  }

  clear(): void {
    this.say("");
  }
}
