import { describe, expect, it } from "vitest";
import { factsOf, formatBytes } from "../../src/element/facts.js";
import { classScale, measureScale } from "../../src/element/measures.js";
import { type Graph, index, type ModuleNode } from "../../src/graph.js";
import { sketch } from "../sketch.js";

function counted(counts: Record<string, number>): Graph {
  const graph = sketch("x > a/norm > a/mul > b/norm > b/mul > c/norm > c/mul > y", {
    a: "Block",
    b: "Block",
    c: "Head",
  });
  const nodes = graph.nodes.map((node) => {
    const total = node.kind === "module" ? (counts[node.id] ?? 0) : 0;
    return node.kind === "module" ? { ...node, parameters: { own: 0, total, trainable: total } } : node;
  });
  return { ...graph, nodes, model: { ...graph.model, parameters: { own: 0, total: 1_010_100, trainable: 1_010_100 } } };
}

const graph = index(counted({ a: 100, b: 10_000, c: 1_000_000 }));

describe("measureScale", () => {
  it("has steps of equal ratio from the least to the most, and none for nothing", () => {
    const scale = measureScale(graph, "parameters");
    expect(["a", "b", "c", "input:x"].map(scale.stepOf)).toEqual([1, 3, 5, 0]);
    expect(scale.entries.map(({ text }) => text)).toEqual(["100", "≥ 631", "≥ 3.98K", "≥ 25.1K", "≥ 158K"]);
  });

  it("is empty where nothing is known", () => {
    expect(measureScale(graph, "flops").entries).toEqual([]);
    expect(measureScale(graph, "flops").stepOf("a")).toBe(0);
  });
});

describe("classScale", () => {
  it("gives equal classes one colour, the most frequent first", () => {
    const scale = classScale(graph, ["a", "b", "c"]);
    expect(scale.entries.map(({ text }) => text)).toEqual(["Block", "Head"]);
    expect(["a", "b", "c"].map(scale.stepOf)).toEqual([1, 1, 2]);
  });
});

describe("factsOf", () => {
  it("tells parameters with their share of the model", () => {
    const facts = new Map(factsOf(graph, "c").map(({ label, lines }) => [label, lines]));
    expect(facts.get("parameters")).toEqual(["1,000,000 (99 %)"]);
  });

  it("tells what is tied, frozen, assumed and broken", () => {
    const base = counted({ a: 4, b: 8, c: 8 });
    const parameters = {
      "a.weight": { shape: [2, 2], dtype: "float32", owner: "a", trainable: false, tied: ["c.weight"] },
    };
    const status = {
      state: "partial" as const,
      error: { type: "builtins.RuntimeError", message: "no", node: "a/mul" },
    };
    const assumptions = [{ subject: "x", value: "[1]", reason: "nothing was said" }];
    const odd = index({ ...base, parameters, status, assumptions });
    const facts = new Map(factsOf(odd, "a").map(({ label, lines }) => [label, lines]));
    expect(facts.get("weights")).toEqual(["weight: 2×2 float32 frozen"]);
    expect(facts.get("tied")).toEqual(["a.weight = c.weight"]);
    expect(facts.get("error")).toEqual(["RuntimeError: no"]);
    expect(factsOf(odd, "c").map(({ label }) => label)).not.toContain("error");
    expect(factsOf(odd, "input:x").find(({ label }) => label === "assumptions")?.lines).toEqual([
      "x = [1]: nothing was said",
    ]);
  });

  it("tells a guess at the op that asked, or about the whole where none did", () => {
    const guesses = [
      { node: "a/mul", value: 1, reason: "item" },
      { node: null, value: 2, reason: "text" },
    ];
    const odd = index({ ...counted({}), status: { state: "complete", guesses } });
    const told = (id: string) => factsOf(odd, id).find(({ label }) => label === "assumptions")?.lines;
    expect(told("a/mul")).toEqual(["1: item"]);
    expect(told("")).toEqual(["2: text"]);
    expect(told("a")).toBeUndefined();
  });

  it("tells arguments by name and place", () => {
    const base = counted({});
    const nodes = base.nodes.map((node) =>
      node.id === "a" ? { ...(node as ModuleNode), attributes: { "0": 768, eps: 1e-5 } } : node,
    );
    const facts = factsOf(index({ ...base, nodes }), "a");
    expect(facts.find(({ label }) => label === "arguments")?.lines).toEqual(["768", "eps=0.00001"]);
  });
});

it("formatBytes reads at a glance", () => {
  expect([0, 512, 1536, 12_000_000].map(formatBytes)).toEqual(["0 B", "512 B", "1.5 KiB", "11 MiB"]);
});
