/** The family of a node, which decides its colour. */
import { describe, expect, it } from "vitest";
import { type GraphData, index } from "../src/graph/graph.js";
import { familyOf } from "../src/view/op_families.js";
import { moduleOf, sketch } from "./sketch.js";

/** A module `m` around ops and modules with one op each: `mul Linear(linear)`. */
function around(name: string, content: string): GraphData {
  const parts = content.split(" ").map((part, i) => {
    const [, inner, op = part] = /^(\w+)\((\w+)\)$/.exec(part) ?? [];
    return { path: inner === undefined ? "m" : `m.p${i}`, inner, op: `${op}'${i}` };
  });
  const classes = parts.flatMap(({ path, inner }) => (inner === undefined ? [] : [[path, inner]]));
  const chain = parts.map(({ path, op }) => `${path}/${op}`).join(" > ");
  return sketch(`x > ${chain} > y`, { m: name, ...Object.fromEntries(classes) });
}

/** Gives ops a weight of a size, by the op's name, and counts these for the modules around. */
function weighted(graph: GraphData, sizes: Record<string, number>): GraphData {
  const modules = graph.nodes.filter((node) => node.kind === "module");
  for (const module of modules) module.parameters = { own: 0, total: 0, trainable: 0 };
  for (const node of graph.nodes.filter((node) => node.kind === "op")) {
    const size = sizes[node.name.replace("torch.", "")] ?? 0;
    if (size === 0) continue;
    node.weights = { weight: `${node.id}.weight` };
    graph.parameters[`${node.id}.weight`] = { shape: [size], dtype: "float32", owner: "m" };
    const holder = graph.hierarchy[node.id];
    for (const { parameters } of modules.filter(({ id }) => id === holder || id === "m")) parameters.total += size;
    moduleOf(graph, holder ?? "").parameters.own += size;
  }
  return graph;
}

describe("the family of a module", () => {
  const sizes = { conv2d: 900, linear: 900, addmm: 900, batch_norm: 50, mul: 30, embedding: 900 };

  it.each([
    ["NormBlock", "LayerNorm(layer_norm) Attention(sdpa)", "other"],
    ["PreNorm", "LayerNorm(mul) SelfAttention(linear)", "attention"],
    ["NormedAttend", "linear sdpa", "attention"],
    ["NormLayer", "linear sdpa gelu linear", "other"],
    ["ConvNormAct", "Conv2d(conv2d) BatchNorm2d(batch_norm) ReLU(relu)", "convolution"],
    ["NoLayerNormConvLayer", "Conv1d(conv2d) GELU(gelu)", "convolution"],
    ["NormMlpClassifierHead", "LayerNorm2d(batch_norm) Linear(linear)", "linear"],
    ["NormalCell", "Conv2d(conv2d) AvgPool2d(avg_pool2d)", "convolution"],
    ["BertPooler", "Linear(linear) Tanh(tanh)", "linear"],
    ["ConvMLP", "Linear(linear) GELU(gelu)", "linear"],
    ["T5LayerNorm", "pow mean mul", "normalisation"],
    ["BatchNormAct2d", "batch_norm ReLU(relu)", "normalisation"],
    ["Conv1D", "addmm", "linear"],
    ["PatchEmbed", "Conv2d(conv2d)", "embedding"],
    ["DecoderAttention", "Linear(linear) Linear(linear)", "attention"],
    ["MaxPool2d", "max_pool2d", "pooling"],
    ["Normalize", "sub div", "normalisation"],
  ])("%s with %s: %s", (name, content, expected) => {
    const graph = weighted(around(name, content), sizes);
    expect(familyOf(index(graph), moduleOf(graph, "m"))).toBe(expected);
  });
});

describe("a container of unknown class", () => {
  const graph = sketch(`x > net.stem/conv2d > net.norm/batch_norm > tail.attn/sdpa > tail.mlp/linear > y`, {
    net: "Stage",
    "net.stem": "Conv2d",
    "net.norm": "BatchNorm2d",
    tail: "Layer",
    "tail.attn": "Attention",
    "tail.mlp": "MLP",
  });
  const count = (id: string, total: number) => {
    moduleOf(graph, id).parameters = { own: 0, total, trainable: total };
  };
  for (const [id, total] of Object.entries({ "net.stem": 900, "net.norm": 100, "tail.attn": 100, "tail.mlp": 900 })) {
    count(id, total);
  }
  count("net", 1000);
  count("tail", 1000);
  const family = (id: string) => familyOf(index(graph), moduleOf(graph, id));

  it("has the family with nearly all of its parameters", () => {
    expect(family("net")).toBe("convolution");
  });

  it("has no family if it contains attention", () => {
    expect(family("tail")).toBe("other");
  });
});
