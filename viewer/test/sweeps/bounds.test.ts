/** Pictures of any model fit a text column and a few screens, and show everything when opened. Reads only the SVG. */
import { describe, expect, it } from "vitest";
import { draw } from "../../src/draw/draw.js";
import { pictureStylesheet } from "../../src/draw/stylesheet.js";
import type { GraphData } from "../../src/graph/graph.js";
import { index } from "../../src/graph/indexing.js";
import { layout, layoutCache } from "../../src/layout/layout.js";
import { READABLE_SCALE } from "../../src/shared/legible.js";
import { initialState } from "../../src/view/expand/initial_state.js";
import type { ViewOptions } from "../../src/view/options.js";
import type { State } from "../../src/view/state.js";
import { view } from "../../src/view/view.js";
import { type Nasty, nasty } from "../nasty.js";
import { strippedInstance } from "../stripped_viz.js";

const viz = await strippedInstance();

/** The text column of most themes, px; in narrower ones, pictures scroll rather than shrink further. */
const COLUMN = 666;
const SMALLEST_FONT = Math.min(
  ...[...pictureStylesheet().matchAll(/font-size: (\d+)px/g)].map(([, size]) => Number(size)),
);

const NASTY: Record<string, Nasty> = {
  "a long chain": { ops: 300, reads: "chain" },
  "thousands of ops": { ops: 3000, reads: "chain", arity: 2 },
  "many branches": { ops: 100, reads: "input", joins: true },
  "many branches with long names": { ops: 50, reads: "input", joins: true, letters: 60 },
  "a tangle": { ops: 120, reads: "any", arity: 3 },
  "a large tangle": { ops: 1000, reads: "any", arity: 2 },
  "many inputs": { ops: 40, reads: "any", arity: 2, inputs: 200 },
  "inputs with long names": { ops: 20, reads: "input", inputs: 12, joins: true, letters: 80 },
  "many outputs": { ops: 60, reads: "any", outputs: 50, letters: 30 },
  "many weights": { ops: 80, reads: "any", arity: 2, weights: 80, letters: 30 },
  "many modules": { ops: 600, reads: "chain", modules: 5, letters: 20 },
  "modules side by side": { ops: 300, reads: "input", modules: 6, joins: true, letters: 40 },
  "a few of everything": {
    ops: 90,
    reads: "any",
    arity: 2,
    inputs: 8,
    outputs: 8,
    weights: 8,
    modules: 12,
    letters: 25,
  },
};

function drawn(
  graph: GraphData,
  options: ViewOptions = {},
): { svg: string; state: State; draws: (state: State) => string } {
  const traced = index(graph);
  const cache = layoutCache();
  const laidOut = (state: State) => layout(view(traced, state), viz, cache);
  const state = initialState(traced, options, laidOut);
  const draws = (other: State) => draw(laidOut(other));
  return { svg: draws(state), state, draws };
}

function size(svg: string): { width: number; height: number } {
  const side = (name: string) => Number(new RegExp(` ${name}="([\\d.]+)"`).exec(svg)?.[1]);
  return { width: side("width"), height: side("height") };
}

const CLOSED = ' aria-expanded="false"';

/** Ids of nodes, as written in the picture. */
function ids(svg: string, part = ""): string[] {
  return [...svg.matchAll(new RegExp(`data-id="([^"]*)"${part}`, "g"))].map(([, id = ""]) =>
    id.replaceAll("&amp;", "&"),
  );
}

const LEFT_TO_RIGHT = ["a long chain", "many branches", "a tangle", "many modules"];

describe.each(Object.entries(NASTY))("%s", (name, shape) => {
  it("fits a page", () => {
    for (const direction of LEFT_TO_RIGHT.includes(name) ? (["TB", "LR"] as const) : (["TB"] as const)) {
      const { width, height } = size(drawn(nasty(1, shape), { direction }).svg);
      const scale = Math.min(1, COLUMN / width);
      expect(scale * SMALLEST_FONT).toBeGreaterThanOrEqual(9);
      expect(READABLE_SCALE * SMALLEST_FONT).toBeGreaterThanOrEqual(9);
      expect(height).toBeLessThanOrEqual(2400);
    }
  });

  it("shows everything when opened", () => {
    const graph = nasty(2, { ...shape, ops: Math.min(shape.ops, 150) });
    const { svg, state, draws } = drawn(graph);
    let open = state;
    let last = svg;
    for (let closed = ids(svg, CLOSED); closed.length > 0; closed = ids(last, CLOSED)) {
      open = { ...open, expanded: [...open.expanded, ...closed].sort() };
      last = draws(open);
    }
    const shown = new Set(ids(last));
    const leaves = graph.nodes.filter(({ kind }) => kind !== "module").map(({ id }) => id);
    expect(leaves.filter((id) => !shown.has(id))).toEqual([]);
  });
});
