/** Colours nodes by class or by an amount instead of by kind, with the scale below the picture. */
import type { Scale } from "../../session/colour_scale.js";
import type { Session } from "../../session/session.js";
import { strings } from "../../shared/strings.js";
import type { Mode } from "../modes.js";
import { box, make } from "../parts/dom.js";
import type { MenuItem } from "../parts/toolbar.js";
import { idOf } from "../tree.js";
import type { Widget } from "../widget.js";

/** Also keys of the table of strings. */
const CHOICES = ["kind", "class", "parameters", "flops", "memory"] as const;
type Choice = (typeof CHOICES)[number];

export function colours(widget: Widget): void {
  const colouring = new Colouring(widget);
  widget.linked.lens = {
    get: () => (colouring.choice === "kind" ? undefined : colouring.choice),
    set: (lens) => colouring.choose(CHOICES.find((choice) => choice === lens) ?? "kind"),
  };
  const items = CHOICES.map((choice): MenuItem => {
    const isOn = () => colouring.choice === choice;
    return { text: strings[choice], isOn, isChoice: true, stays: true, run: () => colouring.choose(choice) };
  });
  widget.toolbar.addToMenu(strings.colours, ...items);
}

class Colouring {
  readonly #widget: Widget;
  readonly #legend = box("mg-scale");
  choice: Choice = "kind";
  readonly #mode: Mode = { text: "", leave: () => this.choose("kind") };
  #scale: Scale | undefined;
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
    this.choice = choice;
    this.#mode.text = `${strings.colours}: ${strings[choice]}`;
    this.#widget.modes.set(this.#mode, choice !== "kind");
    void this.#widget.withSession((session) => this.#apply(session));
  }

  #apply(session: Session): void {
    const { stage, tree } = this.#widget;
    const choice = this.choice;
    this.#scale = choice === "kind" ? undefined : session.scale(choice, tree.ids);
    this.#painted = tree.picture;
    const palette = choice === "kind" || choice === "class" ? choice : "amount";
    for (const part of [stage, this.#legend]) part.dataset.by = palette;
    this.#legend.hidden = this.#scale === undefined;
    this.#legend.replaceChildren(...(this.#scale === undefined ? [] : legendOf(this.#scale, choice)));
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
    if (this.choice === "kind" || session === undefined) return;
    if (this.#painted === tree.picture) this.#paint(tree.picture);
    else this.#apply(session);
  }
}

function legendOf(scale: Scale, choice: Choice): HTMLElement[] {
  const entries = scale.entries.map(({ step, text }) => {
    const swatch = box("mg-swatch");
    swatch.dataset.step = String(step);
    return make("span", "mg-entry", swatch, text);
  });
  return [make("span", "", `${strings[choice]}:`), ...entries];
}
