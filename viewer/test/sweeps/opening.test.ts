/** Opening a module keeps left and right: what was beside something stays on its side. */
import { expect, inject, it } from "vitest";
import type { GraphData } from "../../src/graph/graph.js";
import { index } from "../../src/graph/indexing.js";
import { type Layout, layout, layoutCache, type Placed } from "../../src/layout/layout.js";
import { toggle } from "../../src/view/expand/toggle.js";
import type { State } from "../../src/view/state.js";
import { view } from "../../src/view/view.js";
import { firstState } from "../first_state.js";
import { all } from "../fixtures.js";
import { dice } from "../random_plans.js";
import { sketch } from "../sketch.js";
import { strippedInstance } from "../stripped_viz.js";

const viz = await strippedInstance();
const OPENINGS = 200;
/** After so many openings in one picture, the reader starts anew. */
const IN_A_ROW = 5;
const LEAST_SHARE = 0.98;
/** Centres that differ by less, in px, are below each other. */
const BELOW = 12;

/** The decoder reads the encoder's states in the middle of each block; what it opens to has them on another side. */
const translator = sketch(
  [
    "source > encoder.0/attention > encoder.0/add > encoder.0/mlp",
    "source > encoder.0/add",
    "target > embed/embedding > decoder.0/norm > decoder.0/cross > decoder.0/add > decoder.0/mlp",
    "embed/embedding > decoder.0/add",
    "encoder.0/mlp > decoder.0/cross",
    "decoder.0/mlp > decoder.1/norm > decoder.1/cross > decoder.1/add > decoder.1/mlp > head/linear > words",
    "decoder.0/mlp > decoder.1/add",
    "encoder.0/mlp > decoder.1/cross",
  ].join("\n"),
  { "encoder.0": "Encoder", "decoder.0": "First", "decoder.1": "Second", head: "Head" },
);

interface Strip {
  id: string;
  low: number;
  high: number;
  start: number;
  end: number;
}

function strips({ frame, geometry }: Placed): Strip[] {
  return frame.items.map(({ id }, i) => {
    const { x = 0, y = 0, width = 0, height = 0 } = geometry.boxes[i] ?? {};
    return frame.direction === "TB"
      ? { id, low: x, high: x + width, start: y, end: y + height }
      : { id, low: y, high: y + height, start: x, end: x + width };
  });
}

/** Neighbours, the left one first: next to each other in a row, or beside each other with a wire between them. */
function neighbours(placed: Placed): [string, string][] {
  const boxes = strips(placed);
  const found = new Map<string, [string, string]>();
  const add = (left: Strip, right: Strip) => found.set(`${left.id} ${right.id}`, [left.id, right.id]);
  for (const left of boxes) {
    const [right] = boxes
      .filter((other) => other !== left && other.low >= left.high && other.start < left.end && left.start < other.end)
      .sort((a, b) => a.low - b.low);
    if (right !== undefined) add(left, right);
  }
  for (const { from, to } of placed.frame.wires) {
    const [one, other] = [boxes[from], boxes[to]];
    if (one === undefined || other === undefined) continue;
    if (one.high <= other.low) add(one, other);
    if (other.high <= one.low) add(other, one);
  }
  return [...found.values()];
}

function containers({ root }: Layout): Map<string, Placed> {
  const found = new Map<string, Placed>();
  const pending = [root];
  for (const placed of pending) {
    found.set(placed.frame.id, placed);
    pending.push(...placed.inner.filter((inner) => inner !== null));
  }
  return found;
}

interface Count {
  kept: number;
  pairs: number;
}

function compare(before: Layout, after: Layout): Count {
  const count: Count = { kept: 0, pairs: 0 };
  const later = containers(after);
  for (const [id, placed] of containers(before)) {
    const same = later.get(id);
    if (same === undefined) continue;
    const centres = new Map(strips(same).map((box) => [box.id, (box.low + box.high) / 2]));
    for (const [left, right] of neighbours(placed)) {
      const [a, b] = [centres.get(left), centres.get(right)];
      if (a === undefined || b === undefined) continue;
      count.pairs += 1;
      if (a <= b + BELOW) count.kept += 1;
    }
  }
  return count;
}

