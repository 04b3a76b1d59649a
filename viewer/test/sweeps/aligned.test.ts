/** Edges that an author puts in line: in any arrangement of any picture, nothing overlaps for it. */
import { describe, expect, it } from "vitest";
import type { GraphData } from "../../src/graph/graph.js";
import { index } from "../../src/graph/indexing.js";
import { annotate } from "../../src/graph/overlay.js";
import { layout } from "../../src/layout/layout.js";
import { view } from "../../src/view/view.js";
import { firstState } from "../first_state.js";
import { fork, loose, parallel, residual } from "../fixtures.js";
import { strippedInstance } from "../stripped_viz.js";
import { NO_FAULTS, validate } from "../validate.js";

const viz = await strippedInstance();
const ARRANGEMENTS = [null, "row", "column", "grid"] as const;
const ALIGNMENTS = ["start", "center", "end"] as const;

function faults(graph: GraphData, arrange: (typeof ARRANGEMENTS)[number], align: (typeof ALIGNMENTS)[number]) {
  const containers = ["", ...new Set(Object.values(graph.hierarchy))].filter((id) => id !== null);
  const nodes = Object.fromEntries(containers.map((id) => [id, { arrange, align_items: align }]));
  const said = index(annotate(graph, { format: "modeldiagrams-overlay", version: "1.0", graph: "", nodes }));
  return validate(layout(view(said, firstState(said, { depth: 99 })), viz));
}

describe("edges in line", () => {
  it.each([fork, parallel, residual, loose])("overlap nothing in %#", (graph) => {
    for (const arrange of ARRANGEMENTS)
      for (const align of ALIGNMENTS)
        expect(faults(graph, arrange, align), `${arrange} ${align}`).toMatchObject(NO_FAULTS);
  });
});
