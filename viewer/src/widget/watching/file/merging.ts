/** Many moments → few, merged exactly, as `src/modeldiagrams/watching/reduction.py` does it. */
import type { Key, Row } from "./decoder.js";
import { merged } from "./histogram.js";

export interface Moment {
  /** The first and the last of its steps. */
  step: number;
  last: number;
  /** By the text of the key. */
  rows: Map<string, { key: Key; row: Row }>;
}

/** Moments that come one after the other: at most so many, each merged from equally many; the last from fewer. */
export class Merging {
  readonly #most: number;
  #size = 1;
  #whole: Moment[] = [];
  #last: Moment[] = [];

  /** @param most an even number */
  constructor(most: number) {
    this.#most = most;
  }

  add(moment: Moment): void {
    this.#last.push(moment);
    if (this.#last.length === this.#size) {
      this.#whole.push(mergedMoment(this.#last));
      this.#last = [];
    }
    if (this.#whole.length === this.#most) {
      this.#size *= 2;
      const whole = this.#whole;
      this.#whole = whole
        .filter((_, i) => i % 2 === 0)
        .map((one, i) => mergedMoment([one, ...whole.slice(2 * i + 1, 2 * i + 2)]));
    }
  }

  moments(): Moment[] {
    return this.#last.length === 0 ? this.#whole : [...this.#whole, mergedMoment(this.#last)];
  }
}

function mergedMoment(moments: readonly Moment[]): Moment {
  const rows: Moment["rows"] = new Map();
  const [first, last] = [moments[0], moments.at(-1)];
  for (const [text, { key }] of moments.flatMap((moment) => [...moment.rows])) {
    if (rows.has(text)) continue;
    const own = moments.flatMap((moment) => moment.rows.get(text)?.row ?? []);
    rows.set(text, { key, row: mergedRow(own) });
  }
  return { step: first?.step ?? 0, last: last?.last ?? 0, rows };
}

function mergedRow(rows: readonly Row[]): Row {
  const sum = (value: (row: Row) => number) => rows.reduce((total, row) => total + value(row), 0);
  const count = sum((row) => row.count);
  const ratios = rows.map(({ ratio }) => ratio);
  return {
    count,
    zeros: sum((row) => row.zeros),
    bad: sum((row) => row.bad),
    min: extreme(
      Math.min,
      rows.map((row) => row.min),
    ),
    max: extreme(
      Math.max,
      rows.map((row) => row.max),
    ),
    mean: sum((row) => row.mean * row.count) / Math.max(count, 1),
    norm: quadraticMean(rows, (row) => row.norm),
    dead: sum((row) => row.dead),
    units: sum((row) => row.units),
    ratio: ratios.includes(undefined) ? undefined : quadraticMean(rows, (row) => row.ratio ?? 0),
    moments: sum((row) => row.moments),
    histogram: merged(rows.map((row) => row.histogram)),
  };
}

function extreme(of: (...values: number[]) => number, values: readonly number[]): number {
  const numbers = values.filter((value) => !Number.isNaN(value));
  return numbers.length === 0 ? Number.NaN : of(...numbers);
}

function quadraticMean(rows: readonly Row[], value: (row: Row) => number): number {
  const largest = Math.max(0, ...rows.map((row) => Math.abs(value(row))));
  if (largest === 0 || !Number.isFinite(largest)) return largest;
  let [squares, weights] = [0, 0];
  for (const row of rows) {
    squares += (value(row) / largest) ** 2 * row.moments; // no overflow on the way
    weights += row.moments;
  }
  return largest * Math.sqrt(squares / weights);
}
