/** A small map of a picture that is much larger than the stage, with the viewport on it: click or drag to go there. */
import type { Placed } from "../../layout/layout.js";
import { box } from "../controls/dom.js";
import type { Widget } from "../widget.js";

/** Shown if the picture is this many times as large as the viewport. */
const VIEWPORTS = 3;
/** Length of the longer side, and least length of the other, px. */
const LARGEST = 140;
const SMALLEST = 28;
/** More rectangles would be smaller than a dot. */
const MAX_RECTANGLES = 400;

export function minimap(widget: Widget): void {
  const map = new Minimap(widget);
  widget.stage.append(map.element);
  widget.on("moved", () => map.update());
  widget.on("drawn", () => map.update());
}

class Minimap {
  readonly element: HTMLElement;
  readonly #widget: Widget;
  readonly #frame = box("mg-window");
  readonly #canvas = document.createElement("canvas");
  /** The painted picture. */
  #painted: SVGSVGElement | undefined;

  constructor(widget: Widget) {
    this.#widget = widget;
    this.element = box("mg-map", this.#canvas, this.#frame);
    this.element.hidden = true;
    // keyboard and screen readers have the tree
    this.element.ariaHidden = "true";
    this.element.addEventListener("pointerdown", (event) => {
      this.element.setPointerCapture(event.pointerId);
      this.#goTo(event);
    });
    this.element.addEventListener("pointermove", (event) => this.#goTo(event));
    // must neither drag nor click the picture below, nor take the focus
    for (const type of ["mousedown", "click"]) {
      this.element.addEventListener(type, (event) => {
        event.stopPropagation();
        event.preventDefault();
      });
    }
  }

  update(): void {
    const { viewport } = this.#widget.camera;
    const { width, height } = this.#size;
    const isLarge = width * height >= VIEWPORTS * viewport.width * viewport.height;
    const isWanted = this.#widget.camera.isFree && viewport.scale !== 0 && isLarge;
    if (isWanted) this.#paint();
    this.element.hidden = !isWanted || this.#painted !== this.#widget.tree.picture;
    if (this.element.hidden) return;
    const percent = (part: number, whole: number) => `${Math.max(0, Math.min(100, (100 * part) / whole))}%`;
    this.#frame.style.left = percent(viewport.x, width);
    this.#frame.style.top = percent(viewport.y, height);
    this.#frame.style.right = percent(width - viewport.x - viewport.width, width);
    this.#frame.style.bottom = percent(height - viewport.y - viewport.height, height);
  }

  get #size(): DOMRect {
    return this.#widget.tree.picture.viewBox.baseVal;
  }

  /** Paint the current picture if it isn't painted. */
  #paint(): void {
    const { picture } = this.#widget.tree;
    if (this.#painted === picture) return;
    this.#widget.tasks.ifLaidOut((_, layout) => {
      paint(this.#canvas, layout.root, this.#size);
      this.#painted = picture;
    });
  }

  #goTo(event: PointerEvent): void {
    if (event.buttons === 0) return;
    const map = this.element.getBoundingClientRect();
    const { width, height } = this.#size;
    this.#widget.camera.lookAt(
      ((event.clientX - map.left) / map.width) * width,
      ((event.clientY - map.top) / map.height) * height,
    );
  }
}

/** Paint containers and nodes as rectangles, outermost first. Very long pictures are squeezed. */
function paint(canvas: HTMLCanvasElement, root: Placed, { width, height }: DOMRect): void {
  const scale = LARGEST / Math.max(width, height);
  const [mapWidth = 0, mapHeight = 0] = [width, height].map((side) => Math.max(SMALLEST, Math.round(side * scale)));
  canvas.width = mapWidth * devicePixelRatio;
  canvas.height = mapHeight * devicePixelRatio;
  canvas.style.width = `${mapWidth}px`;
  canvas.style.height = `${mapHeight}px`;
  const context = canvas.getContext("2d");
  if (context === null) return;
  // visible on light and on dark pages
  context.fillStyle = "gray";
  context.globalAlpha = 0.2;
  context.scale(canvas.width / width, canvas.height / height);
  fillBoxes(context, root);
}

function fillBoxes(context: CanvasRenderingContext2D, root: Placed): void {
  const queue = [{ placed: root, x: 0, y: 0 }];
  let left = MAX_RECTANGLES;
  for (const { placed, x, y } of queue) {
    placed.geometry.boxes.forEach((rect, i) => {
      left -= 1;
      context.fillRect(x + rect.x, y + rect.y, rect.width, rect.height);
      const inner = placed.inner[i];
      if (inner && left > 0) queue.push({ placed: inner, x: x + rect.x, y: y + rect.y });
    });
  }
}
