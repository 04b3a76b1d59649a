/** Legends and bars of an author's numbers, also of unusual ones. */
import { expect, it } from "vitest";
import type { Numbers } from "../../../src/session/numbers.js";
import { NumberScale } from "../../../src/widget/lenses/number_scale.js";

type Case = Pick<Numbers, "scale" | "format"> & { legend: string; lengths: (number | undefined)[] };

it.each<[number[], Case]>([
  [[-41.2, -60, -38], { legend: "< -48, ≥ -36, ≥ -24, ≥ -12", lengths: [18.8 / 60, 0, 22 / 60] }],
  [[-10, 10], { legend: "< -6, ≥ -2, ≥ 2, ≥ 6", lengths: [0, 1] }],
  [[0, 0], { legend: "< 0.2, ≥ 0.4, ≥ 0.6, ≥ 0.8", lengths: [0, 0] }],
  [[5], { legend: "< 1, ≥ 2, ≥ 3, ≥ 4", lengths: [1] }],
  [[5, 0], { scale: "log", legend: "5", lengths: [1, undefined] }],
  [[1, 1e5], { scale: "log", format: ".0f", legend: "< 10, ≥ 100, ≥ 1000, ≥ 10000", lengths: [0, 1] }],
  [[0], { scale: "diverging", legend: "< -0.6, ≥ -0.2, ≥ 0.2, ≥ 0.6", lengths: [0] }],
  [[-1e308, 1e308], { format: ".0e", legend: "< -6e+307, ≥ -2e+307, ≥ 2e+307, ≥ 6e+307", lengths: [0, 1] }],
])("%j", (all, { legend, lengths, ...said }) => {
  const values = Object.fromEntries(all.map((value, i) => [String(i), value]));
  const scale = new NumberScale("numbers0", { name: "n", values, ...said });
  const texts = scale.entries.map(({ text }) => text);
  // the second entry repeats the bound of the first
  expect(texts.filter((_, i) => i !== 1).join(", ")).toBe(legend);
  const read = all.map((value) => scale.read({ numbers: [value] }));
  for (const [i, length] of lengths.entries()) {
    if (length === undefined) expect(read[i]?.length).toBeUndefined();
    else expect(read[i]?.length).toBeCloseTo(length);
  }
  const steps = scale.entries.map(({ step }) => step);
  for (const { length, step } of read) if (length !== undefined) expect(steps).toContain(step);
});
