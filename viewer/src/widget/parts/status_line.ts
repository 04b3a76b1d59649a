/** The line of text below the picture: what is going on, or what went wrong. Also read out. */
import { strings } from "../../shared/strings.js";

/** Delays shorter than this are not mentioned, ms. */
const PATIENCE = 150;

export class StatusLine {
  readonly element = document.createElement("p");
  readonly #retry: () => void;
  #timer = 0;
  /** Whether something was said since the last `wait`. */
  #isNew = false;
  /** Whether the text stays until something else is said. */
  #isPinned = false;

  /** @param retry what the button of `offerRetry` does */
  constructor(retry: () => void) {
    this.#retry = retry;
    this.element.className = "mg-note";
    this.element.role = "status";
  }

  /** Show a text until the next task is done. */
  say(text: string): void {
    clearTimeout(this.#timer);
    this.#isNew = true;
    this.#isPinned = false;
    this.element.textContent = text;
  }

  /** Show a text until another one replaces it. */
  pin(text: string): void {
    this.say(text);
    this.#isPinned = true;
  }

  /** Pin a text with a button to try again. */
  offerRetry(text: string): void {
    this.pin(text);
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = strings.retry;
    button.addEventListener("click", this.#retry, { once: true });
    this.element.append(" ", button);
  }

  /** A task begins: show this text if it takes long. */
  wait(text: string): void {
    clearTimeout(this.#timer);
    this.#isNew = false;
    this.#timer = setTimeout(() => {
      if (!this.#isPinned) this.element.textContent = text;
    }, PATIENCE);
  }

  /** The task is done: clear the line, unless something was said meanwhile. */
  done(): void {
    clearTimeout(this.#timer);
    if (!this.#isNew && !this.#isPinned) this.clear();
  }

  clear(): void {
    this.say("");
  }
}
