import { describe, expect, it } from "vitest";
import type { ModuleNode } from "../../src/graph/graph.js";
import { index } from "../../src/graph/indexing.js";
import { factsOf } from "../../src/session/node_details.js";
import { withParameters } from "./parameters.js";

const graph = index(withParameters({ a: 100, b: 10_000, c: 1_000_000 }));

describe("factsOf", () => {
  it("states parameters with their share of the model", () => {
    const facts = new Map(factsOf(graph, "c").map(({ label, lines }) => [label, lines]));
    expect(facts.get("parameters")).toEqual(["1,000,000 (99 %)"]);
  });

  it("states tied and frozen weights, assumptions and errors", () => {
    const base = withParameters({ a: 4, b: 8, c: 8 });
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

  it("states a guess at its op, or for the model if it has none", () => {
    const guesses = [
      { node: "a/mul", value: 1, reason: "item" },
      { node: null, value: 2, reason: "text" },
    ];
    const odd = index({ ...withParameters({}), status: { state: "complete", guesses } });
    const assumptionsAt = (id: string) => factsOf(odd, id).find(({ label }) => label === "assumptions")?.lines;
    expect(assumptionsAt("a/mul")).toEqual(["1: item"]);
    expect(assumptionsAt("")).toEqual(["2: text"]);
    expect(assumptionsAt("a")).toBeUndefined();
  });

  it("states what was assumed as options to paste, for the model only", () => {
    const said = { rule: "4", "kwargs.dim": "8", "kwargs.on": "[2, 3]", config: "{}", "inputs[0]": "[1, 4]" };
    const assumptions = Object.entries(said).map(([subject, value]) => ({ subject, value, reason: "a name" }));
    const optionsAt = (id: string, more: typeof assumptions) =>
      factsOf(index({ ...withParameters({}), assumptions: [...assumptions, ...more] }), id).find(
        ({ label }) => label === "asOptions",
      )?.lines;
    expect(optionsAt("", [])).toEqual(['kwargs: {dim: 8, "on": [2, 3]}', "config: {}", "inputs: [[1, 4]]"]);
    const named = [{ subject: "inputs.mask", value: "{shape: [4], dtype: bool}", reason: "a name" }];
    expect(optionsAt("", named)?.at(-1)).toBe("inputs: {0: [1, 4], mask: {shape: [4], dtype: bool}}");
    const made = [{ subject: "model", value: "pkg.resnet18", reason: "it makes one" }];
    expect(optionsAt("", made)?.at(-1)).toBe("model: pkg.resnet18");
    expect(optionsAt("a", [])).toBeUndefined();
  });

  it("states arguments by name or position", () => {
    const base = withParameters({});
    const nodes = base.nodes.map((node) =>
      node.id === "a" ? { ...(node as ModuleNode), attributes: { "0": 768, eps: 1e-5 } } : node,
    );
    const facts = factsOf(index({ ...base, nodes }), "a");
    expect(facts.find(({ label }) => label === "arguments")?.lines).toEqual(["768", "eps=0.00001"]);
  });
});
