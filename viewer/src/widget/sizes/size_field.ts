/** A number field for one size, with buttons beside it: a spin button, as screen readers call it. */
import { type FreeSize, nextSize, numberIn, refusal, snapped } from "../../session/chosen_sizes.js";
import { words } from "../../shared/size_strings.js";
import { fill } from "../../shared/strings.js";
import { limitsOf } from "../../view/labels/size_line.js";
import { iconButton, make } from "../controls/dom.js";

const MINUS = "M4 8h8";
const PLUS = "M8 4v8M4 8h8";

export class SizeField {
  readonly element: HTMLElement;
  readonly free: FreeSize;
  readonly #input = make("input", "mg-field mg-size-number");
  readonly #onChange: (refused: string) => void;

  /** @param onChange called with the reason if what was entered is refused */
  constructor(free: FreeSize, onChange: (refused: string) => void) {
    const { name, size } = free;
    this.free = free;
    this.#onChange = onChange;
    const input = this.#input;
    input.type = "text";
    input.inputMode = "numeric";
    input.autocomplete = "off";
    input.role = "spinbutton";
    input.ariaValueMin = String(size.at_least ?? 1);
    if (size.at_most != null) input.ariaValueMax = String(size.at_most);
    const limits = limitsOf(size);
    input.ariaLabel = [[name, size.meaning].filter(Boolean).join(" "), ...limits].join(", ");
    input.addEventListener("change", () => this.#check());
    input.addEventListener("keydown", (event) => this.#onKey(event));
    const step = (text: string, icon: string, isUp: boolean) => {
      const one = iconButton(fill(text, name), icon, ({ shiftKey }) => this.#step(isUp, shiftKey));
      // keys of the field do the same
      one.tabIndex = -1;
      return one;
    };
    this.element = make(
      "span",
      "mg-size",
      make("span", "mg-size-name", make("b", "", name), ...(size.meaning ? [` ${size.meaning}`] : [])),
      make("span", "mg-size-steps", step(words.smaller, MINUS, false), input, step(words.larger, PLUS, true)),
      ...(limits.length > 0 ? [make("span", "mg-size-limits", limits.join(", "))] : []),
    );
    this.value = size.size;
  }

  /** The entered number; undefined if it is refused. */
  get value(): number | undefined {
    return refusal(this.free, this.#input.value) === "" ? numberIn(this.#input.value) : undefined;
  }

  set value(value: number | undefined) {
    this.#input.value = String(value ?? this.free.size.size);
    this.#mark("");
  }

  focus(): void {
    this.#input.focus();
    this.#input.select();
  }

  #check(): void {
    const refused = refusal(this.free, this.#input.value);
    this.#mark(refused);
    this.#onChange(refused);
  }

  #mark(refused: string): void {
    const { value } = this.#input;
    this.#input.ariaInvalid = refused === "" ? null : "true";
    this.#input.ariaValueNow = numberIn(value) === undefined ? null : String(numberIn(value));
  }

  #onKey(event: KeyboardEvent): void {
    const { size } = this.free;
    const { key, shiftKey } = event;
    const now = numberIn(this.#input.value) ?? size.size;
    const next = {
      ArrowUp: () => this.#stepped(now, true, shiftKey),
      ArrowDown: () => this.#stepped(now, false, shiftKey),
      PageUp: () => this.#stepped(now, true, true),
      PageDown: () => this.#stepped(now, false, true),
    }[key];
    if (next === undefined) return;
    event.preventDefault();
    this.#set(next());
  }

  #step(isUp: boolean, isDouble: boolean): void {
    this.#set(this.#stepped(numberIn(this.#input.value) ?? this.free.size.size, isUp, isDouble));
  }

  /** One step further, or about twice or half as much. */
  #stepped(now: number, isUp: boolean, isDouble: boolean): number {
    const { size } = this.free;
    return isDouble ? snapped(size, isUp ? 2 * now : now / 2) : nextSize(size, now, isUp);
  }

  #set(value: number): void {
    this.value = value;
    this.#check();
  }
}
