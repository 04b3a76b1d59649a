/** The scales of lenses: lengths of bars, five tints of boxes, and the text of amounts. */
import { scaleThreshold } from "d3-scale";
import { amountOf, type BoxLens, type Cost, type CostLens } from "../../session/costs.js";
import { formatBytes, formatCount, formatFlops, formatNumber, formatTime, percent } from "../../shared/amounts.js";
import { words } from "../../shared/lens_strings.js";
import { fill, strings } from "../../shared/strings.js";

/** Thresholds of tints: shares of the whole, and FLOPs per byte. Equal for all models, so that pictures are comparable. */
const SHARES = [0.01, 0.05, 0.2, 0.5];
const INTENSITIES = [1, 5, 20, 100];
/** FLOPs per byte of the longest bar: more than any machine needs to keep its arithmetic units busy. */
const MOST = 1000;

export interface CostReading {
  /** `1.2 GFLOPs`; `–` if it couldn't be counted. */
  amount: string;
  /** `12 %`; empty if amounts don't add up. */
  share: string;
  /** Length of the bar, from 0 to 1, and where it begins; undefined without an amount. */
  length: number | undefined;
  start?: number;
  /** Tint, from 1; 0 for none, and below 0 on the other side of 0. Undefined without a number. */
  step: number | undefined;
}

export class LensScale {
  readonly lens: CostLens;
  readonly #whole: number;
  readonly #sign: string;

  constructor(lens: CostLens, whole: Cost) {
    this.lens = lens;
    this.#sign = signOf(whole, lens);
    this.#whole = amountOf(whole, lens) ?? 0;
  }

  get isShare(): boolean {
    return this.lens !== "intensity";
  }

  read(cost: Cost): CostReading {
    const value = amountOf(cost, this.lens);
    if (value === undefined) return { amount: "–", share: "", length: undefined, step: 0 };
    const amount = signOf(cost, this.lens) + written(value, this.lens);
    if (!this.isShare) return { amount, share: "", length: logarithmic(value), step: stepOf(INTENSITIES, value) };
    const share = this.#whole === 0 ? 0 : value / this.#whole;
    return { amount, share: percent(share), length: Math.min(1, share), step: stepOf(SHARES, share) };
  }

  /** What the picture leaves open. */
  get hints(): string[] {
    return [this.isShare ? words.lensHint : words.intensityHint, ...(this.lens === "time" ? [words.timeHint] : [])];
  }

  /** The tints from the least on, and their meanings. */
  get entries(): { step: number; text: string }[] {
    const texts = this.isShare ? SHARES.map(percent) : INTENSITIES.map(String);
    const bounds = texts.map((text) => fill(words.atLeast, text));
    return [fill(words.lessThan, texts[0] ?? ""), ...bounds].map((text, i) => ({ step: i + 1, text }));
  }

  get title(): string {
    return fill(words.lensOf, strings[this.lens], this.#sign + written(this.#whole, this.lens));
  }
}

/** Before an amount that depends on assumed sizes; a ratio of two is no bound. */
export function signOf({ signs }: Cost, lens: BoxLens): string {
  if (lens === "intensity") return signs.flops || signs.memory ? "≈ " : "";
  return lens === "flops" || lens === "memory" ? (signs[lens] ?? "") : "";
}

function stepOf(bounds: readonly number[], value: number): number {
  const steps = bounds.length + 1;
  const scale = scaleThreshold(
    bounds,
    Array.from({ length: steps }, (_, i) => i + 1),
  );
  return value > 0 ? scale(value) : 0;
}

function logarithmic(intensity: number): number {
  return Math.min(1, Math.log1p(intensity) / Math.log1p(MOST));
}

/** `1.2 GFLOPs`, `3.4 MiB`, `12M`, `5.2 FLOP/B`, `1.5 ms`. */
export function written(value: number, lens: CostLens): string {
  if (lens === "memory") return formatBytes(value);
  if (lens === "time") return formatTime(value);
  if (lens === "parameters") return formatCount(value);
  if (lens === "intensity") return `${formatNumber(value)} ${words.unitIntensity}`;
  return formatFlops(value, words.unitFlops);
}
