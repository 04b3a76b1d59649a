import { expect, it } from "vitest";
import { index } from "../../src/graph/indexing.js";
import { matching, unmatchedPatterns } from "../../src/view/patterns.js";
import { chain, wrapped } from "../fixtures.js";

const graph = index(wrapped);

it("compares a pattern with the whole of a path, a class and its full name", () => {
  for (const pattern of ["outer.inner", "Inner", "*Inner", "?nner", "outer.*", "*.inner"]) {
    expect(matching(graph, [pattern]), pattern).toEqual(["outer.inner"]);
  }
  expect(matching(graph, ["inner", "[a-z]*", "outer?inn"])).toEqual([]);
});

it("names the first option with patterns that match no module", () => {
  expect(unmatchedPatterns(graph, { expand: ["*"], collapse: ["Inner", "§", "x*"] })).toEqual({
    option: "collapse",
    patterns: ["§", "x*"],
  });
  expect(unmatchedPatterns(graph, { direction: [["§", "LR"]] })?.option).toBe("direction");
});

it("counts * as matched in directions", () => {
  expect(unmatchedPatterns(index(chain), { direction: [["*", "TB"]] })).toBeNull();
  expect(unmatchedPatterns(index(chain), { direction: "LR" })).toBeNull();
});
