import { describe, expect, it } from "vitest";
import { index } from "../../src/graph/indexing.js";
import { classScale } from "../../src/session/colour_scale.js";
import { withParameters } from "./parameters.js";

const graph = index(withParameters({ a: 100, b: 10_000, c: 1_000_000 }));

describe("classScale", () => {
  it("gives each class a step, the most frequent first", () => {
    const scale = classScale(graph, ["a", "b", "c"]);
    expect(scale.entries.map(({ text }) => text)).toEqual(["Block", "Head"]);
    expect(["a", "b", "c"].map(scale.stepOf)).toEqual([1, 1, 2]);
  });
});
