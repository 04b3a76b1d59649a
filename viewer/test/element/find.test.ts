import { describe, expect, it } from "vitest";
import { find, spread } from "../../src/element/find.js";
import { index } from "../../src/graph.js";
import { sketch } from "../sketch.js";

const graph = index(
  sketch("x > encoder/norm > encoder/linear > decoder/norm > y", { encoder: "TransformerEncoder", decoder: "Decoder" }),
);

describe("find", () => {
  it("finds by path, class and function, in the order in which they run", () => {
    expect(find(graph, "norm")).toEqual(["encoder/norm", "decoder/norm"]);
    expect(find(graph, "transformerenc")).toEqual(["encoder"]);
  });

  it("wants every word, in any order", () => {
    expect(find(graph, "norm dec")).toEqual(["decoder/norm"]);
  });

  it("takes letters in order where no word matches, the tightest first", () => {
    expect(find(graph, "tenc")[0]).toBe("encoder");
    expect(find(graph, "zzz")).toEqual([]);
  });

  it("takes x for × between numbers", () => {
    expect(find(graph, "1x4x8").length).toBe(find(graph, "1×4×8").length);
  });

  it("finds nothing for nothing", () => {
    expect(find(graph, "  ")).toEqual([]);
  });
});

describe("spread", () => {
  it("counts the letters between", () => {
    expect(spread("attention", "atn")).toBe(2);
    expect(spread("attention", "att")).toBe(0);
    expect(spread("abc", "ca")).toBe(Number.POSITIVE_INFINITY);
  });

  it("takes no letters that are scattered over a line, wherever the first of them stands again", () => {
    expect(spread(`a${"-".repeat(50)}b`, "ab")).toBe(Number.POSITIVE_INFINITY);
    expect(spread(`a${"-".repeat(50)}b a`, "ab")).toBe(Number.POSITIVE_INFINITY);
    expect(spread("a---b a", "ab")).toBe(3);
  });

  it("looks at the beginning of a line without end", () => {
    expect(spread(`ab${"a".repeat(1_000_000)}`, "aab")).toBe(Number.POSITIVE_INFINITY);
    expect(spread(`${"-".repeat(1_000_000)}ab`, "ab")).toBe(Number.POSITIVE_INFINITY);
  });
});
