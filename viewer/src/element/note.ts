/** One quiet line below the picture: what is going on, or why something is not. */
import { strings } from "./strings.js";

/** Waiting shorter than this needs no words, ms. */
const PATIENCE = 300;

export class Note {
  readonly element = document.createElement("p");
  #timer = 0;

  constructor() {
    this.element.className = "mg-note";
    this.element.role = "status";
  }

  /** Say it, with a button to try again where that may help. */
  say(text: string, retry?: () => void): void {
    clearTimeout(this.#timer);
    this.element.textContent = text;
    if (retry === undefined) return;
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = strings.retry;
    button.addEventListener("click", retry);
    this.element.append(" ", button);
  }

  /** Say it if it takes long. */
  wait(text: string): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.say(text), PATIENCE);
  }

  clear(): void {
    this.say("");
  }
}
