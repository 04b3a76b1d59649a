/** Numbers that sizes can be; `tests/ir/test_viewer_sizes.py` compares what is refused with Python. */
import { expect, it } from "vitest";
import type { Size } from "../../generated/format.js";
import { nextSize, readSizes, refusal, sizesText, snapped } from "../../src/session/chosen_sizes.js";

const SIZES: readonly Size[] = [
  { size: 16 },
  { size: 16, at_least: 2, at_most: 512 },
  { size: 224, multiple_of: 32, at_least: 64 },
  { size: 9, multiple_of: 4, remainder: 1, at_least: 5, at_most: 30 },
];

it.each(SIZES)("steps from any number lead to numbers that the model takes: %j", (size) => {
  const isTaken = (number: number) => refusal({ name: "T", size }, String(number)) === "";
  const all = Array.from({ length: 700 }, (_, i) => i).filter(isTaken);
  const [least, most] = [all[0], all.at(-1)];
  for (let number = 0; number < 600; number += 1) {
    const [up, down, near] = [nextSize(size, number, true), nextSize(size, number, false), snapped(size, number)];
    expect([up, down, near].map(isTaken)).toEqual([true, true, true]);
    expect(up).toBe(all.find((one) => one > number) ?? most);
    expect(down).toBe(all.filter((one) => one < number).at(-1) ?? least);
    expect(near).toBe(all.filter((one) => one <= number).at(-1) ?? least);
  }
});

it("reads the sizes of links, without those that are refused or unknown", () => {
  const named = { sizes: { B: { size: 2 }, T: { size: 16, at_most: 512 }, C: { size: 3, fixed: "weights" } } };
  const text = sizesText(new Map([...Object.entries({ B: 4, T: 64 })]));
  expect(readSizes(named, text)).toEqual({ sizes: new Map(Object.entries({ B: 4, T: 64 })), refused: [] });
  expect(readSizes(named, "T:9999/B:3/C:9/Z:1/B")).toEqual({
    sizes: new Map([["B", 3]]),
    refused: [
      "T = 9999: expressions are checked up to 512 only; trace the model at a larger size",
      "B = : expected a whole number such as 2",
    ],
  });
});
