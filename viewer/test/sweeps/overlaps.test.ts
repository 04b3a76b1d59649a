/** No overlaps in any graph, at every depth, in both directions, with and without dot. */
import { describe, expect, inject, it } from "vitest";
import type { GraphData, GraphIndex } from "../../src/graph/graph.js";
import { index } from "../../src/graph/indexing.js";
import { layout, layoutCache, type Viz } from "../../src/layout/layout.js";
import type { View } from "../../src/view/frame.js";
import { shownIndex } from "../../src/view/grouping/shown_index.js";
import { runId } from "../../src/view/repeats/contents.js";
import { findRuns } from "../../src/view/repeats/repeats.js";
import type { Direction, State } from "../../src/view/state.js";
import { view } from "../../src/view/view.js";
import { firstState } from "../first_state.js";
import { all } from "../fixtures.js";
import { strippedInstance } from "../stripped_viz.js";
import { type Faults, NO_FAULTS, validate } from "../validate.js";

declare module "vitest" {
  interface ProvidedContext {
    /** File name → traced graph as JSON text. */
    graphs: Record<string, string>;
    /** Whether sweeps look at as much as in `make zoo`. */
    long: boolean;
  }
}

const viz = await strippedInstance();
const traced = Object.entries(inject("graphs")).map(([name, text]): [string, GraphData] => [name, JSON.parse(text)]);
const graphs: [string, GraphData][] = [...Object.entries(all), ...traced];
const directions: Direction[] = ["TB", "LR"];
/** Null for the default; the last depth expands everything. */
const DEPTHS = [null, 0, 1, 2, 3, 99];
/** Largest share of wires that may overlap one of another tensor. */
const MOST_SHARED = 0.01;

/** The same state with every run unrolled. */
function unrolled(traced: GraphIndex, state: State): State {
  const shown = shownIndex(traced, state);
  const runs = [...shown.contents.values()].flatMap((contents) =>
    findRuns(shown, contents).map((run) => runId(contents, run)),
  );
  return { ...state, unrolled: runs };
}

/** State → its view, for states that look different. */
function views(traced: GraphIndex, direction: Direction): Map<string, View> {
  const rolled = DEPTHS.map((depth) => firstState(traced, { depth, direction }));
  const widest = rolled.map((state) => unrolled(traced, state));
  const states = [...rolled, ...widest].flatMap((state) => [state, { ...state, plumbing: true }]);
  const all = states.map((state): [string, View] => [JSON.stringify(state), view(traced, state)]);
  const different = new Map(all.map((pair) => [JSON.stringify(pair[1]), pair]));
  return new Map(different.values());
}

/** Layouts share what they have in common, as they do for a reader. */
function expectClear(graph: GraphData, direction: Direction, engine: Viz | null): void {
  const cache = layoutCache();
  const found = [...views(index(graph), direction)].map(([state, shown]): Faults => {
    const faults = validate(layout(shown, engine, cache));
    expect(faults, state).toMatchObject(NO_FAULTS);
    return faults;
  });
  const sum = (key: "shared" | "wires") => found.reduce((total, faults) => total + faults[key], 0);
  expect(sum("shared")).toBeLessThanOrEqual(MOST_SHARED * sum("wires"));
}

describe.each(graphs)("%s", (_, graph) => {
  it.each(directions)("has no overlaps in direction %s", (direction) => {
    expectClear(graph, direction, viz);
  });

  it.each(directions)("has no overlaps without dot in direction %s", (direction) => {
    expectClear(graph, direction, null);
  });
});
