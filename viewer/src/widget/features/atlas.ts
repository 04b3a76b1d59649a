/**
 * A map instead of a whole picture that would be too small to read: blocks with names, which lead to their places in the
 * picture. For screen readers and keys, the picture stays as it is.
 */
import type { Box, Placed } from "../../layout/layout.js";
import { isForDiagram } from "../camera/gestures.js";
import { box } from "../controls/dom.js";
import { parseSvg } from "../loading/trusted_types.js";
import { boxIn } from "../picture/scene.js";
import { idOf, nodeAt } from "../picture/tree.js";
import type { Widget } from "../widget.js";
import { goInto } from "./far_blocks.js";

/** Shown for pictures that would be smaller than this scale. */
const SMALL = 0.3;
/** A picture that was zoomed out until all of it is visible becomes a map after this time, ms. */
const CALM = 250;

export function atlas(widget: Widget): void {
  const shown = new AtlasView(widget);
  const { stage, camera } = widget;
  stage.append(shown.element);
  widget.on("moved", () => shown.update());
  widget.on("drawn", () => shown.update());
  widget.on("lit", () => shown.dim());
  widget.onKey("Enter", (id) => widget.nodePicker === undefined && shown.goTo(id));
  camera.enter = (id) => shown.goTo(id ?? shown.middle);
  widget.whileConnected((signal) => {
    // other costs, other areas
    const relensed = new MutationObserver(() => shown.update());
    relensed.observe(stage, { attributeFilter: ["data-lens"] });
    signal.addEventListener("abort", () => relensed.disconnect());
  });
  stage.addEventListener("focusin", () => shown.mark());
}

class AtlasView {
  readonly element = box("mg-atlas");
  readonly #widget: Widget;
  /** The picture and the surroundings for which it was made. */
  #picture: SVGSVGElement | undefined;
  #made = "";
  #calm = 0;

