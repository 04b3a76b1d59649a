/** A lens on a diagram: what its boxes cost, as bars, and their scale below the picture. */
import { sum } from "d3-array";
import { type Cost, type CostLens, Costs, isCosted } from "../../session/costs.js";
import type { Session } from "../../session/session.js";
import { type StandingBox, standingBoxes } from "../../session/standing.js";
import { words } from "../../shared/lens_strings.js";
import { fill } from "../../shared/strings.js";
import type { Frame } from "../../view/frame.js";
import { box, make } from "../parts/dom.js";
import type { Widget } from "../widget.js";
import { paint } from "./bars.js";
import { LensScale, percent } from "./scale.js";

/** A box or panel with what it costs. */
export interface CostedBox extends StandingBox {
  cost: Cost;
}

export class Lenses {
  readonly #widget: Widget;
  readonly #legend: HTMLElement;
  #lens: CostLens | undefined;
  #costs: { session: Session; costs: Costs } | undefined;
  /** The boxes of the last picture. */
  #boxes: { frame: Frame; boxes: Map<string, CostedBox> } | undefined;

  constructor(widget: Widget, legend: HTMLElement) {
    this.#widget = widget;
    this.#legend = legend;
    widget.exportDecorators.push((picture) => this.#paint(picture));
    // on paper, the picture is as the author made it
    const paper = matchMedia("print");
    widget.whileConnected((signal) => {
      paper.addEventListener("change", () => this.#paint(widget.tree.picture, paper.matches), { signal });
    });
    widget.on("drawn", () => {
      if (this.#lens !== undefined) this.#refresh();
    });
  }

  /** Show the picture through a lens, or as it is. */
  show(lens: CostLens | undefined): void {
    this.#lens = lens;
    this.#refresh();
  }

  #refresh(): void {
    const { session } = this.#widget;
    if (session === undefined) return;
    this.#find(session);
    this.#paint(this.#widget.tree.picture);
    if (this.#lens !== undefined) this.#explain(this.#scaleOf(this.#lens));
  }

  #scaleOf(lens: CostLens): LensScale {
    return new LensScale(lens, this.#costsOf().whole);
  }

  #costsOf(): Costs {
    const { session } = this.#widget;
    if (session === undefined) throw new Error("expected a session");
    if (this.#costs?.session !== session) this.#costs = { session, costs: new Costs(session.grouped) };
    return this.#costs.costs;
  }

  #find(session: Session): void {
    const { frame } = session;
    if (this.#boxes?.frame === frame) return;
    const index = session.visibleGraph();
    const costs = this.#costsOf();
    const found = standingBoxes(index, frame).map((each) => ({ ...each, cost: costs.of(each.ids, index) }));
    this.#boxes = { frame, boxes: new Map(found.map((each) => [each.item.id, each])) };
  }

  #paint(picture: SVGSVGElement, isPaper = false): void {
    const scale = this.#lens === undefined || isPaper ? undefined : this.#scaleOf(this.#lens);
    paint(picture, (id) => {
      const found = this.#boxes?.boxes.get(id);
      return found && scale && isCosted(found.item.kind) ? scale.read(found.cost) : undefined;
    });
  }

  #explain(scale: LensScale): void {
    const entries = scale.entries.map(({ step, text }) => {
      const swatch = box("mg-swatch");
      swatch.dataset.step = String(step);
      return make("span", "mg-entry", swatch, text);
    });
    const hints = [scale.isShare ? words.lensHint : words.intensityHint, ...this.#differences(scale)];
    this.#legend.replaceChildren(
      make("span", "mg-lens-title", scale.title),
      ...entries,
      make("span", "mg-lens-hint", hints.join(" ")),
    );
  }

  /** The boxes that add up to the whole: those that are not open. */
  get #closed(): CostedBox[] {
    return [...(this.#boxes?.boxes.values() ?? [])].filter(
      (each) => each.item.frame === null && isCosted(each.item.kind),
    );
  }

  /** Why the boxes don't add up to the whole, if they don't. */
  #differences({ lens }: LensScale): string[] {
    const whole = lens === "intensity" ? undefined : this.#costsOf().whole[lens];
    if (!whole || lens === "intensity") return [];
    const closed = this.#closed;
    const together = this.#costsOf().of(
      closed.flatMap(({ ids }) => ids),
      this.#widget.session?.visibleGraph(),
    );
    const missing = 1 - (together[lens] ?? 0) / whole;
    const isShared = sum(closed, ({ cost }) => cost[lens]) > (together[lens] ?? 0);
    return [
      ...(missing < 0.001 ? [] : [fill(words.notShown, percent(missing))]),
      ...(isShared ? [words.sharedHint] : []),
    ];
  }
}
