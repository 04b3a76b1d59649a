import { describe, expect, it } from "vitest";
import type { GraphData, ModuleNode } from "../../src/graph/graph.js";
import { index } from "../../src/graph/indexing.js";
import { outlineRows } from "../../src/view/outline_rows.js";
import { chain } from "../fixtures.js";

/** Rows as lines, indented by level. */
function lines(graph: GraphData): string[] {
  const rows = outlineRows(index(graph));
  const below = (parent: number | null, indent: string): string[] =>
    rows.flatMap((row, i) =>
      row.parent === parent
        ? [
            `${indent}${row.name} ${row.class.replace(/^.*\./, "")}${row.times > 1 ? ` ×${row.times}` : ""}`,
            ...below(i, `${indent}  `),
          ]
        : [],
    );
  return below(null, "");
}

function module(path: string, signature: string | null, call = 1): ModuleNode {
  const parameters = { own: 0, total: 1, trainable: 1 };
  const id = call > 1 ? `${path}#${call}` : path;
  return { kind: "module", id, path, class: `pkg.${signature ?? "Block"}`, parameters, signature, call };
}

/** Modules without tensors, nested by their paths. */
function listed(...modules: ModuleNode[]): GraphData {
  const hierarchy = Object.fromEntries(
    modules.map(({ id, path }) => [id, modules.find((other) => path.startsWith(`${other.path}.`))?.id ?? null]),
  );
  return { ...chain, nodes: modules, adjacency: {}, hierarchy, tensors: {}, parameters: {} };
}

describe("the outline", () => {
  it("has one row per run of the picture", () => {
    expect(lines(chain)[0]).toMatch(/^b\.0–2 .* ×3$/);
  });

  it("merges neighbours with equal computation and calls of one module", () => {
    const layers = Array.from({ length: 12 }, (_, i) => module(`layers.${i}`, "Block"));
    expect(lines(listed(...layers, module("query", "Linear"), module("key", "Linear")))).toEqual([
      "layers.0–11 Block ×12",
      "query, key Linear ×2",
    ]);
    expect(lines(listed(module("again", "Block"), module("again", "Block", 2)))).toEqual(["again Block ×2"]);
  });

  it("names no number that is missing between its modules", () => {
    const called = (...numbers: number[]) => listed(...numbers.map((i) => module(`experts.${i}`, "Expert")));
    expect(lines(called(0, 2, 5))).toEqual(["experts.0, 2, 5 Expert ×3"]);
    expect(lines(called(3, 4, 5))).toEqual(["experts.3–5 Expert ×3"]);
  });

  it("does not merge modules that differ or lack a signature", () => {
    expect(lines(listed(module("a", "A"), module("b", "B"), module("c", null), module("d", null)))).toHaveLength(4);
  });

  it("says which rows use weights again", () => {
    const shared = (...modules: ModuleNode[]) => outlineRows(index(listed(...modules))).map((row) => row.shared);
    expect(shared(module("a", "Block"), module("b", "Block"))).toEqual([false]);
    expect(shared(module("a", "Block"), module("a", "Block", 2))).toEqual([true]);
    expect(shared(module("a", "Block"))).toEqual([false]);
  });

  it("says of how many modules its calls are", () => {
    const sets = (...names: string[]) => {
      const calls = names.map((name, i) =>
        module(name, "Block", names.slice(0, i + 1).filter((n) => n === name).length),
      );
      return outlineRows(index(listed(...calls))).map((row) => [row.times, row.shared, row.sets]);
    };
    expect(sets("a", "b", "c")).toEqual([[3, false, 3]]);
    expect(sets("a", "a", "b", "b")).toEqual([[4, true, 2]]);
    expect(sets("a", "b", "a", "b", "c", "c")).toEqual([[6, true, 3]]);
  });

  it("lists rows breadth first", () => {
    const rows = outlineRows(index(listed(module("a.x", "X"), module("a", "A"), module("b", "B"))));
    expect(rows.map(({ name, parent }) => [name, parent])).toEqual([
      ["a", null],
      ["b", null],
      ["x", 0],
    ]);
  });

  it("shortens long lists of names", () => {
    const names = ["one", "two", "three", "four", "five"].map((name) => module(name, "Block"));
    expect(lines(listed(...names))).toEqual(["one, two, three, …, five Block ×5"]);
  });
});
