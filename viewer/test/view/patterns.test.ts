import { expect, it } from "vitest";
import { index } from "../../src/graph/indexing.js";
import { glob, matching } from "../../src/view/patterns.js";
import { wrapped } from "../fixtures.js";

const table = (await import("../../../tests/globs.json")).default as Record<
  string,
  { matches: string[]; misses: string[] }
>;
const graph = index(wrapped);

it("compares a pattern with the whole of a path, a class and its full name", () => {
  for (const pattern of ["outer.inner", "Inner", "*Inner", "?nner", "outer.*", "*.inner"]) {
    expect(matching(graph, [pattern]), pattern).toEqual(["outer.inner"]);
  }
  expect(matching(graph, ["inner", "[a-z]*", "outer?inn"])).toEqual([]);
});

it.each(Object.entries(table))("%o matches as in Python", (pattern, { matches, misses }) => {
  const rule = glob(pattern);
  expect(matches.filter((name) => !rule.test(name))).toEqual([]);
  expect(misses.filter((name) => rule.test(name))).toEqual([]);
});
