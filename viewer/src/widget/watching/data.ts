/**
 * A recording as stored in pages, reduced to a few hundred moments. Its types come from the published schema, which
 * `src/modeldiagrams/watching/page.py` makes and `docs/pages/reference/recording.md` explains. A moment is one or several
 * merged steps.
 */
import type { PageRecording, TensorSeries } from "../../../generated/recording.js";

export type { Finding, Heat } from "../../../generated/recording.js";

export type Kind = TensorSeries["kind"];
export const KINDS = [
  "activation",
  "gradient",
  "parameter",
  "parameter_gradient",
  "update",
] as const satisfies readonly Kind[];

export const STATISTICS = ["min", "max", "mean", "rms", "ratio", "zeros", "bad", "dead"] as const;
export type Statistic = (typeof STATISTICS)[number];

/** Statistics that are shares from 0 to 1. */
export const SHARES: ReadonlySet<string> = new Set<Statistic>(["zeros", "bad", "dead"]);

/** A value at each moment; null if there is none, such as the mean of values that aren't finite. */
export type Series = readonly (number | null)[];

/** One tensor of one node over time. */
export interface Tensor extends Omit<TensorSeries, "values"> {
  values: Partial<Record<Statistic, Series>>;
}

export interface Recording extends Omit<PageRecording, "format" | "version" | "tensors"> {
  tensors: readonly Tensor[];
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
