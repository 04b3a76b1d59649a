/**
 * Zoom and pan. At rest, CSS alone places the picture (it fits, whatever the page's width becomes, and costs nothing);
 * the first gesture sets it free, at exactly the place where CSS had it; "fit" brings it back to rest.
 */
import { listen } from "./gestures.js";
import { glide } from "./motion.js";
import type { Sight } from "./scene.js";

const SMALLEST = 0.02;
const LARGEST = 4;
/** Of the picture, this much always stays in sight, px. */
const IN_SIGHT = 48;
/** A stage lower than this is hard to use, px. */
const SMALLEST_STAGE = 160;
/** A toggled picture may grow to this part of the window's height. */
const WINDOW_SHARE = 0.8;
/** What is brought into sight has so much room around it, px. */
const MARGIN = 24;
/** Themes keep bars at the window's upper edge, px. */
const BAR = 72;

/** Where the picture's origin stands in the stage, and its scale. */
interface Place {
  x: number;
  y: number;
  k: number;
}

export class Camera {
  /** Told when something else may have come into sight. */
  onMove: () => void = () => undefined;
  readonly #stage: HTMLElement;
  readonly #canvas: HTMLElement;
  readonly #whole: () => boolean;
  readonly #cover: () => number;
  #restingHeight = 0;
  #free = false;
  /** The stage's, px; of a free picture. */
  #width = 0;
  #at: Place = { x: 0, y: 0, k: 1 };

