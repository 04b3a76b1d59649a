import { type Selection, select } from "d3-selection";
import { type D3ZoomEvent, type ZoomBehavior, ZoomTransform, zoom, zoomIdentity } from "d3-zoom";
import type { Box } from "../../layout/layout.js";
import type { Viewport } from "../picture/scene.js";
import { glide } from "./animation.js";
import { isForDiagram, translatePinches, wheelDelta } from "./gestures.js";
import { SMALLEST_STAGE, StageHeight } from "./stage_height.js";
import { distance, keepVisible, type PagePoint, pointOnScreen, restingIn, shiftInto, visiblePart } from "./visible.js";

/**
 * Zoom and pan, on d3-zoom. At rest, CSS alone places the picture, which fits any width of the page and costs nothing. The
 * first gesture frees it exactly where CSS had it; `fit` returns it to rest.
 */

const SMALLEST_SCALE = 0.02;
const LARGEST_SCALE = 4;
/** Room around a revealed part, and the height of the bars of themes at the upper edge of the window, px. */
const [MARGIN, BAR] = [24, 72];
/** A press with less movement is a click, px. */
const CLICK_DISTANCE = 4;

/** What the camera needs of the widget around the stage. */
interface Surroundings {
  isFullscreen(): boolean;
  /** The upper edge, in the window, of controls that may cover the lower part of the stage, px. */
  footTop(): number;
  /** Called when another part of the picture may be visible. */
  onMove(): void;
}

export class Camera {
  /** Goes to a node, or to the middle, if a map is shown instead of the picture; whether it did. */
  enter: ((id?: string) => boolean) | undefined;
  readonly #stage: HTMLElement;
  readonly #canvas: HTMLElement;
  readonly #widget: Surroundings;
  readonly #zoom: ZoomBehavior<HTMLElement, unknown>;
  readonly #height: StageHeight;
  readonly #selection: Selection<HTMLElement, unknown, null, undefined>;
  #isFree = false;
  /** Whether it has ever been moved. */
  #wasFree = false;
  #isStartShown = false;
  /** The origin of a free picture in the stage, and its scale; at rest, where the last gesture found it. */
  #transform: ZoomTransform = zoomIdentity;
  /** The last known width of the stage, px. */
  #width = 0;
  /** The event that began the current gesture. */
  #gestureStart: MouseEvent | TouchEvent | undefined;

