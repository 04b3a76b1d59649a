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

const BLOCK = (n: number) =>
  `h.${n}.attn.proj/addmm > h.${n}.attn.proj/view > h.${n}.mlp.proj/addmm > h.${n}.mlp.proj/view`;
const gpt = index(sketch(`x > ${[0, 1, 2].map(BLOCK).join(" > ")} > head.proj/linear > head/add > y`));

function ids(found: SearchIndex, query: string): string[] {
  return found.search(query).groups.flatMap((group) => group.ids);
}

function rows(found: SearchIndex, query: string): string[] {
  return found.search(query).groups.map((group) => `${group.place}|${group.name}|${group.type}×${group.ids.length}`);
}

describe("SearchIndex", () => {
  it("finds by path, class and function, in execution order", () => {
    expect(ids(nodes, "norm")).toEqual(["encoder/norm", "decoder/norm"]);
    expect(ids(nodes, "transformerenc")).toEqual(["encoder"]);
  });

  it("matches every word, in any order", () => {
    expect(ids(nodes, "norm dec")).toEqual(["decoder/norm"]);
  });

  it("falls back to letters in order, closest together first, and says so", () => {
    expect(ids(nodes, "tenc")[0]).toBe("encoder");
    expect(nodes.search("tenc").isSimilar).toBe(true);
    expect(nodes.search("enc").isSimilar).toBe(false);
    expect(nodes.search("zzz")).toEqual({ groups: [], isSimilar: false, isLeftOut: false });
  });

  it("reads x between numbers as ×", () => {
    expect(ids(nodes, "1x8").length).toBe(ids(nodes, "1×8").length);
    expect(ids(nodes, "1x8")).not.toEqual([]);
  });

  it("finds nothing for a blank query", () => {
    expect(ids(nodes, "  ")).toEqual([]);
  });

  it("groups equal nodes of blocks, without the ops of modules that were asked for", () => {
    expect(rows(new SearchIndex(gpt), "proj")).toEqual([
      "h.*|attn.proj|Block×3",
      "h.*|mlp.proj|Block×3",
      "|head.proj|Block×1",
    ]);
  });

  it("lists modules before ops", () => {
    const found = new SearchIndex(index(sketch("x > a/norm > b.norm/add > b.norm/mul > y")));
    expect(rows(found, "norm")).toEqual(["|b.norm|Block×1", "|a/norm|×1"]);
  });

  it("finds the one that is named by its number", () => {
    expect(rows(new SearchIndex(gpt), "h.1.attn.proj")).toEqual(["h.1|attn.proj|Block×1"]);
  });

  it("finds what the picture leaves out only where nothing else matches, and says so", () => {
    const found = new SearchIndex(gpt, (id) => !id.endsWith("view"));
    expect(rows(found, "view")).toEqual(["h.*|attn.proj/view|×3", "h.*|mlp.proj/view|×3"]);
    expect(found.search("view").isLeftOut).toBe(true);
    expect(found.search("add").isLeftOut).toBe(false);
    expect(ids(found, "h.0.attn.proj")).toEqual(["h.0.attn.proj"]);
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
