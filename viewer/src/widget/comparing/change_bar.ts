import type { Change } from "../../diff/changes/facts.js";
import { changesInside, nodeWithChange, statusOf } from "../../diff/union/union.js";
import type { Session } from "../../session/session.js";
import { words } from "../../shared/comparison_strings.js";
import { fill, strings } from "../../shared/strings.js";
import { adoptStyle } from "../controls/adopt_style.js";
import { box, button, iconButton, make } from "../controls/dom.js";
import { FocusReturn } from "../controls/focus_return.js";
import type { Mode } from "../modes.js";
import type { Widget } from "../widget.js";
import { changeSign, listed } from "./summary.js";

/** The bar below the picture of a difference: from change to change, and before, both or after. */

/** The text of the style sheet, inserted by the build. */
declare const COMPARING_STYLE: string;

const UP = "M3.5 10L8 5.5l4.5 4.5";
const DOWN = "M3.5 6L8 10.5L12.5 6";
const CLOSE = "M4 4l8 8M12 4l-8 8";

const SIDES = ["before", "both", "after"] as const;
type Side = (typeof SIDES)[number];
const SIDE_WORDS = { before: words.sideBefore, both: words.sideBoth, after: words.sideAfter };
/** What a side hides: the graph, and the status of nodes. */
const HIDDEN = { before: "after", both: undefined, after: "before" } as const;
const GONE = { before: "added", both: "", after: "removed" } as const;

export class ChangeBar {
  readonly element: HTMLElement;
  /** Called with the changes that are shown now. */
  onShown: (changes: readonly number[]) => void;
  /** Called when the reader closes the bar. */
  onClose: () => void = () => undefined;
  readonly #widget: Widget;
  readonly #mode: Mode;
  readonly #steps: HTMLElement;
  readonly #count = make("span", "mg-count");
  readonly #text = make("output", "mg-change-text");
  readonly #sides = new Map<Side, HTMLButtonElement>();
  readonly #focusReturn: FocusReturn;
  #side: Side = "both";
  /** The selected node that was described last; switching sides selects it again. */
  #followed: string | undefined;
  /** The number of the shown change. */
  #current: number | undefined;

