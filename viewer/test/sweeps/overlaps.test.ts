/** No overlaps in any graph, at every depth, in both directions, with and without dot. */
import { describe, expect, inject, it } from "vitest";
import type { GraphData } from "../../src/graph/graph.js";
import { index } from "../../src/graph/indexing.js";
import { layout, type Viz } from "../../src/layout/layout.js";
import { runId } from "../../src/view/contents.js";
import { findRuns } from "../../src/view/repeats.js";
import { shownIndex } from "../../src/view/shown_index.js";
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

function check(graph: GraphData, state: State, engine: Viz | null): Faults {
  const faults = validate(layout(view(index(graph), state), engine));
  expect(faults, JSON.stringify(state)).toMatchObject(NO_FAULTS);
  return faults;
}

/** The same state with every run unrolled. */
function unrolled(graph: GraphData, state: State): State {
  const shown = shownIndex(index(graph), state);
  const runs = [...shown.contents.values()].flatMap((contents) =>
    findRuns(shown, contents).map((run) => runId(contents, run)),
  );
  return { ...state, unrolled: runs };
}

function states(graph: GraphData, direction: Direction): State[] {
  const rolled = DEPTHS.map((depth) => firstState(index(graph), { depth, direction }));
  const widest = rolled.map((state) => unrolled(graph, state));
  return [...rolled, ...widest].flatMap((state) => [state, { ...state, plumbing: true }]);
}

function expectClear(graph: GraphData, direction: Direction, engine: Viz | null): void {
  const found = states(graph, direction).map((state) => check(graph, state, engine));
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
