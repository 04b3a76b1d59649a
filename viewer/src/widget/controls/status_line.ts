/** The line of text below the picture about what is going on or went wrong. Screen readers announce it. */
import { strings } from "../../shared/strings.js";

/** Delays shorter than this are not mentioned, ms. */
const PATIENCE = 150;

/** The actions of the line's buttons, and of losing the focus with one of them. */
interface Actions {
  retry(): void;
  stop(): void;
  onFocusLost(): void;
}

export class StatusLine {
  readonly element = document.createElement("p");
  /** Whether it shows a delay and offers to stop. */
  isWaiting = false;
  readonly #actions: Partial<Actions>;
  #timer = 0;
  /** Whether something was said since the last `wait`. */
  #isNew = false;
  /** Whether the text stays until another one replaces it. */
  #isPinned = false;

  constructor(actions: Partial<Actions> = {}) {
    this.#actions = actions;
    this.element.className = "mg-note";
    this.element.role = "status";
  }

  /** Show a text until the next task is done. */
  say(text: string): void {
    this.#isNew = true;
    this.#isPinned = false;
    this.#endDelay();
    this.#write(text);
  }

  /** Show a text until another one replaces it. */
  pin(text: string): void {
    this.say(text);
    this.#isPinned = true;
  }

  /** Pin a text with a button to try again. */
  offerRetry(text: string): void {
    this.pin(text);
    this.#offer(strings.retry, "retry");
  }

  /** A task begins: show this text and a button to stop if it takes long. */
  wait(text: string): void {
    this.#endDelay();
    this.#isNew = false;
    this.#timer = setTimeout(() => {
      if (this.#isPinned) return;
      this.isWaiting = true;
      this.#write(text);
      this.#offer(strings.stop, "stop");
    }, PATIENCE);
  }

  /** The task is done: clear the line, unless something was said meanwhile. */
  done(): void {
    this.#endDelay();
    if (!this.#isNew && !this.#isPinned) this.clear();
  }

  clear(): void {
    this.say("");
  }

  #endDelay(): void {
    clearTimeout(this.#timer);
    this.isWaiting = false;
  }

  #write(text: string): void {
    const hadFocus = this.element.matches(":focus-within");
    this.element.textContent = text;
    if (hadFocus) this.#actions.onFocusLost?.();
  }

  #offer(text: string, action: "retry" | "stop"): void {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = text;
    button.addEventListener("click", () => this.#actions[action]?.(), { once: true });
    this.element.append(" ", button);
  }
}