  /** @param rows number of a change → its row in the page's list */
  constructor(widget: Widget, rows: ReadonlyMap<number, HTMLElement>) {
    this.#widget = widget;
    this.onShown = (shown) => {
      for (const [number, row] of rows) row.ariaCurrent = shown.includes(number) ? "true" : null;
    };
    const sides = box("mg-row mg-sides", ...SIDES.map((side) => this.#sideButton(side)));
    sides.role = "group";
    sides.ariaLabel = words.versions;
    this.#steps = box(
      "mg-row mg-steps",
      sides,
      this.#count,
      iconButton(strings.previousChange, UP, () => this.go(-1)),
      iconButton(strings.nextChange, DOWN, () => this.go(1)),
    );
    const close = iconButton(strings.close, CLOSE, () => this.close());
    this.element = box("mg-search mg-change-bar", this.#steps, close, this.#text);
    this.element.role = "region";
    this.element.ariaLabel = words.changes;
    this.element.hidden = true;
    this.#focusReturn = new FocusReturn(widget, this.element);
    this.#mode = { text: "", leave: () => void this.close(), part: this.element };
    adoptStyle(widget, COMPARING_STYLE);
    widget.foot.prepend(this.element);
    widget.on("drawn", () => this.#label());
    this.show("both");
  }

  /** Show the bar with a text, and with its buttons if there is a difference. */
  open(text: string, hasSteps: boolean): void {
    if (this.element.hidden) this.#focusReturn.remember();
    this.element.hidden = false;
    this.#widget.modes.set(this.#mode, true);
    this.#steps.hidden = !hasSteps;
    this.#current = undefined;
    this.#count.textContent = "";
    this.#text.replaceChildren(text);
  }

  /** Whether a list next to the bar also shows the text; screen readers still announce it. */
  set hasList(hasList: boolean) {
    this.#text.className = hasList ? "mg-unseen-text" : "mg-change-text";
  }

  /** Name the versions on both sides. */
  name(before: string, after: string): void {
    for (const [side, text] of [
      ["before", before],
      ["after", after],
    ] as const)
      this.#sides.get(side)?.replaceChildren(text);
  }

  /** Go to the next or the previous change. */
  go(step: number): void {
    const { session } = this.#widget;
    const numbers = numbersIn(session);
    if (numbers.length === 0) return;
    const at = this.#current === undefined ? -1 : numbers.indexOf(this.#current);
    // the first step back leads to the last change
    const from = at < 0 && step < 0 ? 0 : at;
    this.goTo(numbers[(from + step + numbers.length) % numbers.length] ?? 0);
  }

  /** Show a change in the picture. */
  goTo(number: number): void {
    const { session } = this.#widget;
    if (session === undefined) return;
    this.#tell(session, number, [number]);
    const id = nodeWithChange(session.traced, number);
    if (id === undefined) return;
    if (isGone(session, id, this.#side)) this.show("both");
    void this.#widget.show(id);
  }

  /** Describe the change at the selected node, if there is one. */
  follow(): void {
    const { session, selected } = this.#widget;
    if (selected === this.#followed) return;
    this.#followed = selected;
    if (session === undefined || selected === undefined) return;
    const shown = new Set(numbersIn(session));
    const changes = changesInside(session.traced, selected).filter((number) => shown.has(number));
    const [first] = changes;
    if (first === undefined) this.onShown([]);
    else this.#tell(session, changes.find((number) => number === this.#current) ?? first, changes);
  }

  /** Hide nodes of the other version only. */
  show(side: Side): void {
    const { session, stage, selected } = this.#widget;
    this.#side = side;
    stage.dataset.side = side;
    for (const [other, element] of this.#sides) element.ariaPressed = String(other === side);
    if (session !== undefined) session.hidden = HIDDEN[side];
    this.#label();
    // edges also belong to this side
    this.#widget.select(undefined);
    if (selected !== undefined && !isGone(session, selected, side)) this.#widget.select(selected);
  }

  /** Close the bar; whether it was open. */
  close(): boolean {
    if (this.element.hidden) return false;
    const returnFocus = this.#focusReturn.prepare(this.#widget.selected);
    this.element.hidden = true;
    this.#widget.modes.set(this.#mode, false);
    this.show("both");
    this.onShown([]);
    this.onClose();
    returnFocus();
    return true;
  }

  #tell(session: Session, number: number, changes: readonly number[]): void {
    const change = session.difference?.changes[number];
    if (change === undefined) return;
    const numbers = numbersIn(session);
    this.open("", true);
    this.#current = number;
    this.#count.textContent = fill(strings.hits, numbers.indexOf(number) + 1, numbers.length);
    this.#text.replaceChildren(...changeWords(change));
    this.onShown(changes);
  }

  /** Label boxes and edges with the texts of this side. */
  #label(): void {
    for (const text of this.#widget.tree.picture.querySelectorAll<SVGElement>("[data-former]")) {
      // a detail with its own text may follow
      const first = text.firstChild ?? text.appendChild(document.createTextNode(""));
      text.dataset.now ??= first.textContent ?? "";
      const { now, former = "" } = text.dataset;
      first.textContent = this.#side === "before" ? former + (now.endsWith(" ") ? " " : "") : now;
    }
  }

  #sideButton(side: Side): HTMLButtonElement {
    const element = button(SIDE_WORDS[side], () => this.show(side));
    this.#sides.set(side, element);
    return element;
  }
}

function numbersIn(session: Session | undefined): number[] {
  return session === undefined ? [] : listed(session.difference, session.withDetails);
}

/** Whether a side hides a node. */
function isGone(session: Session | undefined, id: string, side: Side): boolean {
  return session !== undefined && statusOf(session.traced, id) === GONE[side];
}

/** A change as a row of a list. */
export function changeWords(change: Change): Node[] {
  return [make("span", "mg-sign-of", changeSign(change)), make("b", "", change.level), make("span", "", change.text)];
}
