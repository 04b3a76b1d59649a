/** Branches stand in the order in which the model makes them, the first at the left, and no edge crosses for it. */
import { expect, inject, it } from "vitest";
import type { GraphData } from "../../src/graph/graph.js";
import { index } from "../../src/graph/indexing.js";
import { layout, layoutCache } from "../../src/layout/layout.js";
import { view } from "../../src/view/view.js";
import { firstState } from "../first_state.js";
import { all } from "../fixtures.js";
import { forksOf } from "../forks.js";
import { sketch } from "../sketch.js";
import { strippedInstance } from "../stripped_viz.js";
import { validate } from "../validate.js";

const viz = await strippedInstance();
/** At first, and with all open. */
const DEPTHS = [null, 99];
/** Of all forks; in others an edge would have to cross. */
const LEAST_SHARE = 0.6;

/** What joins the trunk of such a block has always stood at its left. */
const gated = sketch("x > gate > silu\nx > up\nsilu > mul > down > y\nup > mul");
/** Positions come from the left, and keep their side. */
const rotated = sketch(
  ["x > m.q/linear", "x > m.k/linear", "x > m.v/linear", "cos > m/rope", "m.q/linear > m/rope > m/sdpa > y"]
    .concat(["m.k/linear > m/rope", "m.v/linear > m/sdpa"])
    .join("\n"),
);

it("stand as in the source", () => {
  const traced = Object.values(inject("graphs")).map((text): GraphData => JSON.parse(text));
  const sum = { all: 0, inOrder: 0 };
  for (const graph of [gated, rotated, ...Object.values(all), ...traced].map((one) => index(one))) {
    for (const depth of DEPTHS) {
      const state = firstState(graph, depth === null ? {} : { depth }, viz);
      const count = forksOf(layout(view(graph, state), viz, layoutCache()));
      sum.all += count.all;
      sum.inOrder += count.inOrder;
    }
  }
  expect(sum.all).toBeGreaterThan(4);
  expect(sum.inOrder / sum.all).toBeGreaterThanOrEqual(LEAST_SHARE);
});

it.each([
  ["a gate", gated],
  ["an attention", rotated],
])("of %s have no crossing", (_, graph) => {
  const shown = layout(view(index(graph), { expanded: ["m"], unrolled: [], direction: "TB" }), viz);
  const { inOrder, all: forks } = forksOf(shown);
  expect(inOrder).toBe(forks);
  expect(validate(shown).crossings).toBe(0);
});
