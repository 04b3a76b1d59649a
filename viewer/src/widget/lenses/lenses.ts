/** A lens on a diagram: the costs of its boxes as bars, and their scale below the picture. */

import { sum } from "d3-array";
import { callsOf } from "../../graph/bounds.js";
import { shortName } from "../../graph/names.js";
import { type BoxLens, type Cost, type Costs, isCosted, showsLens } from "../../session/costs.js";
import { type MemoryCurve, memoryCurve } from "../../session/memory.js";
import { pathOf, sizesInWords, typeOf } from "../../session/naming.js";
import { isNumberLens } from "../../session/numbers.js";
import type { StandingBox } from "../../session/rolled.js";
import type { Session } from "../../session/session.js";
import { percent } from "../../shared/amounts.js";
import { words } from "../../shared/lens_strings.js";
import { fill } from "../../shared/strings.js";
import type { Frame } from "../../view/frame.js";
import { button, make, scaleEntry } from "../controls/dom.js";
import type { Widget } from "../widget.js";
import { paintCosts } from "./bars.js";
import { boxAround } from "./box_around.js";
import { type BoxScale, scaleOf } from "./box_scale.js";
import type { CostRow } from "./cost_rows.js";
import type { CostReading } from "./scale.js";
import { MemoryStrip } from "./strip.js";
import { CostTable } from "./table.js";

/** A box or panel with its cost. */
interface CostedBox extends StandingBox {
  cost: Cost;
}

export class Lenses {
  readonly #widget: Widget;
  readonly #legend: HTMLElement;
  readonly #table: CostTable;
  readonly #tableButton: HTMLButtonElement;
  readonly #strip: MemoryStrip;
  #lens: BoxLens | undefined;
  #curve: { session: Session; curve: MemoryCurve } | undefined;
  /** The op whose box is lit. */
  #running: string | undefined;
  /** The boxes of the last picture. */
  #boxes: { frame: Frame; boxes: Map<string, CostedBox>; byNode?: Map<string, string> } | undefined;

  constructor(widget: Widget, legend: HTMLElement) {
    this.#widget = widget;
    this.#legend = legend;
    this.#strip = new MemoryStrip(
      (op) => this.#light(op),
      (op) => this.#goTo(op),
    );
    legend.after(this.#strip.element);
    this.#table = new CostTable(widget);
    this.#tableButton = button(words.table, () => this.#openTable(this.#table.element.hidden === true));
    this.#tableButton.classList.add("mg-lens-button");
    this.#openTable(false);
    widget.onKey("t", (id) => this.#onTableKey(id));
    widget.exportDecorators.push((picture) => this.#paint(picture));
    widget.mapDecorators.push((map) => this.#paintMap(map));
    // the author's own picture is printed
    const paper = matchMedia("print");
    widget.whileConnected((signal) => {
      paper.addEventListener("change", () => this.#paint(widget.tree.picture, paper.matches), { signal });
    });
    widget.on("case", () => {
      this.#boxes = undefined;
      this.#curve = undefined;
      if (this.#lens !== undefined) this.#refresh();
    });
    widget.on("drawn", () => {
      if (this.#lens !== undefined) this.#onDrawn();
    });
  }

  /** Show the picture through a lens, or without one. */
  show(lens: BoxLens | undefined): void {
    this.#lens = lens;
    this.#strip.element.hidden = true;
    this.#light(undefined);
    if (lens === undefined) this.#openTable(false);
    this.#refresh();
  }

  /** A large picture is drawn in parts, but only another picture has other costs. */
  #onDrawn(): void {
    const { session, tree } = this.#widget;
    if (session === undefined || this.#boxes?.frame !== session.frame) this.#refresh();
    else {
      this.#paint(tree.picture);
      this.#light(this.#running);
    }
  }

  #refresh(): void {
    const { session } = this.#widget;
    if (session === undefined) return;
    session.inCase = this.#widget.inCase;
    this.#find(session);
    this.#paint(this.#widget.tree.picture);
    if (this.#lens === undefined) return;
    const scale = this.#scaleOf(this.#lens);
    this.#explain(scale);
    this.#table.show(this.#rows(session), scale);
    if (this.#lens === "memory") this.#showMemory(session);
  }

  #showMemory(session: Session): void {
    if (this.#curve?.session !== session) this.#curve = { session, curve: memoryCurve(session.costed) };
    const { curve } = this.#curve;
    // a trace without sizes has no curve
    this.#strip.element.hidden = !((curve.alive[curve.peak] ?? 0) > 0);
    this.#strip.show(curve);
  }

  /** Light only the box that contains an op. */
  #light(op: string | undefined): void {
    this.#running = op;
    const { tree } = this.#widget;
    for (const lit of tree.picture.querySelectorAll(".mg-running")) lit.classList.remove("mg-running");
    if (op !== undefined) tree.findDrawn(this.#boxOf(op) ?? "")?.classList.add("mg-running");
  }

  #goTo(op: string): void {
    const id = this.#boxOf(op);
    if (id !== undefined) this.#widget.goTo(id);
  }

  /** The closed box that shows an op, or an op that represents it. */
  #boxOf(op: string): string | undefined {
    const { session } = this.#widget;
    if (session === undefined) return undefined;
    const boxes = this.#boxes;
    if (boxes !== undefined && boxes.byNode === undefined) {
      boxes.byNode = new Map([...boxes.boxes.values()].flatMap(({ item, ids }) => ids.map((id) => [id, item.id])));
    }
    return boxes?.byNode && boxAround(session, boxes.byNode, op);
  }

  #openTable(isOpen: boolean): void {
    this.#table.isOpen = isOpen;
    this.#tableButton.ariaExpanded = String(isOpen);
  }

  /** Go from a box to its row, or else open or close the table. */
  #onTableKey(id: string | undefined): boolean {
    if (this.#lens === undefined) return false;
    const isClosed = this.#table.element.hidden === true;
    if (isClosed) this.#openTable(true);
    const hasMoved = id !== undefined && this.#table.focusRow(id);
    if (!isClosed && !hasMoved) this.#openTable(false);
    return true;
  }

  #rows(session: Session): CostRow[] {
    const index = session.visibleGraph();
    return this.#closed.map(({ item, times, cost }) => {
      const node = index.nodes.get(item.id);
      const type = node === undefined ? "" : shortName(typeOf(node));
      const name = node === undefined ? item.name : pathOf(node);
      return { id: item.id, name, class: type, times, cost };
    });
  }

  #scaleOf(lens: BoxLens): BoxScale {
    return scaleOf(lens, this.#session.traced, this.#costsOf().whole);
  }

  get #session(): Session {
    const { session } = this.#widget;
    if (session === undefined) throw new Error("expected a session");
    return session;
  }