function openRandomly(graph: GraphData, openings: number): Count {
  const traced = index(graph);
  const cache = layoutCache();
  const draw = (state: State) => layout(view(traced, state), viz, cache);
  const start = firstState(traced, { depth: 0 });
  const roll = dice(graph.nodes.length);
  const sum: Count = { kept: 0, pairs: 0 };
  let state = start;
  for (let i = 0; i < openings; i += 1) {
    const before = draw(state);
    const closed = [...containers(before).values()].flatMap(({ frame }) =>
      frame.items.filter((item) => item.expandable && item.frame === null),
    );
    const opened = closed[roll(Math.max(1, closed.length))];
    if (opened !== undefined) {
      const next = toggle(traced, state, opened.id);
      const { kept, pairs } = compare(before, draw(next));
      sum.kept += kept;
      sum.pairs += pairs;
      state = next;
    }
    if (opened === undefined || i % IN_A_ROW === IN_A_ROW - 1) state = start;
  }
  return sum;
}

it("keeps the order of nearly all neighbours", () => {
  const traced = Object.values(inject("graphs")).map((text): GraphData => JSON.parse(text));
  const graphs = [translator, ...Object.values(all), ...traced];
  const counts = graphs.map((graph) => openRandomly(graph, Math.ceil(OPENINGS / graphs.length)));
  const [kept, pairs] = [
    counts.reduce((sum, one) => sum + one.kept, 0),
    counts.reduce((sum, one) => sum + one.pairs, 0),
  ];
  expect(pairs).toBeGreaterThan(100);
  expect(kept / pairs).toBeGreaterThanOrEqual(LEAST_SHARE);
});

/** What is made of the decoder comes first, and its input second. */
const wrapped = sketch(
  [
    "target > model.embed/embedding > model.embed/scale",
    "source > model.encoder.0/norm > model.encoder.0/mlp > model.encoder.1/norm > model.encoder.1/mlp",
    "model.embed/scale > model.decoder.0/norm > model.decoder.0/cross > model.decoder.1/norm > model.decoder.1/cross",
    ...["model.decoder.0/cross", "model.decoder.1/cross"].map((cross) => `model.encoder.1/mlp > ${cross}`),
    "model.decoder.1/cross > head/linear > words",
    "model.encoder.1/mlp > states",
  ].join("\n"),
  {
    ...{ model: "Model", "model.embed": "Embed", "model.encoder.0": "Encoder", "model.encoder.1": "Encoder" },
    ...{ "model.decoder.0": "Decoder", "model.decoder.1": "Decoder", head: "Head" },
  },
);

it("puts what is around a closed encoder and decoder where they will be", () => {
  const traced = index(wrapped);
  const closed = firstState(traced, { depth: 0 });
  const [before, after] = [closed, toggle(traced, closed, "model")].map((state) => layout(view(traced, state), viz));
  expect(after && containers(after).get("model")?.shaped).toBe(true);
  expect(before && neighbours(before.root)).toContainEqual(["output:states", "head"]);
  expect(before && after && compare(before, after)).toEqual({ kept: 2, pairs: 2 });
});

/** Open, the branch beside the trunk would be heavier than that. */
const branching = sketch(
  [
    "x > stem/conv > side/a > side/b > side/c > side/d > side/e > side/f",
    "stem/conv > body.0/conv > body.1/conv > body.2/conv > join > y",
    "side/f > join",
  ].join("\n"),
  { stem: "Stem", "body.0": "A", "body.1": "B", "body.2": "C", side: "Side" },
);

it("keeps the trunk where a branch beside it is opened", () => {
  const traced = index(branching);
  const closed = firstState(traced, { depth: 0 });
  for (const state of [closed, toggle(traced, closed, "side")]) {
    const { frame, geometry } = layout(view(traced, state), viz).root;
    const middles = frame.items.flatMap(({ id }, i) => {
      const { x = 0, width = 0 } = geometry.boxes[i] ?? {};
      return id === "side" ? [] : [x + width / 2];
    });
    expect(new Set(middles).size).toBe(1);
  }
});

it("draws the same picture for the same state, whatever was opened before", () => {
  const traced = index(translator);
  const cache = layoutCache();
  const start = firstState(traced, { depth: 0 });
  const open = toggle(traced, toggle(traced, start, "decoder.0"), "encoder.0");
  for (const state of [start, toggle(traced, start, "decoder.0"), open]) layout(view(traced, state), viz, cache);
  const again = layout(view(index(translator), open), viz);
  expect(again.root.geometry).toEqual(layout(view(traced, open), viz, cache).root.geometry);
});
