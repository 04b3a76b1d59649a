/** Colours nodes by class instead of by kind, or by cost, for which it loads `lenses.js`. */
import type { ColourScale } from "../../session/colour_scale.js";
import type { BoxLens } from "../../session/costs.js";
import type { NumberLens } from "../../session/numbers.js";
import type { Session } from "../../session/session.js";
import { strings } from "../../shared/strings.js";
import { box, make, scaleEntry } from "../controls/dom.js";
import type { MenuItem } from "../controls/toolbar.js";
import type { Lenses } from "../lenses/lenses.js";
import { loadOwn } from "../loading/loader.js";
import type { Mode } from "../modes.js";
import { idOf } from "../picture/tree.js";
import type { Widget } from "../widget.js";

declare global {
  /** Set by `lenses.js`. */
  var modelDiagramsLenses: ((widget: Widget, legend: HTMLElement) => Lenses) | undefined;
}

/** These are also keys of the messages. */
const CHOICES = ["kind", "class", "parameters", "flops", "memory", "intensity", "time"] as const;
type Choice = (typeof CHOICES)[number] | NumberLens;

export function colours(widget: Widget): void {
  const names: string[] = JSON.parse(widget.host.getAttribute("numbers") ?? "[]");
  const numbers = names.map((_, i): NumberLens => `numbers${i}`);
  const costs = CHOICES.filter((choice) => choice !== "time" || widget.host.hasAttribute("times"));
  const choices: Choice[] = [...costs, ...numbers];
  const named = new Map<Choice, string>(numbers.map((choice, i) => [choice, names[i] ?? ""]));
  const nameOf = (choice: Choice) => named.get(choice) ?? strings[choice as keyof typeof strings];
  // the page's own picture has the colours of the first numbers
  const colouring = new Colouring(widget, nameOf, numbers[0]);
  const { first } = colouring;
  widget.linked.lens = {
    get: () => (colouring.choice === first ? undefined : colouring.choice),
    set: (lens) => colouring.choose(choices.find((choice) => choice === lens) ?? first),
  };
  const items = choices.map((choice): MenuItem => {
    const isOn = () => colouring.choice === choice;
    return { text: nameOf(choice), isOn, isChoice: true, stays: true, run: () => colouring.choose(choice) };
  });
  widget.toolbar.addToMenu(strings.colours, ...items);
}

class Colouring {
  readonly #widget: Widget;
  readonly #legend = box("mg-scale");
  /** The choice of the page's own picture. */
  readonly first: Choice;
  choice: Choice;
  readonly #nameOf: (choice: Choice) => string;
  /** Whether the picture still has the colours with which it was made. */
  #isStill: boolean;
  readonly #mode: Mode = { text: "", leave: () => this.choose(this.first) };
  #scale: ColourScale | undefined;
  #lenses: Lenses | undefined;
  /** The picture of the scale. */
  #painted: SVGSVGElement | undefined;

  constructor(widget: Widget, nameOf: (choice: Choice) => string, first: Choice = "kind") {
    this.#widget = widget;
    this.#nameOf = nameOf;
    this.first = first;
    this.choice = first;
    this.#isStill = first !== "kind";
    this.#legend.hidden = true;
    widget.foot.prepend(this.#legend);
    widget.exportDecorators.push((picture) => this.#paint(picture));
    widget.on("drawn", () => this.#refresh());
  }

  choose(choice: Choice): void {
    this.choice = choice;
    this.#mode.text = `${strings.colours}: ${this.#nameOf(choice)}`;
    this.#widget.modes.set(this.#mode, choice !== this.first);
    if (this.#isStill) {
      this.#isStill = false;
      void this.#widget.change(({ state }) => state);
    }
    void this.#widget.tasks.withSession(async (session) => {
      const lens = choice === "kind" || choice === "class" ? undefined : choice;
      if (lens !== undefined) this.#lenses ??= (await loadOwn("lenses.js"))(this.#widget, this.#legend);
      // the reader may have made another choice meanwhile
      if (choice === this.choice) this.#apply(session, lens);
    });
  }

  #apply(session: Session, lens: BoxLens | undefined): void {
    const { stage, tree } = this.#widget;
    this.#scale = this.choice === "class" ? session.classScale(tree.ids) : undefined;
    this.#painted = tree.picture;
    stage.dataset.lens = this.choice;
    for (const part of [stage, this.#legend]) part.dataset.by = lens === undefined ? this.choice : "amount";
    this.#legend.hidden = this.choice === "kind";
    this.#legend.replaceChildren(...(this.#scale === undefined ? [] : legendOf(this.#scale)));
    this.#lenses?.show(lens);
    this.#paint(tree.picture);
  }

  #paint(picture: SVGSVGElement): void {
    if (this.#scale === undefined) return;
    for (const node of picture.querySelectorAll<SVGElement>("[data-id]")) {
      node.dataset.step = String(this.#scale.stepOf(idOf(node)));
    }
  }

  /** The picture has new nodes, or it is another one with its own classes. */
  #refresh(): void {
    const { session, tree } = this.#widget;
    if (this.#isStill) {
      this.#isStill = false;
      this.choose(this.choice);
    }
    if (this.#scale === undefined || session === undefined) return;
    if (this.#painted === tree.picture) this.#paint(tree.picture);
    else this.#apply(session, undefined);
  }
}

function legendOf(scale: ColourScale): HTMLElement[] {
  return [make("span", "", `${strings.class}:`), ...scale.entries.map(scaleEntry)];
}
