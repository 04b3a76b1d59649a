/**
 * A recording as pages carry it, reduced to a few hundred moments; `src/modeldiagrams/watching/page.py` makes it, and says
 * more of each part. A moment is one or more recorded steps, merged.
 */

export const KINDS = ["activation", "gradient", "parameter", "parameter_gradient", "update"] as const;
export type Kind = (typeof KINDS)[number];

export const STATISTICS = ["min", "max", "mean", "rms", "ratio", "zeros", "bad", "dead"] as const;
export type Statistic = (typeof STATISTICS)[number];

/** Statistics that are shares, from 0 to 1. */
export const SHARES: ReadonlySet<string> = new Set<Statistic>(["zeros", "bad", "dead"]);

/** A value at each moment; null where there is none, such as the mean of values that are not finite. */
export type Series = readonly (number | null)[];

/** How a tensor's values are distributed at each moment. */
export interface Heat {
  /** The least and the largest bin that is shown; smaller magnitudes count as zero. */
  lowest: number;
  highest: number;
  /**
   * A row of the picture each: positive values, the largest first, then zero, then negative ones, the smallest first. One
   * digit for each moment: 0 for none, 7 for a quarter of all values and more.
   */
  rows: readonly string[];
}

/** One tensor of one node over time. */
export interface Tensor {
  node: string;
  kind: Kind;
  name: string;
  /** Whether it was seen, at each moment: one character each, `1` or `0`. */
  seen: string;
  values: Partial<Record<Statistic, Series>>;
  heat?: Heat | null;
}

/** Something unusual, the most telling first. */
export interface Finding {
  step: number;
  /** Empty for the model as a whole. */
  node: string;
  /** `nonfinite`, `dead`, … */
  kind: string;
  /** Kind of the tensor, or `loss`. */
  what: string;
  text: string;
}

export interface Recording {
  name: string;
  /** The last step of each moment, in ascending order. */
  steps: readonly number[];
  loss: Series;
  tensors: readonly Tensor[];
  findings?: readonly Finding[];
  /** What was recorded and is no node of the graph. */
  strangers?: readonly string[];
  notes?: readonly string[];
}

/** The recording with its series as numbers. */
export function decoded(packed: Recording): Recording {
  const tensors = packed.tensors.map((tensor) => {
    const series = Object.entries(tensor.values).map(([name, codes]) => [name, numbers(codes, SHARES.has(name))]);
    return { ...tensor, values: Object.fromEntries(series) };
  });
  return { ...packed, tensors };
}

/** Differences of integers → numbers: shares in thousandths, or logarithms in hundredths of a power of ten and 5000. */
function numbers(differences: Series, isShare: boolean): Series {
  let code = 0;
  return differences.map((difference) => {
    if (difference === null) return null;
    code += difference;
    if (isShare) return code / 1000;
    return code === 0 ? 0 : Math.sign(code) * 10 ** ((Math.abs(code) - 5000) / 100);
  });
}
