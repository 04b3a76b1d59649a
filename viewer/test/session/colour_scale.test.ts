import { describe, expect, it } from "vitest";
import { index } from "../../src/graph/indexing.js";
import { classScale, measureScale } from "../../src/session/colour_scale.js";
import { withParameters } from "./parameters.js";

const graph = index(withParameters({ a: 100, b: 10_000, c: 1_000_000 }));

describe("measureScale", () => {
  it("divides the range into steps of equal ratio", () => {
    const scale = measureScale(graph, "parameters");
    expect(["a", "b", "c", "input:x"].map(scale.stepOf)).toEqual([1, 3, 5, 0]);
    expect(scale.entries.map(({ text }) => text)).toEqual(["100", "≥ 631", "≥ 3.98K", "≥ 25.1K", "≥ 158K"]);
  });

  it("is empty if no node has the measure", () => {
    expect(measureScale(graph, "flops").entries).toEqual([]);
    expect(measureScale(graph, "flops").stepOf("a")).toBe(0);
  });
});

describe("classScale", () => {
  it("gives each class a step, the most frequent first", () => {
    const scale = classScale(graph, ["a", "b", "c"]);
    expect(scale.entries.map(({ text }) => text)).toEqual(["Block", "Head"]);
    expect(["a", "b", "c"].map(scale.stepOf)).toEqual([1, 1, 2]);
  });
});