  #costsOf(): Costs {
    return this.#session.costs;
  }

  #find(session: Session): void {
    const { frame } = session;
    if (this.#boxes?.frame === frame) return;
    const index = session.visibleGraph();
    const costs = this.#costsOf();
    const found = session
      .rolled()
      .boxes(frame)
      .map((each) => {
        const calls = sum(each.ids, (id) => callsOf(index, id)) / each.ids.length;
        return { ...each, times: Math.round(each.times * calls), cost: costs.of(each.ids, index) };
      });
    this.#boxes = { frame, boxes: new Map(found.map((each) => [each.item.id, each])) };
  }

  #paint(picture: SVGSVGElement, isPaper = false): void {
    const scale = this.#lens === undefined || isPaper ? undefined : this.#scaleOf(this.#lens);
    paintCosts(picture, (id) => this.#read(id, scale));
  }

  /** Areas of the map are no numbers, so its blocks have their tints. */
  #paintMap(map: Element): void {
    if (this.#lens === undefined || !isNumberLens(this.#lens)) return;
    const scale = this.#scaleOf(this.#lens);
    for (const cell of map.querySelectorAll<SVGElement>("[data-cell]"))
      cell.dataset.step = String(this.#read(cell.dataset.cell ?? "", scale)?.step ?? "");
  }

  #read(id: string, scale: BoxScale | undefined): CostReading | undefined {
    const found = this.#boxes?.boxes.get(id);
    if (found === undefined || scale === undefined) return undefined;
    return showsLens(found.item.kind, found.cost, scale.lens) ? scale.read(found.cost) : undefined;
  }

  #explain(scale: BoxScale): void {
    const hints = [
      ...scale.hints,
      ...(isNumberLens(scale.lens) ? [] : [...this.#sizeHint(scale), ...this.#caseHint()]),
      ...this.#differences(scale),
    ];
    this.#legend.replaceChildren(
      make("span", "mg-lens-title", scale.title),
      ...scale.entries.map(scaleEntry),
      this.#tableButton,
      make("span", "mg-lens-hint", hints.join(" ")),
    );
  }

  /** At which sizes of inputs, if the reader set some. */
  #sizeHint({ lens }: BoxScale): string[] {
    const { session } = this.#widget;
    const sizes = session === undefined ? "" : sizesInWords(session.traced);
    if (sizes === "" || lens === "parameters") return [];
    return [fill(lens === "time" ? words.timesAtSizes : words.atSizes, sizes)];
  }

  /** Whose costs these are, if cases have different ones and none is chosen. */
  #caseHint(): string[] {
    const { session, inCase } = this.#widget;
    const first = inCase === undefined ? session?.firstCase : undefined;
    return first === undefined ? [] : [fill(words.perCase, first.name)];
  }

  /** The closed boxes, which add up to the whole. */
  get #closed(): CostedBox[] {
    return [...(this.#boxes?.boxes.values() ?? [])].filter(
      (each) => each.item.frame === null && isCosted(each.item.kind),
    );
  }

  /** Why the boxes don't add up to the whole, if they don't. */
  #differences({ lens }: BoxScale): string[] {
    if (lens === "intensity" || isNumberLens(lens)) return [];
    const whole = this.#costsOf().whole[lens];
    if (!whole) return [];
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