  constructor(widget: Widget) {
    this.#widget = widget;
    const { element } = this;
    element.hidden = true;
    // keyboard and screen readers have the tree
    element.ariaHidden = "true";
    element.addEventListener("click", (event) => this.#onClick(event));
    // a drag would move the picture below
    element.addEventListener("mousedown", (event) => event.stopPropagation());
    const hand = (event: WheelEvent | TouchEvent) => this.#handOver(event);
    element.addEventListener("wheel", hand);
    element.addEventListener("touchstart", hand);
  }

  /** Show or hide the map, depending on the camera. */
  update(): void {
    const { camera, stage, tree } = this.#widget;
    const { lens } = stage.dataset;
    const wanted = camera.isBackAtRest ? `${stage.clientWidth} ${innerHeight} ${lens}` : "";
    if (camera.isFree) this.#returnLater();
    if (wanted === this.#made && tree.picture === this.#picture) return;
    if (wanted === "") this.#hide();
    else
      this.#widget.tasks.ifLaidOut((session) => {
        this.#hide();
        const { scale } = camera.viewport;
        // not visible now
        if (scale === 0) return;
        [this.#made, this.#picture] = [wanted, tree.picture];
        if (scale >= SMALL) return;
        this.#toggle(true);
        const size = { width: stage.clientWidth, height: stage.clientHeight };
        this.element.replaceChildren(...parseSvg(session.map(size, lens)));
        for (const decorate of this.#widget.mapDecorators) decorate(this.element);
        this.mark();
        this.dim();
      });
  }

  /** Show where the focus is. */
  mark(): void {
    for (const old of this.element.querySelectorAll(".mg-current")) old.classList.remove("mg-current");
    const { activeElement } = this.element.getRootNode() as ShadowRoot;
    let node = nodeAt(activeElement);
    while (node !== null && this.#cell(idOf(node)) === null) node = nodeAt(node.parentElement);
    if (node !== null) this.#cell(idOf(node))?.classList.add("mg-current");
  }

  /** Dim all blocks except those on the shown path and around it. */
  dim(): void {
    const { element } = this;
    const { lit } = this.#widget;
    element.classList.toggle("mg-dim", lit !== undefined);
    if (element.hidden || lit === undefined) return;
    this.#widget.tasks.ifLaidOut((_, layout) => {
      const bright = new Set(holding(layout.root.frame.items, lit));
      for (const cell of element.querySelectorAll<SVGElement>("[data-cell]"))
        cell.classList.toggle("mg-on", bright.has(cell.dataset.cell ?? ""));
    });
  }

  /** The block in the middle of the map. */
  get middle(): string | undefined {
    const { left, top, width, height } = this.element.getBoundingClientRect();
    return this.#at(left + width / 2, top + Math.min(height, innerHeight - top) / 2);
  }

  /** Zoom to where a node is legible, if the map is shown; whether it was. */
  goTo(id: string | undefined): boolean {
    if (this.element.hidden || id === undefined) return false;
    const found = this.#boxOf(id);
    if (found === undefined) return false;
    this.#place(id, found);
    goInto(this.#widget, found);
    return true;
  }

  #onClick(event: MouseEvent): void {
    event.stopPropagation();
    const id = this.#at(event.clientX, event.clientY);
    const { nodePicker } = this.#widget;
    this.#widget.nodePicker = undefined;
    if (id !== undefined && nodePicker !== undefined) nodePicker(id);
    else this.goTo(id);
  }

  /** The camera continues a gesture that began on the map: the block below the fingers stays there. */
  #handOver(event: WheelEvent | TouchEvent): void {
    if (!isForDiagram(event, this.#widget.host.matches(":fullscreen"))) return;
    const points = "touches" in event ? [...event.touches] : [event];
    const [x, y] = [mean(points.map((point) => point.clientX)), mean(points.map((point) => point.clientY))];
    const id = this.#at(x, y);
    const found = id === undefined ? undefined : this.#boxOf(id);
    if ("deltaY" in event && event.deltaY > 0) {
      // there is nothing further away
      event.stopPropagation();
      event.preventDefault();
    } else if (id !== undefined && found !== undefined) this.#place(id, found);
  }

  #place(id: string, found: Box): void {
    const cell = this.#cell(id)?.firstElementChild?.nextElementSibling ?? this.element;
    this.#widget.camera.show(found, cell.getBoundingClientRect());
  }

  #at(x: number, y: number): string | undefined {
    const cells = [...this.element.querySelectorAll<SVGElement>("[data-cell]")];
    const within = ({ left, right, top, bottom }: DOMRect) => x >= left && x <= right && y >= top && y <= bottom;
    return cells.reverse().find((cell) => within(cell.getBoundingClientRect()))?.dataset.cell;
  }

  #boxOf(id: string): Box | undefined {
    let found: Box | undefined;
    this.#widget.tasks.ifLaidOut((_, layout) => {
      found = boxIn(layout.root, id);
    });
    return found;
  }

  #cell(id: string): SVGElement | null {
    return this.element.querySelector<SVGElement>(`[data-cell="${CSS.escape(id)}"]`);
  }

  #hide(): void {
    this.#made = "";
    this.#toggle(false);
  }

  #toggle(isShown: boolean): void {
    this.element.hidden = !isShown;
    this.#widget.stage.classList.toggle("mg-mapped", isShown);
  }

  /** Return to the map once the reader has zoomed out until all of a large picture is visible. */
  #returnLater(): void {
    clearTimeout(this.#calm);
    this.#calm = setTimeout(() => {
      const { camera, stage, tree } = this.#widget;
      const { width, height } = tree.picture.viewBox.baseVal;
      const { clientWidth, clientHeight } = stage;
      const scale = camera.isFree ? camera.viewport.scale : 0;
      const isSeen = width * scale <= clientWidth && height * scale <= clientHeight;
      const whole = Math.min(clientWidth / width, Math.max(clientHeight, innerHeight) / height);
      if (scale > 0 && isSeen && whole < SMALL) camera.fitWhole();
    }, CALM);
  }
}

/** The items that are or contain one of some nodes. */
function holding(items: Placed["frame"]["items"], nodes: ReadonlySet<string>): string[] {
  return items.flatMap(({ id, frame }) => {
    const inside = frame === null ? [] : holding(frame.items, nodes);
    return inside.length > 0 || nodes.has(id) ? [id, ...inside] : [];
  });
}

function mean(values: readonly number[]): number {
  return values.reduce((all, value) => all + value, 0) / values.length;
}
