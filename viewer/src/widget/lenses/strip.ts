/** The memory over the pass: a strip below the picture with a slider, which lights the running node. */
import type { MemoryCurve } from "../../session/memory.js";
import { formatBytes } from "../../shared/amounts.js";
import { words } from "../../shared/lens_strings.js";
import { fill } from "../../shared/strings.js";
import { box, button, make, svg } from "../controls/dom.js";

/** Room for the slider's thumb at both ends, as in slider.css, px. */
const THUMB = 8;

export class MemoryStrip {
  readonly element: HTMLElement;
  readonly #slider = make("input", "mg-curve-slider mg-memory-slider");
  readonly #track = svg("svg", { preserveAspectRatio: "none", "aria-hidden": "true" });
  readonly #told = make("span", "mg-memory-told");
  readonly #peak = button("", () => this.#goToPeak());
  readonly #mark = box("mg-memory-peak");
  readonly #marker = box("mg-memory-now");
  readonly #onMove: (op: string) => void;
  readonly #onPeak: (op: string) => void;
  #curve: MemoryCurve | undefined;

  /** @param onMove called with the chosen op @param onPeak called when the reader wants to see the peak */
  constructor(onMove: (op: string) => void, onPeak: (op: string) => void) {
    this.#onMove = onMove;
    this.#onPeak = onPeak;
    this.#slider.type = "range";
    this.#slider.min = "0";
    this.#slider.ariaLabel = words.memoryOverPass;
    this.#slider.addEventListener("input", () => this.#tell(this.#position));
    this.#peak.classList.add("mg-lens-button");
    const slide = box("mg-memory", this.#slider);
    slide.prepend(this.#track, this.#mark, this.#marker);
    slide.addEventListener("pointermove", ({ clientX }) => this.#tell(this.#at(clientX)));
    slide.addEventListener("pointerleave", () => this.#tell(this.#position));
    const texts = box("mg-memory-texts", this.#peak, this.#told, make("span", "mg-lens-hint", words.memoryHint));
    this.element = box("mg-memory-strip", slide, texts);
    this.element.role = "region";
    this.element.ariaLabel = words.memoryOverPass;
    this.element.hidden = true;
  }

  /** Show a curve, first at its peak. */
  show(curve: MemoryCurve): void {
    if (curve !== this.#curve) {
      this.#curve = curve;
      this.#slider.max = String(curve.ops.length - 1);
      this.#slider.value = String(curve.peak);
      this.#peak.textContent = fill(
        words.peak,
        curve.sign + formatBytes(curve.alive[curve.peak] ?? 0),
        curve.ops[curve.peak] ?? "",
      );
      this.#draw(curve);
      this.#place(this.#mark, curve.peak);
    }
    this.#tell(this.#position);
  }

  get #position(): number {
    return Number(this.#slider.value);
  }

  /** The op below a point of the window. */
  #at(clientX: number): number {
    const { left, width } = this.#slider.getBoundingClientRect();
    const last = (this.#curve?.ops.length ?? 1) - 1;
    const share = (clientX - left - THUMB) / Math.max(1, width - 2 * THUMB);
    return Math.round(Math.min(1, Math.max(0, share)) * last);
  }

  #tell(at: number): void {
    const curve = this.#curve;
    const op = curve?.ops[at];
    if (curve === undefined || op === undefined) return;
    const text = fill(words.aliveAt, at + 1, curve.ops.length, op, curve.sign + formatBytes(curve.alive[at] ?? 0));
    this.#told.textContent = text;
    if (at === this.#position) this.#slider.ariaValueText = text;
    this.#place(this.#marker, at);
    this.#onMove(op);
  }

  #goToPeak(): void {
    const { ops = [], peak = 0 } = this.#curve ?? {};
    this.#slider.value = String(peak);
    this.#tell(peak);
    this.#onPeak(ops[peak] ?? "");
  }

  #place(mark: HTMLElement, at: number): void {
    const last = Math.max(1, (this.#curve?.ops.length ?? 1) - 1);
    const share = at / last;
    mark.style.left = `calc(${THUMB}px + ${share} * (100% - ${2 * THUMB}px))`;
  }

  /** One step per op, as high as the live memory; the browser stretches it. */
  #draw({ alive, peak }: MemoryCurve): void {
    const most = alive[peak] || 1;
    const last = Math.max(1, alive.length - 1);
    this.#track.setAttribute("viewBox", `0 0 ${last} 1`);
    const steps = alive.map((bytes, at) => {
      const height = (1 - bytes / most).toFixed(4);
      return `L${Math.max(0, at - 0.5)} ${height}L${Math.min(last, at + 0.5)} ${height}`;
    });
    this.#track.replaceChildren(svg("path", { d: `M0 1${steps.join("")}L${last} 1z` }));
  }
}