  /** @param stage the window onto the picture @param canvas the element inside it that holds the `<svg>` and moves */
  constructor(stage: HTMLElement, canvas: HTMLElement, widget: Surroundings) {
    this.#stage = stage;
    this.#canvas = canvas;
    this.#widget = widget;
    this.#height = new StageHeight(stage);
    const isOurs = (event: Event) => isForDiagram(event, widget.isFullscreen());
    this.#zoom = zoom<HTMLElement, unknown>()
      .filter((event: Event) => isOurs(event) && this.#adoptResting())
      .wheelDelta(wheelDelta)
      .clickDistance(CLICK_DISTANCE)
      .touchable(true)
      .constrain((transform) => keepVisible(transform, this.#size, stage))
      .on("start", ({ sourceEvent }) => {
        this.#gestureStart = sourceEvent;
      })
      .on("zoom", (event) => this.#onZoom(event));
    this.#selection = select(stage);
    this.#selection.call(this.#zoom).on("dblclick.zoom", null);
    // at the smallest and the largest scale, d3-zoom would leave the wheel to the browser, which zooms the page
    stage.addEventListener("wheel", (event) => isOurs(event) && event.preventDefault(), { passive: false });
    translatePinches(stage);
    // a long press doesn't select text
    stage.addEventListener("selectstart", (event) => event.preventDefault());
  }

  /** Whether the picture was moved or zoomed. */
  get isFree(): boolean {
    return this.#isFree;
  }

  /** Whether the picture is at rest again after the reader moved it. */
  get isBackAtRest(): boolean {
    return (this.#wasFree || this.#widget.isFullscreen()) && !this.#isFree;
  }

  /** Return to rest as on the page: no smaller than legible. */
  fit(): void {
    this.#rest(false);
  }

  #rest(isWhole: boolean): void {
    this.#isFree = false;
    this.#stage.classList.remove("mg-free");
    this.#stage.classList.toggle("mg-whole", isWhole);
    this.#canvas.style.transform = "";
    this.#widget.onMove();
  }

  /** Return to rest, no wider than the page, however small that is. */
  fitWhole(): void {
    this.#rest(true);
  }

  /** The same, and scrolled into the window as far as it fits. */
  showWhole(): void {
    this.fitWhole();
    this.#stage.scrollIntoView({ block: "nearest", behavior: "instant" });
  }

  /** Return to rest, as tall as on the page. */
  reset(): void {
    this.#height.reset();
    this.#wasFree = false;
    this.fit();
  }

  /** Place the picture such that a part of it fills a part of the window. */
  show(part: Box, { left, top, width, height }: DOMRect): void {
    if (!this.#free()) return;
    const frame = this.#stage.getBoundingClientRect();
    const k = Math.min(width / part.width, height / part.height, LARGEST_SCALE);
    const x = left + width / 2 - frame.left - (part.x + part.width / 2) * k;
    const y = top + height / 2 - frame.top - (part.y + part.height / 2) * k;
    this.#zoom.transform(this.#selection, new ZoomTransform(k, x, y));
  }

  /** Call when the width of the stage may have changed: the middle stays in place. */
  onResize(): void {
    const { clientWidth } = this.#stage;
    if (clientWidth === 0) return;
    if (!this.#isFree) {
      this.#showStart();
      return;
    }
    const wider = clientWidth - this.#width;
    this.#width = clientWidth;
    if (wider !== 0) this.#moveBy(wider / 2, 0);
  }

  /** The visible part of the picture; its scale is 0 while nothing is visible. */
  get viewport(): Viewport {
    const frame = this.#stage.getBoundingClientRect();
    return visiblePart(frame, this.#isFree ? this.#transform : this.#resting(frame));
  }

  /** Zoom about the middle of the visible part. */
  zoomBy(factor: number): void {
    if ((factor > 1 && this.enter?.()) || !this.#free()) return;
    const { x, y, width, height } = this.viewport;
    const middle = this.#transform.apply([x + width / 2, y + height / 2]);
    this.#glide(() => this.#zoom.scaleBy(this.#selection, factor, middle));
  }

  /** Centre a point of the picture in the visible part. */
  lookAt(x: number, y: number): void {
    const { x: left, y: top, width, height, scale } = this.viewport;
    this.#moveBy((left + width / 2 - x) * scale, (top + height / 2 - y) * scale);
  }

  /** Where a point of the picture is on screen. */
  onScreen(x: number, y: number): PagePoint {
    const frame = this.#stage.getBoundingClientRect();
    return pointOnScreen(frame, this.#isFree ? this.#transform : this.#resting(frame), x, y);
  }

  /** Exchange the picture; the point that was at `before` on screen and would be at `after` stays in place. */
  replace(picture: SVGSVGElement, before: () => PagePoint, after: () => PagePoint): void {
    // a hidden picture has no position to keep
    if (this.#stage.clientWidth === 0) this.fit();
    const from = before();
    this.#free();
    this.#picture.replaceWith(picture);
    if (!this.#isFree) return;
    const to = after();
    this.#moveBy(from.x - to.x, from.y - to.y);
    this.#useWidth();
    const lowered = this.#showTop();
    this.#height.fit(this.#pictureEnd);
    // the page scrolls back by the amount lowered, as far as it can
    if (lowered > 0 && !this.#widget.isFullscreen()) scrollBy({ top: lowered, behavior: "instant" });
  }

  /** Bring a part of the picture into view, with as little movement as possible; from far away, to the middle. */
  reveal(part: Element): void {
    this.#glide(() => {
      if (this.#isFree) this.#panTo(part);
      part.scrollIntoView({ block: "nearest", inline: "nearest", behavior: "instant" });
    });
  }

  #panTo(part: Element): void {
    const [box, frame] = [part.getBoundingClientRect(), this.#stage.getBoundingClientRect()];
    const dx = shiftInto(box.left, box.right, frame.left, frame.right, MARGIN);
    // prefer the part of the stage that isn't covered by the window's edges, bars and controls
    const top = Math.max(frame.top, this.#widget.isFullscreen() ? 0 : BAR);
    const bottom = Math.min(frame.bottom, innerHeight, this.#widget.footTop());
    const hasRoom = bottom - top >= SMALLEST_STAGE / 2;
    const [low, high] = hasRoom ? [top, bottom] : [frame.top, frame.bottom];
    const isCut = box.top < frame.top || box.bottom > frame.bottom;
    const dy = isCut ? shiftInto(box.top, box.bottom, low, high, MARGIN) : 0;
    if (dx !== 0 || dy !== 0) this.#moveBy(dx, dy);
  }

  /** Scroll a picture that is cut by its column to the start of the model; only once, as readers scroll it afterwards. */
  #showStart(): void {
    const { scrollWidth, clientWidth } = this.#stage;
    if (this.#isStartShown || scrollWidth <= clientWidth) return;
    this.#isStartShown = true;
    const first = this.#picture.querySelector(".mg-node")?.getBoundingClientRect();
    const { left, width } = this.#stage.getBoundingClientRect();
    const beside = first === undefined ? 0 : first.left + first.width / 2 - left - width / 2;
    if (Math.abs(beside) > width / 4) this.#stage.scrollLeft += beside;
  }

  // -- gestures -------------------------------------------------------------------------------------------------------

  /** At rest, give d3-zoom the position from CSS; false while the picture is hidden. */
  #adoptResting(): boolean {
    if (this.#isFree) return true;
    const resting = this.#resting(this.#stage.getBoundingClientRect());
    if (resting.k === 0) return false;
    this.#transform = resting;
    // a picture that is already smaller may stay so
    this.#zoom.scaleExtent([Math.min(SMALLEST_SCALE, resting.k), LARGEST_SCALE]);
    this.#zoom.transform(this.#selection, resting);
    return true;
  }

  #onZoom({ transform, sourceEvent }: D3ZoomEvent<HTMLElement, unknown>): void {
    const isDrag = sourceEvent?.type === "mousemove";
    if (isDrag && sourceEvent.buttons === 0) this.#endDrag();
    else if (this.#isFree) this.#place(transform);
    else if (transform !== this.#transform && !(isDrag && this.#isClick(sourceEvent))) {
      this.#leaveRest();
      this.#place(transform);
    }
  }

  /** Whether the mouse has hardly moved since the press. */
  #isClick(event: MouseEvent): boolean {
    return distance(event, this.#gestureStart as MouseEvent) < CLICK_DISTANCE;
  }

  /** The button was released where the page didn't notice, for example over another window. */
  #endDrag(): void {
    dispatchEvent(new MouseEvent("mouseup", { view: window }));
    this.#zoom.transform(this.#selection, this.#transform);
  }

  // -- moving the picture ---------------------------------------------------------------------------------------------

  get #picture(): SVGSVGElement {
    return this.#canvas.firstElementChild as SVGSVGElement;
  }

  get #size(): { width: number; height: number } {
    const { width, height } = this.#picture;
    return { width: width.baseVal.value, height: height.baseVal.value };
  }

  /** The lower edge of a free picture in the stage, px. */
  get #pictureEnd(): number {
    return this.#transform.y + this.#size.height * this.#transform.k;
  }

  /** The position of the picture from CSS. */
  #resting(frame: DOMRect): ZoomTransform {
    return restingIn(this.#picture.getBoundingClientRect(), frame, this.#size);
  }

  /** Free the picture from CSS without moving it; false while it is hidden. */
  #free(): boolean {
    if (this.#isFree) return true;
    if (!this.#adoptResting()) return false;
    this.#leaveRest();
    this.#moveBy(0, 0);
    return true;
  }

  #leaveRest(): void {
    this.#isFree = true;
    this.#wasFree = true;
    this.#width = this.#stage.clientWidth;
    this.#height.freeze();
    this.#stage.classList.add("mg-free");
  }

  #moveBy(dx: number, dy: number): void {
    if (!this.#free()) return;
    const { x, y, k } = this.#transform;
    this.#zoom.transform(this.#selection, keepVisible(new ZoomTransform(k, x + dx, y + dy), this.#size, this.#stage));
  }

  #place(transform: ZoomTransform): void {
    this.#transform = transform;
    this.#canvas.style.transform = `translate(${transform.x}px, ${transform.y}px) scale(${transform.k})`;
    this.#widget.onMove();
  }

  /** Don't cut one side of the picture while there is room on the other. */
  #useWidth(): void {
    const { x, k } = this.#transform;
    const spare = this.#stage.clientWidth - this.#size.width * k;
    this.#moveBy(Math.max(Math.min(spare, 0), Math.min(Math.max(spare, 0), x)) - x, 0);
  }

  /** Lower a picture with a cut top if the stage can grow; returns by how much, px. */
  #showTop(): number {
    const spare = this.#height.limit - this.#pictureEnd;
    const down = Math.max(0, Math.min(-this.#transform.y, spare));
    if (down > 0) this.#moveBy(0, down);
    return down;
  }

  /** Animate a movement. A running one ends first, because nothing has reached its place yet. */
  #glide(move: () => void): void {
    for (const animation of this.#canvas.getAnimations()) animation.finish();
    const from = this.#canvas.style.transform;
    move();
    const to = this.#canvas.style.transform;
    if (from !== to) glide(this.#canvas, from, to);
  }
}