  /**
   * @param stage the window onto the picture
   * @param canvas inside it, holds the `<svg>` and is moved
   * @param whole whether the widget has the screen for itself, so wheel and single finger need not scroll the page
   * @param cover where in the window what lies over the stage's lower part begins, px
   */
  constructor(stage: HTMLElement, canvas: HTMLElement, whole: () => boolean, cover: () => number) {
    this.#stage = stage;
    this.#canvas = canvas;
    this.#whole = whole;
    this.#cover = cover;
    listen(stage, { pan: (dx, dy) => this.#moveBy(dx, dy), zoom: (factor, x, y) => this.#zoom(factor, x, y) }, whole);
  }

  /** Back to rest: the whole picture in sight. */
  fit(): void {
    this.#free = false;
    this.#stage.classList.remove("mg-free");
    this.#canvas.style.transform = "";
    this.onMove();
  }

  /** Back to rest, and all of it in the window as far as it fits. */
  showWhole(): void {
    this.fit();
    this.#stage.scrollIntoView({ block: "nearest", behavior: "instant" });
  }

  /** Back to how the page shows it, however tall that is. */
  reset(): void {
    this.#stage.style.removeProperty("--mg-room");
    this.fit();
  }

  /** The stage may have another width: what was in its middle stays there. */
  resized(): void {
    const { clientWidth } = this.#stage;
    if (!this.#free || clientWidth === 0) return;
    const wider = clientWidth - this.#width;
    this.#width = clientWidth;
    if (wider !== 0) this.#moveBy(wider / 2, 0);
  }

  /** What of the picture the window shows, in the picture's coordinates; of scale 0 while there is nothing to be seen. */
  get sight(): Sight {
    const frame = this.#stage.getBoundingClientRect();
    const { x, y, k } = this.#free ? this.#at : this.#resting(frame);
    const left = Math.max(frame.left, 0) - frame.left;
    const top = Math.max(frame.top, 0) - frame.top;
    const width = Math.min(frame.right, innerWidth) - frame.left - left;
    const height = Math.min(frame.bottom, innerHeight) - frame.top - top;
    const scale = width > 0 && height > 0 ? k : 0;
    return { x: (left - x) / k, y: (top - y) / k, width: width / k, height: height / k, scale };
  }

  /** Where CSS has put the picture. */
  #resting(frame: DOMRect): Place {
    const box = this.#picture.getBoundingClientRect();
    return { x: box.left - frame.left, y: box.top - frame.top, k: box.width / this.#size.width };
  }

  /** Zoom about the middle of what is in sight. */
  zoomBy(factor: number): void {
    const { left, top, right, bottom } = this.#stage.getBoundingClientRect();
    const x = (Math.max(left, 0) + Math.min(right, innerWidth)) / 2;
    const y = (Math.max(top, 0) + Math.min(bottom, innerHeight)) / 2;
    this.#setFree();
    this.#glide(() => this.#zoom(factor, x, y));
  }

  /** Bring a point of the picture into the middle of what is in sight. */
  lookAt(x: number, y: number): void {
    const { x: left, y: top, width, height, scale } = this.sight;
    this.#moveBy((left + width / 2 - x) * scale, (top + height / 2 - y) * scale);
  }

  /** Exchange the picture; the upper middle of a part of it stays where it is on screen. */
  replace(picture: SVGSVGElement, oldPart: Element, newPart: Element): void {
    // nobody sees where anything is: it begins anew
    if (this.#stage.clientWidth === 0) this.fit();
    const before = oldPart.getBoundingClientRect();
    this.#setFree();
    this.#picture.replaceWith(picture);
    if (!this.#free) return;
    const after = newPart.getBoundingClientRect();
    this.#moveBy(middle(before) - middle(after), before.top - after.top);
    this.#useWidth();
    const lowered = this.#showTop();
    this.#grow();
    // what was toggled stays where it was on screen, as far as the page can be scrolled
    if (lowered > 0 && !this.#whole()) scrollBy({ top: lowered, behavior: "instant" });
  }

  /** Bring a part of the picture into sight: with as little movement as possible, or to the middle if it was far away. */
  reveal(part: Element): void {
    this.#glide(() => this.#bringIn(part));
  }

  #bringIn(part: Element): void {
    if (this.#free) {
      const box = part.getBoundingClientRect();
      const frame = this.#stage.getBoundingClientRect();
      const dx = shiftInto(box.left, box.right, frame.left, frame.right, MARGIN);
      // where the stage is cut it is of no use to move the picture to where nobody sees it
      const top = Math.max(frame.top, this.#whole() ? 0 : BAR);
      const bottom = Math.min(frame.bottom, innerHeight, this.#cover());
      const isRoom = bottom - top >= SMALLEST_STAGE / 2;
      const isCut = box.top < frame.top || box.bottom > frame.bottom;
      const [low, high] = isRoom ? [top, bottom] : [frame.top, frame.bottom];
      const dy = isCut ? shiftInto(box.top, box.bottom, low, high, MARGIN) : 0;
      if (dx !== 0 || dy !== 0) this.#moveBy(dx, dy);
    }
    part.scrollIntoView({ block: "nearest", inline: "nearest", behavior: "instant" });
  }

  get #picture(): SVGSVGElement {
    return this.#canvas.firstElementChild as SVGSVGElement;
  }

  get #size(): { width: number; height: number } {
    const { width, height } = this.#picture;
    return { width: width.baseVal.value, height: height.baseVal.value };
  }

  /** Take the picture out of CSS's hands without moving it. */
  #setFree(): void {
    if (this.#free) return;
    const frame = this.#stage.getBoundingClientRect();
    const { x, y, k } = this.#resting(frame);
    // nothing to take over while hidden
    if (k === 0) return;
    this.#free = true;
    this.#restingHeight = frame.height;
    this.#width = this.#stage.clientWidth;
    this.#setHeight(frame.height);
    this.#stage.classList.add("mg-free");
    this.#place({ x, y, k });
  }

  #moveBy(dx: number, dy: number): void {
    this.#setFree();
    if (!this.#free) return;
    const { x, y, k } = this.#at;
    this.#place({ x: x + dx, y: y + dy, k });
  }

  /** Zoom about a point of the window. */
  #zoom(factor: number, clientX: number, clientY: number): void {
    this.#setFree();
    if (!this.#free) return;
    const { x, y, k } = this.#at;
    const frame = this.#stage.getBoundingClientRect();
    const [px, py] = [clientX - frame.left, clientY - frame.top];
    // a picture that is smaller as a whole stays so
    const scale = Math.max(Math.min(SMALLEST, k), Math.min(LARGEST, k * factor));
    this.#place({ x: px - ((px - x) * scale) / k, y: py - ((py - y) * scale) / k, k: scale });
  }

  #place(wanted: Place): void {
    const { x, y, k } = this.#keepInSight(wanted);
    this.#at = { x, y, k };
    this.#canvas.style.transform = `translate(${x}px, ${y}px) scale(${k})`;
    this.onMove();
  }

  /** No side of the picture is cut while there is empty room on the other. */
  #useWidth(): void {
    const { x, k } = this.#at;
    const spare = this.#stage.clientWidth - this.#size.width * k;
    this.#moveBy(Math.max(Math.min(spare, 0), Math.min(Math.max(spare, 0), x)) - x, 0);
  }

  /** The picture's top is not cut while the stage could be higher; how far it was moved down for that, px. */
  #showTop(): number {
    const { y, k } = this.#at;
    const spare = (heightLimit(this.#stage) ?? this.#room) - (y + this.#size.height * k);
    const down = Math.max(0, Math.min(-y, spare));
    if (down > 0) this.#moveBy(0, down);
    return down;
  }

  /** The height that the stage may grow to, px. */
  get #room(): number {
    return Math.max(this.#restingHeight, innerHeight * WINDOW_SHARE);
  }

  /** The stage follows a picture that grows or shrinks; one larger than the window is moved inside it. */
  #grow(): void {
    const { y, k } = this.#at;
    this.#stage.style.setProperty("--mg-room", `${this.#room}px`);
    const wanted = Math.min(y + this.#size.height * k, heightLimit(this.#stage) ?? this.#room);
    this.#setHeight(Math.max(wanted, Math.min(this.#restingHeight, SMALLEST_STAGE)));
  }

  #setHeight(pixels: number): void {
    this.#stage.style.setProperty("--mg-stage", `${pixels}px`);
  }

  #keepInSight({ x, y, k }: Place): Place {
    const { width, height } = this.#size;
    const inside = (at: number, length: number, frame: number) =>
      Math.min(Math.max(at, Math.min(IN_SIGHT, frame / 2) - length * k), frame - Math.min(IN_SIGHT, frame / 2));
    const { clientWidth, clientHeight } = this.#stage;
    return { x: inside(x, width, clientWidth), y: inside(y, height, clientHeight), k };
  }

  /** Do a movement as a short glide. While one goes on nothing is where it will be: it ends before the next begins. */
  #glide(move: () => void): void {
    for (const animation of this.#canvas.getAnimations()) animation.finish();
    const from = this.#canvas.style.transform;
    move();
    const to = this.#canvas.style.transform;
    if (from !== to) glide(this.#canvas, from, to);
  }
}

/**
 * The smallest shift that brings [from, to] into [low, high], with some room around it; what is all outside comes to the
 * middle, of what is too large the beginning is to be seen.
 */
export function shiftInto(from: number, to: number, low: number, high: number, margin = 0): number {
  if (to - from > high - low) return from < low || from > (low + high) / 2 ? low - from : 0;
  if (to <= low || from >= high) return (low + high - from - to) / 2;
  const room = Math.min(margin, (high - low - (to - from)) / 2);
  if (from < low) return low + room - from;
  return to > high ? high - room - to : 0;
}

function middle(box: DOMRect): number {
  return box.left + box.width / 2;
}

/** The author's limit for the frame's height in px, if there is one. */
function heightLimit(stage: HTMLElement): number | undefined {
  const limit = Number.parseFloat(getComputedStyle(stage).maxHeight);
  return Number.isNaN(limit) ? undefined : limit;
}
