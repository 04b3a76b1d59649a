/**
 * Modes that a reader has entered: the menu, details, a path, one module alone, …, in the order of entering. Escape leaves
 * the mode with the focus, or else the last. Modes without a close button of their own get one here, below the picture.
 */
import { fill, strings } from "../shared/strings.js";
import { readable } from "../shared/text.js";
import { box, button, make } from "./controls/dom.js";

export interface Mode {
  /** The text of its close button below the picture; empty if it has its own. */
  text: string;
  /** What its close button also shows. */
  more?: Element;
  leave(): void;
  /** If the focus is in this element, Escape leaves the mode even if others were entered later. */
  part?: HTMLElement;
  /** Whether it covers the picture: Escape leaves it before it stops long tasks. */
  isOver?: true;
  /** Gets every key while Escape would leave this mode; whether it used it. */
  onKey?(event: KeyboardEvent): boolean;
}

export class Modes {
  readonly element = box("mg-modes");
  /** Modes in order, with their close buttons if these are here. */
  readonly #entered = new Map<Mode, HTMLButtonElement | undefined>();
  readonly #focusPicture: () => void;

  /** @param focusPicture moves the focus when its button disappears */
  constructor(focusPicture: () => void) {
    this.#focusPicture = focusPicture;
    this.element.role = "group";
    this.element.ariaLabel = strings.modes;
    this.element.hidden = true;
  }

  /** Switch a mode on or off. One that is on already keeps its position and gets its new text. */
  set(mode: Mode, isOn: boolean): void {
    if (isOn && !this.#entered.has(mode)) this.#enter(mode);
    else if (isOn) this.#label(mode);
    else this.#remove(mode);
    this.element.hidden = this.element.childElementCount === 0;
  }

  /** Offer a key to the mode that Escape would leave; whether it used it. */
  onKey(event: KeyboardEvent): boolean {
    return this.#current?.onKey?.(event) ?? false;
  }

  /** Whether Escape would leave a mode that covers the picture. */
  get isOver(): boolean {
    return this.#current?.isOver === true;
  }

  /** Go one step back; whether there was one. */
  leaveLast(): boolean {
    const mode = this.#current;
    if (mode !== undefined) this.#leave(mode);
    return mode !== undefined;
  }

  get #current(): Mode | undefined {
    const modes = [...this.#entered.keys()];
    return modes.find(({ part }) => part?.matches(":focus-within")) ?? modes.at(-1);
  }

  #enter(mode: Mode): void {
    const wayOut = mode.text === "" ? undefined : button("", () => this.#leave(mode));
    this.#entered.set(mode, wayOut);
    if (wayOut !== undefined) this.element.append(wayOut);
    this.#label(mode);
  }

  #label(mode: Mode): void {
    const wayOut = this.#entered.get(mode);
    if (wayOut === undefined) return;
    wayOut.replaceChildren(make("span", "", mode.text, ...(mode.more ? [mode.more] : [])));
    wayOut.title = readable(fill(strings.leave, mode.text));
  }

  #leave(mode: Mode): void {
    this.set(mode, false);
    mode.leave();
  }

  #remove(mode: Mode): void {
    const wayOut = this.#entered.get(mode);
    this.#entered.delete(mode);
    const hasFocus = wayOut?.matches(":focus");
    wayOut?.remove();
    if (hasFocus) this.#focusPicture();
  }
}
