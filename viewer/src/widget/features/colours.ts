/** Colours nodes by class instead of by kind, or shows what they cost: another script brings these lenses. */
import type { Scale } from "../../session/colour_scale.js";
import type { CostLens } from "../../session/costs.js";
import type { Session } from "../../session/session.js";
import { strings } from "../../shared/strings.js";
import type { Lenses } from "../lenses/lenses.js";
import { canLoad, loadOwn } from "../loader.js";
import { box, make } from "../parts/dom.js";
import { idOf } from "../tree.js";
import type { Widget } from "../widget.js";

declare global {
  /** Comes with `lenses.js`. */
  var modelDiagramsLenses: ((widget: Widget, legend: HTMLElement) => Lenses) | undefined;
}

/** Also keys of the table of strings. */
const CHOICES = ["kind", "class", "parameters", "flops", "memory", "intensity"] as const;
type Choice = (typeof CHOICES)[number];

export function colours(widget: Widget): void {
  const colouring = new Colouring(widget);
  const select = make("select", "mg-choice");
  select.ariaLabel = strings.colours;
  const offered = canLoad("lenses.js") ? CHOICES : CHOICES.slice(0, 2);
  for (const choice of offered) {
    const option = make("option", "", strings[choice]);
    option.value = choice;
    select.append(option);
  }
  const choose = (choice: string) => {
    if (!offered.some((each) => each === choice)) return;
    select.value = choice;
    colouring.choose(choice as Choice);
  };
  select.addEventListener("change", () => choose(select.value));
  widget.linked.lens = { get: () => (select.value === "kind" ? undefined : select.value), set: choose };
  widget.onKey("Escape", () => {
    const isLens = select.value !== "kind";
    if (isLens) choose("kind");
    return isLens;
  });
  widget.toolbar.addToMenu(strings.colours, select);
}

class Colouring {
  readonly #widget: Widget;
  readonly #legend = box("mg-scale");
  #choice: Choice = "kind";
  #scale: Scale | undefined;
  #lenses: Lenses | undefined;
  /** The picture that the scale was made for. */
  #painted: SVGSVGElement | undefined;

  constructor(widget: Widget) {
    this.#widget = widget;
    this.#legend.hidden = true;
    widget.foot.prepend(this.#legend);
    widget.exportDecorators.push((picture) => this.#paint(picture));
    widget.on("drawn", () => this.#refresh());
  }

  choose(choice: Choice): void {
    this.#choice = choice;
    void this.#widget.withSession(async (session) => {
      const lens = choice === "kind" || choice === "class" ? undefined : choice;
      if (lens !== undefined) this.#lenses ??= (await loadOwn("lenses.js"))(this.#widget, this.#legend);
      // the reader may have chosen another meanwhile
      if (choice === this.#choice) this.#apply(session, lens);
    });
  }

  #apply(session: Session, lens: CostLens | undefined): void {
    const { stage, tree } = this.#widget;
    this.#scale = this.#choice === "class" ? session.classScale(tree.ids) : undefined;
    this.#painted = tree.picture;
    stage.dataset.lens = this.#choice;
    for (const part of [stage, this.#legend]) part.dataset.by = lens === undefined ? this.#choice : "amount";
    this.#legend.hidden = this.#choice === "kind";
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

  /** There are new nodes in the picture, or it is another one, with classes of its own. */
  #refresh(): void {
    const { session, tree } = this.#widget;
    if (this.#scale === undefined || session === undefined) return;
    if (this.#painted === tree.picture) this.#paint(tree.picture);
    else this.#apply(session, undefined);
  }
}

function legendOf(scale: Scale): HTMLElement[] {
  const entries = scale.entries.map(({ step, text }) => {
    const swatch = box("mg-swatch");
    swatch.dataset.step = String(step);
    return make("span", "mg-entry", swatch, text);
  });
  return [make("span", "", `${strings.class}:`), ...entries];
}
