/** The bar below the picture of a difference: from change to change, and before, both or after. */
import type { Change } from "../../diff/facts.js";
import type { Session } from "../../session/session.js";
import { fill, strings } from "../../shared/strings.js";
import { box, button, iconButton, make } from "../parts/dom.js";
import { FocusReturn } from "../parts/focus_return.js";
import type { Widget } from "../widget.js";
import { adoptStyle } from "./style.js";

const UP = "M3.5 10L8 5.5l4.5 4.5";
const DOWN = "M3.5 6L8 10.5L12.5 6";
const CLOSE = "M4 4l8 8M12 4l-8 8";

const LEVELS = ["breaking", "notable", "detail"] as const;
const SIDES = ["before", "both", "after"] as const;
type Side = (typeof SIDES)[number];

export class ChangeBar {
  readonly element: HTMLElement;
  /** Called with the changes that are shown now. */
  onShown: (changes: readonly number[]) => void = () => undefined;
  readonly #widget: Widget;
  readonly #count = make("span", "mg-count");
  readonly #text = make("output", "mg-change-text");
  readonly #sides = new Map<Side, HTMLButtonElement>();
  readonly #focusReturn: FocusReturn;
  #side: Side = "both";
  /** The selected node that was told last; switching sides selects it anew. */
  #followed: string | undefined;
  /** The number of the change that is shown. */
  #current: number | undefined;

  constructor(widget: Widget) {
    this.#widget = widget;
    const sides = box("mg-row mg-sides", ...SIDES.map((side) => this.#sideButton(side)));
    sides.role = "group";
    sides.ariaLabel = strings.versions;
    this.element = box(
      "mg-search mg-change-bar",
      sides,
      this.#count,
      iconButton(strings.previousChange, UP, () => this.go(-1)),
      iconButton(strings.nextChange, DOWN, () => this.go(1)),
      iconButton(strings.close, CLOSE, () => this.close()),
      this.#text,
    );
    this.element.role = "region";
    this.element.ariaLabel = strings.changes;
    this.element.hidden = true;
    this.#focusReturn = new FocusReturn(widget, this.element);
    adoptStyle(widget);
    widget.foot.prepend(this.element);
    widget.onKey("Escape", () => this.close());
    widget.on("drawn", () => this.#label());
    this.show("both");
  }

  /** Go to the next or the previous change. */
  go(step: number): void {
    const { session } = this.#widget;
    if (session === undefined) return;
    const numbers = listed(session);
    if (numbers.length === 0) return;
    const at = this.#current === undefined ? -1 : numbers.indexOf(this.#current);
    // the first step back leads to the last change
    const from = at < 0 && step < 0 ? 0 : at;
    this.goTo(numbers[(from + step + numbers.length) % numbers.length] ?? 0);
  }

  /** Show a change in the picture. */
  goTo(number: number): void {
    const { session, tree } = this.#widget;
    if (session === undefined) return;
    this.#tell(session, number, [number]);
    const id = session.placeOf(number);
    if (id === undefined) return;
    const status = session.statusOf(id);
    if (status === GONE[this.#side]) this.show("both");
    if (tree.has(id)) this.#widget.goTo(id);
    else void this.#widget.change((open) => open.withNode(id)).then(() => this.#widget.goTo(id));
  }

  /** Tell what changed at the selected node, if anything did. */
  follow(): void {
    const { session, selected } = this.#widget;
    if (selected === this.#followed) return;
    this.#followed = selected;
    if (session === undefined || selected === undefined) return;
    const shown = new Set(listed(session));
    const changes = session.changesAt(selected).filter((number) => shown.has(number));
    const [first] = changes;
    if (first === undefined) this.onShown([]);
    else
      this.#tell(
        session,
        this.#current !== undefined && changes.includes(this.#current) ? this.#current : first,
        changes,
      );
  }

  /** Hide what only the other version has. */
  show(side: Side): void {
    const { session, stage, selected } = this.#widget;
    this.#side = side;
    stage.dataset.side = side;
    for (const [other, element] of this.#sides) element.ariaPressed = String(other === side);
    if (session !== undefined) session.hidden = HIDDEN[side];
    this.#label();
    // its edges, too, are those of this side
    this.#widget.select(undefined);
    if (selected !== undefined && session?.statusOf(selected) !== GONE[side]) this.#widget.select(selected);
  }

  /** Label the edges with the tensors of this side. */
  #label(): void {
    for (const text of this.#widget.tree.picture.querySelectorAll<SVGTextElement>("[data-former]")) {
      text.dataset.now ??= text.textContent;
      text.textContent = (this.#side === "before" ? text.dataset.former : text.dataset.now) ?? "";
    }
  }

  /** One step back: both versions again, or no bar; whether there was any. */
  close(): boolean {
    if (this.element.hidden) return false;
    const returnFocus = this.#focusReturn.prepare(this.#widget.selected);
    this.element.hidden = true;
    this.show("both");
    this.onShown([]);
    returnFocus();
    return true;
  }

  #tell(session: Session, number: number, changes: readonly number[]): void {
    const change = session.difference?.changes[number];
    if (change === undefined) return;
    if (this.element.hidden) this.#focusReturn.remember();
    this.element.hidden = false;
    this.#current = number;
    const numbers = listed(session);
    this.#count.textContent = fill(strings.hits, numbers.indexOf(number) + 1, numbers.length);
    this.#text.replaceChildren(...wordsOf(change));
    this.onShown(changes);
  }

  #sideButton(side: Side): HTMLButtonElement {
    const element = button(strings[SIDE_WORDS[side]], () => this.show(side));
    this.#sides.set(side, element);
    return element;
  }
}

/** What a side hides: which of the two graphs, and nodes of which status. */
const HIDDEN = { before: "after", both: undefined, after: "before" } as const;
const GONE = { before: "added", both: "", after: "removed" } as const;

const SIDE_WORDS = { before: "sideBefore", both: "sideBoth", after: "sideAfter" } as const;

/** The numbers of the changes that are listed, the most serious first. */
function listed({ difference, withDetails }: Session): number[] {
  const changes = difference?.changes ?? [];
  const levels = withDetails ? LEVELS : LEVELS.slice(0, 2);
  return levels.flatMap((level) => changes.flatMap((change, i) => (change.level === level ? [i] : [])));
}

function wordsOf(change: Change): Node[] {
  return [make("span", "mg-sign-of", signOf(change)), make("b", "", change.level), make("span", "", change.text)];
}

/** As lists on pages have it. */
function signOf({ places }: Change): string {
  const isMissing = (side: 0 | 1) => places.length > 0 && places.every((place) => place[side] === null);
  return isMissing(0) ? "+" : isMissing(1) ? "−" : "~";
}
