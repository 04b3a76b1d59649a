import { describe, expect, it } from "vitest";
import { condense } from "../src/condense.js";
import { familyOf } from "../src/families.js";
import { type Graph, index, type Json, type ModuleNode } from "../src/graph.js";
import { tensorLabel, words } from "../src/labels.js";
import { sketch } from "./sketch.js";

function moduleOf(graph: Graph, id: string): ModuleNode {
  const found = graph.nodes.find((node) => node.id === id);
  if (found?.kind !== "module") throw new Error(`no module ${id}`);
  return found;
}

/** The words of a leaf of some class. */
function detailOf(name: string, attributes: Record<string, Json>): string {
  const graph = sketch("x > leaf/op > y", { leaf: name });
  const leaf = moduleOf(graph, "leaf");
  leaf.attributes = attributes;
  return words(index(graph), leaf).detail;
}

describe("a leaf's arguments", () => {
  const kernel = { "0": 64, "1": 128, kernel_size: [3, 3], stride: [2, 2] };
  const cases: [string, Record<string, Json>, string][] = [
    ["Linear", { in_features: 768, out_features: 3072 }, "Linear 768 → 3072"],
    ["Conv2d", kernel, "Conv2d 64 → 128, 3×3, s2"],
    ["Conv2d", { ...kernel, "1": 64, groups: 64, stride: [1, 1] }, "Conv2d 64 → 64, 3×3, depthwise"],
    ["Conv2d", { ...kernel, groups: 4, dilation: [2, 2] }, "Conv2d 64 → 128, 3×3, s2, dilation 2, groups 4"],
    ["Conv1d", { "0": 80, "1": 64, kernel_size: [3], stride: [1] }, "Conv1d 80 → 64, k3"],
    ["MaxPool2d", { kernel_size: 3, stride: 2, dilation: 1 }, "MaxPool2d 3×3, s2"],
    ["MaxPool1d", { kernel_size: 3, stride: 2 }, "MaxPool1d k3, s2"],
    ["AdaptiveAvgPool2d", { output_size: 1 }, "AdaptiveAvgPool2d → 1×1"],
    ["AdaptiveAvgPool2d", { output_size: [7, 7] }, "AdaptiveAvgPool2d → 7×7"],
    ["LayerNorm", { "0": [64], eps: 1e-5 }, "LayerNorm 64"],
  ];
  it.each(cases)("%s %j: %s", (name, attributes, detail) => {
    expect(detailOf(name, attributes)).toBe(detail);
  });
});

describe("shapes beside wires", () => {
  /** A norm, and a projection that flattens what it is given; `heads` splits what the projection gives. */
  const graph = sketch("x > norm/layer_norm > attn.proj/view > attn.proj/linear > attn/view'heads > attn/sdpa > y", {
    attn: "Attention",
  });
  graph.tensors["norm/layer_norm:0"] = { shape: [1, 16, 64], dtype: "float32" };
  graph.tensors["attn.proj/view:0"] = { shape: [16, 64], dtype: "float32" };
  graph.tensors["attn.proj/linear:0"] = { shape: [16, 64], dtype: "float32" };
  graph.tensors["attn/view'heads:0"] = { shape: [1, 4, 16, 16], dtype: "float32" };
  const shown = index(condense(graph, false).graph);

  it("are the source's own, whatever a reader makes of it inside", () => {
    expect(tensorLabel(shown, "norm/layer_norm:0")).toBe("1×16×64");
  });

  it("are what the holder of the source makes of it", () => {
    expect(tensorLabel(shown, "attn.proj/linear:0")).toBe("1×4×16×16");
  });
});

describe("a container whose name does not tell", () => {
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

  it("is about what holds nearly all of its parameters", () => {
    expect(family("net")).toBe("convolution");
  });

  it("is about no single thing where it attends, too", () => {
    expect(family("tail")).toBe("other");
  });
});
