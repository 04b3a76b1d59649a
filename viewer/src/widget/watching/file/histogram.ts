/** Histograms of recordings: bins are the leading bits of a float32, so they become coarser, and one, by addition. */

/** Bins between a number and its double, as recorded, and as pages show them. */
export const FINEST = 4;
export const SHOWN = 2;
export const INFINITE = 96 * FINEST + 1;

/** Bin → number of values. */
export type Counts = Map<number, number>;

export interface Histogram {
  perOctave: number;
  counts: Counts;
}

/** Runs of neighbouring bins: how many are skipped, how many follow, the number of values of each. */
export function countsOf(numbers: readonly number[]): Counts {
  const counts: Counts = new Map();
  let bin = -INFINITE;
  for (let at = 0; at + 1 < numbers.length; ) {
    bin += numbers[at] ?? 0;
    const end = at + 2 + (numbers[at + 1] ?? 0);
    for (at += 2; at < end; at++) {
      counts.set(bin, numbers[at] ?? 0);
      bin += 1;
    }
  }
  return counts;
}

/** All values together, in the bins of pages, or in wider ones where some have only those; in the order of the bins. */
export function merged(histograms: readonly Histogram[]): Histogram {
  const widest = Math.min(SHOWN, ...histograms.map(({ perOctave }) => perOctave));
  const sums: Counts = new Map();
  for (const { counts, perOctave } of histograms) {
    for (const [bin, n] of counts) {
      const coarse = coarserBin(bin, perOctave / widest);
      sums.set(coarse, (sums.get(coarse) ?? 0) + n);
    }
  }
  return { perOctave: widest, counts: new Map([...sums].sort(([one], [other]) => one - other)) };
}

function coarserBin(bin: number, factor: number): number {
  if (bin === 0 || Math.abs(bin) >= INFINITE) return bin;
  return Math.sign(bin) * (Math.floor((Math.abs(bin) - 1) / factor) + 1);
}
