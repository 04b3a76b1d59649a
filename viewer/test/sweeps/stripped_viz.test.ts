/** Browsers get viz-js without the functions that layout does not call: nothing misses them. */

import { instance } from "@viz-js/viz";
import { expect, inject, it } from "vitest";
import { rankByDot } from "../../src/layout/layering/dot.js";
import { atOnce } from "../../src/shared/slices.js";
import { randomPlan } from "../random_plans.js";
import { strippedInstance } from "../stripped_viz.js";

it("ranks plans that were not recorded as the whole does", async () => {
  const [whole, viz] = [await instance(), await strippedInstance()];
  for (let seed = 100_000; seed < (inject("long") ? 100_300 : 100_080); seed += 1) {
    const plan = randomPlan(seed);
    expect(atOnce(rankByDot(plan, viz)), `seed ${seed}`).toEqual(atOnce(rankByDot(plan, whole)));
  }
});

it("traps where another engine than dot is asked for", async () => {
  const viz = await strippedInstance();
  expect(() => viz.render("graph { a -- b }", { engine: "neato" })).toThrow(WebAssembly.RuntimeError);
});
