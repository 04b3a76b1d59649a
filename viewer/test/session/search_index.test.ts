import { describe, expect, it } from "vitest";
import { index } from "../../src/graph/indexing.js";
import { gaps, SearchIndex } from "../../src/session/search_index.js";
import { sketch } from "../sketch.js";

const nodes = new SearchIndex(
  index(
    sketch("x > encoder/norm > encoder/linear > decoder/norm > y", {
      encoder: "TransformerEncoder",
      decoder: "Decoder",
    }),
  ),
);

describe("SearchIndex", () => {
  it("finds by path, class and function, in execution order", () => {
    expect(nodes.search("norm")).toEqual(["encoder/norm", "decoder/norm"]);
    expect(nodes.search("transformerenc")).toEqual(["encoder"]);
  });

  it("matches every word, in any order", () => {
    expect(nodes.search("norm dec")).toEqual(["decoder/norm"]);
  });

  it("falls back to letters in order, closest together first", () => {
    expect(nodes.search("tenc")[0]).toBe("encoder");
    expect(nodes.search("zzz")).toEqual([]);
  });

  it("reads x between numbers as ×", () => {
    expect(nodes.search("1x4x8").length).toBe(nodes.search("1×4×8").length);
  });

  it("finds nothing for a blank query", () => {
    expect(nodes.search("  ")).toEqual([]);
  });
});

describe("gaps", () => {
  it("counts the letters between those of a word", () => {
    expect(gaps("attention", "atn")).toBe(2);
    expect(gaps("attention", "att")).toBe(0);
    expect(gaps("abc", "ca")).toBe(Number.POSITIVE_INFINITY);
  });

  it("ignores letters that are too far apart, also when the first one is repeated", () => {
    expect(gaps(`a${"-".repeat(50)}b`, "ab")).toBe(Number.POSITIVE_INFINITY);
    expect(gaps(`a${"-".repeat(50)}b a`, "ab")).toBe(Number.POSITIVE_INFINITY);
    expect(gaps("a---b a", "ab")).toBe(3);
  });

  it("compares the beginning of a very long line only", () => {
    expect(gaps(`ab${"a".repeat(1_000_000)}`, "aab")).toBe(Number.POSITIVE_INFINITY);
    expect(gaps(`${"-".repeat(1_000_000)}ab`, "ab")).toBe(Number.POSITIVE_INFINITY);
  });
});
