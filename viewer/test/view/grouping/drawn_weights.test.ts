/** Weights that are drawn as nodes: those that no layer shows. */
import { expect, it } from "vitest";
import type { GraphData } from "../../../src/graph/graph.js";
import { index } from "../../../src/graph/indexing.js";
import { shownIndex } from "../../../src/view/grouping/shown_index.js";
import type { State } from "../../../src/view/state.js";
import { view } from "../../../src/view/view.js";
import { sketch, withParameter } from "../../sketch.js";

const CLOSED: State = { expanded: [], unrolled: [], direction: "TB" };

function names(graph: GraphData, state: Partial<State> = {}): string[] {
  const { items } = view(index(graph), { ...CLOSED, ...state }).root;
  return items.map(({ name, times }) => (times > 1 ? `${name} ×${times}` : name));
}

/** Two modules, each with ops that may read weights. */
const modules = sketch("x > a/mul > a/matmul > b/sin > b/matmul > y", { a: "A", b: "B" });

it("are one node if they are a list that several modules read", () => {
  const listed = ["0", "1", "2"].reduce(
    (graph, i) => withParameter(graph, `tables.${i}`, "tables", ["a/matmul", "b/matmul"]),
    modules,
  );
  expect(names(listed)).toEqual(["x", "a", "tables ×3", "b", "y"]);
  expect(names(withParameter(modules, "tables.0", "tables", ["a/matmul", "b/matmul"]))).toContain("tables.0");
});

it("are none if they are those of a module that others read, too, which name them", () => {
  const borrowed = withParameter(modules, "a.weight", "a", ["b/matmul"]);
  expect(names(borrowed)).toEqual(["x", "a", "b", "y"]);
  const reader = shownIndex(index(borrowed), CLOSED).nodes.get("b/matmul");
  expect(reader).toMatchObject({ weights: { weight: "a.weight" } });
  expect(names(borrowed, { plumbing: true })).toContain("a.weight");
});

it("stay if an op beside them reads them, or if no call shows their module", () => {
  const beside = sketch("x > a/mul > a/sin > linear > y", { a: "A" });
  expect(names(withParameter(beside, "a.weight", "a", ["/linear"]))).toContain("a.weight");
  expect(names(withParameter(modules, "table.weight", "table", ["a/matmul"]))).toContain("table.weight");
});
