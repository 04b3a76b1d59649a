/** Random graphs and states, with modules in both directions, have no overlaps. */
import { expect, inject, it } from "vitest";
import type { GraphData } from "../../src/graph/graph.js";
import { index } from "../../src/graph/indexing.js";
import { layout } from "../../src/layout/layout.js";
import type { State } from "../../src/view/state.js";
import { view } from "../../src/view/view.js";
import { dice } from "../random_plans.js";
import { sketch } from "../sketch.js";
import { strippedInstance } from "../stripped_viz.js";
import { NO_FAULTS, validate } from "../validate.js";

const viz = await strippedInstance();
/** Ten seeds, and one that once had overlaps. */
const SEEDS = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 182];
const STATES = 5;
/** Of the ten graphs that never had any, every run looks at some states, and `make zoo` at all. */
const statesOf = (seed: number) => (seed < 10 && !inject("long") ? 2 : STATES);

const OPS = ["linear", "relu", "add", "mul", "cat", "conv2d"];
const CLASSES = ["Block", "BlockWithQuiteALongName", "M"];

/** Nested blocks of ops that mostly read the most recent tensors. */
function randomGraph(seed: number): GraphData {
  const roll = dice(seed);
  const classes: Record<string, string> = {};
  const made = ["x", "mask"];
  const lines: string[] = [];
  const addOp = (path: string, own: string[]) => {
    const op = `${path}/${OPS[roll(OPS.length)]}'${lines.length}`;
    for (let reads = /add|mul|cat/.test(op) ? 2 + roll(2) : 1; reads > 0; reads -= 1) {
      const pool = roll(4) > 0 ? own.slice(-4) : made;
      lines.push(`${pool[roll(pool.length)]} > ${op}`);
    }
    own.push(op);
    made.push(op);
  };
  const fill = (path: string, depth: number) => {
    const own = made.slice(-1);
    for (let left = 2 + roll(9 - depth); left > 0; left -= 1) {
      const inner = `${path}${path && "."}m${lines.length}`;
      if (depth === 3 || roll(5) > 1) addOp(path, own);
      else {
        classes[inner] = CLASSES[roll(CLASSES.length)] ?? "";
        fill(inner, depth + 1);
      }
    }
  };
  fill("", 0);
  const graph = sketch([...lines, `${made[made.length - 1]} > y`].join("\n"), classes);
  for (const spec of Object.values(graph.tensors)) spec.shape = roll(2) > 0 ? [1, 8] : [1, 16, 768, 1024];
  return graph;
}

function randomState(graph: GraphData, seed: number): State {
  const roll = dice(seed);
  const modules = graph.nodes.filter(({ kind }) => kind === "module").map(({ id }) => id);
  const [open, across] = [1 + roll(4), roll(3)];
  return {
    expanded: modules.filter(() => roll(4) < open),
    unrolled: [],
    direction: roll(2) > 0 ? "TB" : "LR",
    turned: modules.filter(() => roll(4) < across),
    plumbing: roll(2) > 0,
  };
}

it.each(SEEDS)("random graph %i has no overlaps in any state", (seed) => {
  const graph = randomGraph(seed);
  const traced = index(graph);
  for (let which = 0; which < statesOf(seed); which += 1) {
    const state = randomState(graph, seed * STATES + which);
    expect(validate(layout(view(traced, state), viz)), JSON.stringify(state)).toMatchObject(NO_FAULTS);
  }
});
