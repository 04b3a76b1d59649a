/** The scale of an author's numbers: bars and tints from the least to the largest, or both ways from 0. */
import { scaleThreshold } from "d3-scale";
import type { Cost } from "../../session/costs.js";
import { type NumberLens, type Numbers, writtenNumber } from "../../session/numbers.js";
import { words } from "../../shared/lens_strings.js";
import { fill } from "../../shared/strings.js";
import type { CostReading } from "./scale.js";

/** Tints from the least number on; negative ones have a hue of their own. */
const ONE_WAY = [1, 2, 3, 4, 5];
const BOTH_WAYS = [-4, -2, 0, 2, 4];
/** Names in a sentence. */
const MOST = 3;

export class NumberScale {
  readonly isShare = false;
  readonly lens: NumberLens;
  readonly #numbers: Numbers;
  /** The ends of the scale; undefined if there is nothing to show. */
  readonly #ends: readonly [number, number] | undefined;

  constructor(lens: NumberLens, numbers: Numbers) {
    this.lens = lens;
    this.#numbers = numbers;
    this.#ends = endsOf(numbers);
  }

  read({ numbers }: Pick<Cost, "numbers">): CostReading {
    const value = numbers[Number(this.lens.slice("numbers".length))];
    if (value === undefined) return { amount: "–", share: "", length: undefined, step: undefined };
    const amount = writtenNumber(this.#numbers, value);
    const at = this.#place(value);
    if (at === undefined) return { amount, share: "", length: undefined, step: undefined };
    const step = scaleThreshold(this.#bounds, this.#steps)(value);
    if (!this.#isDiverging) return { amount, share: "", length: at, step };
    return { amount, share: "", start: Math.min(at, 0.5), length: Math.abs(at - 0.5), step };
  }

  get entries(): { step: number; text: string }[] {
    if (this.#ends === undefined) return [];
    const written = (value: number) => writtenNumber({ ...this.#numbers, unit: "" }, value);
    const bounds = this.#bounds.map(written);
    const [least] = bounds;
    const first = least === undefined ? written(this.#ends[0]) : fill(words.lessThan, least);
    const texts = [first, ...bounds.map((bound) => fill(words.atLeast, bound))];
    return this.#steps.map((step, i) => ({ step, text: texts[i] ?? "" }));
  }

  get title(): string {
    const { name, unit = "" } = this.#numbers;
    return unit === "" ? name : `${name} (${unit})`;
  }

  /** What the picture leaves open. */
  get hints(): string[] {
    const { named = 0, unnamed = 0, missing = 0, unmatched = [], unmatched_count: lost = 0, scale } = this.#numbers;
    const shown = unmatched.slice(0, MOST).join(", ") + (lost > MOST ? ", …" : "");
    const off = scale === "log" ? Object.values(this.#numbers.values).filter((value) => value <= 0).length : 0;
    return [
      this.#isDiverging ? words.furthestInside : words.largestInside,
      fill(words.haveNumber, named, named + unnamed),
      ...(lost > 0 ? [fill(words.nameNoNode, lost, shown)] : []),
      ...(missing > 0 ? [fill(words.notNumbers, missing)] : []),
      ...(off > 0 ? [fill(words.offScale, off)] : []),
    ];
  }

  get #isDiverging(): boolean {
    return this.#numbers.scale === "diverging";
  }

  get #steps(): number[] {
    if (this.#isOneNumber) return ONE_WAY.slice(-1);
    return this.#isDiverging ? BOTH_WAYS : ONE_WAY;
  }

  get #isOneNumber(): boolean {
    return this.#ends !== undefined && this.#ends[0] === this.#ends[1];
  }

  /** Position on the scale, from 0 to 1. */
  #place(value: number): number | undefined {
    if (this.#ends === undefined) return undefined;
    // halves, because the difference of two finite numbers may be infinite
    const half = (number: number) => this.#straight(number) / 2;
    const [low, high, at] = [half(this.#ends[0]), half(this.#ends[1]), half(value)];
    return Number.isFinite(at) ? (high === low ? 1 : (at - low) / (high - low)) : undefined;
  }

  /** Four numbers between equal parts of the scale; none if both ends are the same. */
  get #bounds(): number[] {
    if (this.#ends === undefined || this.#isOneNumber) return [];
    const [low, high] = this.#ends.map((end) => this.#straight(end)) as [number, number];
    const isLog = this.#numbers.scale === "log";
    return [0.2, 0.4, 0.6, 0.8].map((part) => {
      const at = low * (1 - part) + high * part;
      return isLog ? Math.exp(at) : at;
    });
  }

  #straight(value: number): number {
    if (this.#numbers.scale !== "log") return value;
    return value > 0 ? Math.log(value) : Number.NaN;
  }
}

/** Linear scales begin at 0. */
function endsOf({ values, scale }: Numbers): [number, number] | undefined {
  const all = Object.values(values).filter((value) => scale !== "log" || value > 0);
  if (all.length === 0) return undefined;
  // not spread as arguments: there may be 100,000
  const [low, high] = [all.reduce((a, b) => Math.min(a, b)), all.reduce((a, b) => Math.max(a, b))];
  if (scale === "log") return [low, high];
  const most = Math.max(Math.abs(low), Math.abs(high)) || 1;
  return scale === "diverging" ? [-most, most] : [Math.min(0, low), low < 0 ? Math.max(0, high) : high || 1];
}
