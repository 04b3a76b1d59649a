import { expect, it } from "vitest";
import { index } from "../../src/graph/indexing.js";
import { layout } from "../../src/layout/layout.js";
import type { Shape } from "../../src/view/state.js";
import { view } from "../../src/view/view.js";
import { firstState } from "../first_state.js";
import { all } from "../fixtures.js";
import { gaps, spreads } from "../rhythm.js";
import { sketch } from "../sketch.js";
import { strippedInstance } from "../stripped_viz.js";
import { NO_FAULTS, validate } from "../validate.js";

/**
 * Boxes of one container that follow each other with nothing between them are equally far apart. Each layer is a box of its
 * own here: two folded boxes next to a taller panel still have the slack between them.
 */

const viz = await strippedInstance();

/** A block beside its shortcut, and one of two branches that is much longer if its module is open. */
const models = {
  ...all,
  shortcut: sketch(
    "x > conv1 > norm1 > relu > conv2 > norm2\nx > shortcut/conv > shortcut/norm > add > y\nnorm2 > add",
    {
      shortcut: "Shortcut",
    },
  ),
  branches: sketch(
    [
      "x > q > norm/pow > norm/mean > norm/rsqrt > norm/mul > up > split",
      "x > kv > down > expand > parts > attend > y",
      "split > attend",
    ].join("\n"),
    { norm: "Norm" },
  ),
};
/** Boxes of one row are in line at their middles, though one may have a line of text more. */
const IN_ROW = 6;
/** The blocks of a U are level with each other instead. */
const shapes: Shape[] = ["columns", "streams", "fans", "dense"];

it.each(Object.entries(models))("has an even rhythm: %s", (_, graph) => {
  const traced = index(graph);
  const states = [null, 1, 2, 99].map((depth) => firstState(traced, { depth, shapes, layers: false }));
  for (const state of states) {
    const made = layout(view(traced, state), viz);
    expect(validate(made)).toMatchObject(NO_FAULTS);
    expect(Math.max(0, ...spreads(gaps(made)))).toBeLessThanOrEqual(IN_ROW);
  }
});
