/** Differences of random graphs. */
import { expect, it } from "vitest";
import { differenceOf } from "../../src/diff/difference.js";
import { nasty } from "../nasty.js";

const SHAPE = { ops: 60, reads: "any", arity: 2, joins: true, inputs: 2, outputs: 2, weights: 5, modules: 7 } as const;

it.each(Array.from({ length: 12 }, (_, seed) => seed))("compares any graphs, the same both ways round: %i", (seed) => {
  const [one, other] = [nasty(seed, SHAPE), nasty(seed + 1, SHAPE)].map((graph) => JSON.stringify(graph));
  expect(differenceOf(one as string, one as string).changes).toEqual([]);
  const [there, back] = [differenceOf(one as string, other as string), differenceOf(other as string, one as string)];
  expect(back.changes.map(({ count }) => count)).toEqual(there.changes.map(({ count }) => count));
  expect(JSON.stringify(differenceOf(one as string, other as string))).toBe(JSON.stringify(there));
});
