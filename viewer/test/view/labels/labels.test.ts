/** Texts of boxes and edges. */
import { describe, expect, it } from "vitest";
import type { GraphData, GraphIndex, GraphNode, Json } from "../../../src/graph/graph.js";
import { index } from "../../../src/graph/indexing.js";
import { shownIndex } from "../../../src/view/grouping/shown_index.js";
import { nodeWords, tensorLabel } from "../../../src/view/labels/labels.js";
import { view } from "../../../src/view/view.js";
import { moduleOf, sketch } from "../../sketch.js";

function simplified(graph: GraphData, plumbing = false): GraphIndex {
  return shownIndex(index(graph), { plumbing });
}

/** The detail of a leaf of a class. */
function detailOf(name: string, attributes: Record<string, Json>): string {
  const graph = sketch("x > leaf/op > y", { leaf: name });
  const leaf = moduleOf(graph, "leaf");
  leaf.attributes = attributes;
  return nodeWords(index(graph), leaf).detail;
}

describe("the detail of a layer", () => {
  const kernel = { "0": 64, "1": 128, kernel_size: [3, 3], stride: [2, 2] };
  const cases: [string, Record<string, Json>, string][] = [
    ["Linear", { in_features: 768, out_features: 3072 }, "Linear 768 → 3072"],
    ["Conv2d", kernel, "Conv2d 64 → 128, 3×3, s2"],
    ["Conv2d", { ...kernel, "1": 64, groups: 64, stride: [1, 1] }, "Conv2d 64 → 64, 3×3, depthwise"],
    ["Conv2d", { ...kernel, groups: 4, dilation: [2, 2] }, "Conv2d 64 → 128, 3×3, s2, dilation 2, groups 4"],
    ["Conv1d", { "0": 80, "1": 64, kernel_size: [3], stride: [1] }, "Conv1d 80 → 64, k3"],
    ["CausalConv1d", { "0": 1, "1": 32, kernel_size: [2], stride: [1] }, "CausalConv1d 1 → 32, k2"],
    ["MaxPool2d", { kernel_size: 3, stride: 2, dilation: 1 }, "MaxPool2d 3×3, s2"],
    ["MaxPool1d", { kernel_size: 3, stride: 2 }, "MaxPool1d k3, s2"],
    ["AdaptiveAvgPool2d", { output_size: 1 }, "AdaptiveAvgPool2d → 1×1"],
    ["AdaptiveAvgPool2d", { output_size: [7, 7] }, "AdaptiveAvgPool2d → 7×7"],
    ["LayerNorm", { "0": [64], eps: 1e-5 }, "LayerNorm 64"],
    ["GroupNorm", { "0": 32, "1": 256, eps: 1e-5 }, "GroupNorm 256, 32 groups"],
    ["Upsample", { scale_factor: 2, mode: "nearest" }, "Upsample ×2"],
    ["PixelShuffle", { upscale_factor: 3 }, "PixelShuffle ×3"],
    ["LocalConv2d", { ...kernel, kernel_size: "same" }, "LocalConv2d 64 → 128, s2"],
    ["Conv2d", { ...kernel, kernel_size: "torch.Size([32, 32])" }, "Conv2d 64 → 128, s2"],
    ["GroupedNorm", { "0": "INFO: runs on any device" }, "GroupedNorm"],
    ["LSTM", { "0": 64, "1": 128, num_layers: 2, bidirectional: true }, "LSTM 64 → 128, 2 layers, bidirectional"],
  ];
  it.each(cases)("%s %j: %s", (name, attributes, detail) => {
    expect(detailOf(name, attributes)).toBe(detail);
  });
});

describe("a norm without a size attribute", () => {
  it("shows the size of its weight", () => {
    const graph = sketch("x > norm/pow > norm/mul > y", { norm: "T5LayerNorm" });
    graph.parameters["norm.weight"] = { shape: [512], dtype: "float32", owner: "norm", trainable: true };
    graph.nodes = graph.nodes.map((node) =>
      node.id === "norm/mul" && node.kind === "op" ? { ...node, weights: { self: "norm.weight" } } : node,
    );
    expect(nodeWords(index(graph), moduleOf(graph, "norm")).detail).toBe("T5LayerNorm 512");
  });
});

describe("an op with a weight or constant", () => {
  const named = (op: string, argument: string) => {
    const graph = sketch(`x > ${op} > relu > y\nscale > ${op}`);
    const scale = { kind: "buffer", id: "input:scale", name: "inner.scale", outputs: ["input:scale:0"] } as const;
    graph.nodes = graph.nodes.map((node) => (node.id === scale.id ? { ...scale, outputs: [...scale.outputs] } : node));
    for (const edge of graph.adjacency[scale.id] ?? []) edge.argument = argument;
    const { root } = view(index(graph), { expanded: [], unrolled: [], direction: "TB" });
    return root.items[1]?.name;
  };

  it("names the operand on its side of the sign", () => {
    expect(named("mul", "other")).toBe("× scale");
    expect(named("mul", "self")).toBe("× scale");
    expect(named("sub", "other")).toBe("− scale");
    expect(named("sub", "self")).toBe("scale −");
    expect(named("rsub", "other")).toBe("scale −");
  });
});

describe("an op with a number", () => {
  const numbered = (name: string, args: Record<string, Json>) => {
    const graph = sketch(`x > ${name} > relu > y`);
    graph.nodes = graph.nodes.map(
      (node) => (node.id === `/${name}` ? { ...node, arguments: args } : node) as GraphNode,
    );
    const { root } = view(index(graph), { expanded: [], unrolled: [], direction: "TB", plumbing: true });
    const { name: shown, detail, glyph } = root.items[1] ?? { name: "", detail: "", glyph: null };
    return glyph === null ? `${shown} ${detail}`.trim() : glyph;
  };
  it.each<[string, Record<string, Json>, string]>([
    ["sub", { other: -0.4 }, "+ 0.4"],
    ["add", { other: -0.4 }, "− 0.4"],
    ["mul", { other: -0.4 }, "× −0.4"],
    ["__rsub__", { other: -0.4 }, "−0.4 −"],
    ["add", { other: 1 }, "+ 1"],
    ["add", { alpha: 2 }, "add alpha 2"],
    ["gt", { other: 0.5 }, "> 0.5"],
    ["ne", { other: 0 }, "≠ 0"],
    ["gt", {}, "gt"],
    ["clamp_min", { min: 0.2 }, "clamp_min 0.2"],
    ["clamp", { min: 0, max: 1 }, "clamp min 0, max 1"],
    ["clamp", { max: 1 }, "clamp max 1"],
    ["var", { dim: -1, keepdim: true }, "var dim -1"],
    ["std", { dim: [1, 2] }, "std dim 1, 2"],
    ["masked_fill", { value: -1e9 }, "masked_fill -1e9"],
    ["masked_fill", { value: "-inf" }, "masked_fill -inf"],
    ["masked_fill", { value: -3.4028234663852886e38 }, "masked_fill -3.4e38"],
    ["remainder", { other: 2 }, "remainder 2"],
    ["setitem", { key: ["::", 0], value: -1 }, "[:, 0] = -1"],
    ["setitem", { key: ["::", 0] }, "[:, 0] ="],
    ["setitem", { value: 0 }, "setitem 0"],
    ["topk", { k: 2, dim: 1 }, "topk 2"],
    ["kthvalue", { k: 2, dim: 1 }, "kthvalue 2"],
    ["norm", { p: 1, dim: null }, "norm p 1"],
    ["norm", { p: "inf", dim: [0, 1] }, "norm p inf, dim 0, 1"],
    ["norm", { p: "fro", dim: -1, keepdim: true }, "norm dim -1"],
    ["vector_norm", { ord: 3, dim: -1 }, "vector_norm ord 3, dim -1"],
    ["cdist", { p: 1 }, "cdist p 1"],
    ["pow", { exponent: 2 }, "pow 2"],
    ["transpose", { dim0: -2, dim1: -1 }, "transpose -2, -1"],
    ["mul", { other: 0.1 + 0.2 }, "× 0.3"],
    ["mul", { other: 1e-8 }, "× 1e-8"],
    ["layer_norm", { normalized_shape: [4], weight: null, eps: 1e-5 }, "layer_norm"],
  ])("%s %j: %s", (name, args, text) => {
    expect(numbered(name, args)).toBe(text);
  });
});

describe("the name of a layer", () => {
  const called = (path: string, name: string, attributes: Record<string, Json>) => {
    const graph = sketch(`x > ${path}/op > y`, { [path]: name });
    moduleOf(graph, path).attributes = attributes;
    const { root } = view(index(graph), { expanded: [], unrolled: [], direction: "TB" });
    const item = root.items.find(({ id }) => id === path);
    return [item?.name, item?.detail];
  };

  it("is the class if the path is a number", () => {
    expect(called("0", "Linear", { in_features: 3, out_features: 4 })).toEqual(["Linear", "3 → 4"]);
    expect(called("1", "ReLU", {})).toEqual(["ReLU", ""]);
  });

  it("is not repeated in the detail if it equals the class", () => {
    expect(called("LayerNorm", "LayerNorm", { "0": [64] })).toEqual(["LayerNorm", "64"]);
  });

  it("is the path if it is not a number", () => {
    expect(called("fc1", "Linear", { in_features: 3, out_features: 4 })).toEqual(["fc1", "Linear 3 → 4"]);
  });
});

describe("shape labels", () => {
  /** A norm, and a projection that flattens its input; `heads` splits its output. */
  const graph = sketch("x > norm/layer_norm > attn.proj/view > attn.proj/linear > attn/view'heads > attn/sdpa > y", {
    attn: "Attention",
  });
  graph.tensors["norm/layer_norm:0"] = { shape: [1, 16, 64], dtype: "float32" };
  graph.tensors["attn.proj/view:0"] = { shape: [16, 64], dtype: "float32" };
  graph.tensors["attn.proj/linear:0"] = { shape: [16, 64], dtype: "float32" };
  graph.tensors["attn/view'heads:0"] = { shape: [1, 4, 16, 16], dtype: "float32" };
  const shown = simplified(graph);

  it("ignore reshapes inside a reader", () => {
    expect(tensorLabel(shown, "norm/layer_norm:0")).toBe("1×16×64");
  });

  it("show reshapes in the source's parent", () => {
    expect(tensorLabel(shown, "attn.proj/linear:0")).toBe("1×4×16×16");
  });

  it("show an input as it is given to the model", () => {
    const flattened = sketch("x > flatten > linear > y\nx > view > mul > y2");
    flattened.tensors["input:x:0"] = { shape: [2, 4, 8], dtype: "float32" };
    for (const op of ["flatten", "view"]) flattened.tensors[`/${op}:0`] = { shape: [2, 32], dtype: "float32" };
    expect(tensorLabel(simplified(flattened), "input:x:0")).toBe("2×4×8");
  });

  it("show a weight with its own shape, whatever its readers make of it", () => {
    const own = sketch("w > mT > matmul > y\nx > matmul");
    const nodes = own.nodes.map((node) =>
      node.id === "input:w" ? { ...node, kind: "parameter" as const, name: "w", outputs: ["input:w:0"] } : node,
    );
    own.tensors["input:w:0"] = { shape: [4, 8], dtype: "float32" };
    own.tensors["/mT:0"] = { shape: [8, 4], dtype: "float32" };
    const weight = simplified({ ...own, nodes: nodes as typeof own.nodes });
    expect(weight.nodes.has("/mT")).toBe(false);
    expect(tensorLabel(weight, "input:w:0")).toBe("4×8");
  });

  it("mark a size that had to be assumed", () => {
    const guessed = sketch("x > linear > nonzero > split > mul > y");
    const reason = "needs values that were not computed";
    guessed.status.guesses = [
      { node: "/nonzero", value: "every element", reason },
      { node: "/split", value: "even parts", reason },
      { node: "/mul", value: 1, reason },
      { node: null, value: "every element", reason },
    ];
    for (const op of ["nonzero", "split", "mul"]) guessed.tensors[`/${op}:0`] = { shape: [16, 2], dtype: "int64" };
    const labels = ["nonzero", "split", "mul"].map((op) => tensorLabel(index(guessed), `/${op}:0`));
    expect(labels).toEqual(["≤ 16×2 int64", "≈ 16×2 int64", "16×2 int64"]);
  });

  it("ignore copies", () => {
    const repeated = sketch("x > linear > expand > sdpa > y");
    repeated.tensors["/expand:0"] = { shape: [4, 8], dtype: "float32" };
    expect(tensorLabel(simplified(repeated), "/linear:0")).toBe("1×8");
  });

  it("ignore axes inserted for broadcasting", () => {
    const shapes = { unsqueeze: [1, 1, 8], contiguous: [1, 1, 8], expand: [1, 4, 8], view: [8], reshape: [1, 1, 1, 8] };
    const steps = (...ops: (keyof typeof shapes)[]) => {
      const made = sketch(`x > linear > ${ops.join(" > ")} > sdpa > y`);
      for (const op of ops) made.tensors[`/${op}:0`] = { shape: shapes[op], dtype: "float32" };
      return tensorLabel(simplified(made), "/linear:0");
    };
    expect(steps("unsqueeze")).toBe("1×8");
    expect(steps("unsqueeze", "contiguous")).toBe("1×8");
    expect(steps("unsqueeze", "expand")).toBe("1×8");
    expect(steps("unsqueeze", "view")).toBe("8");
    expect(steps("reshape")).toBe("1×1×1×8");
  });
});

describe("an op with a neutral number is removed", () => {
  it.each([
    ["mul", 1, false],
    ["add", 0, false],
    ["mul", 2, true],
    ["rsub", 0, true],
  ])("%s %d: shown: %s", (op, other, shown) => {
    const graph = sketch(`x > linear > ${op} > y`);
    graph.nodes = graph.nodes.map((node) =>
      node.id === `/${op}` ? { ...node, arguments: { other } } : node,
    ) as GraphNode[];
    expect(simplified(graph).graph.nodes.some(({ id }) => id === `/${op}`)).toBe(shown);
  });
});

describe("a counter of batches", () => {
  it("is removed unless plumbing is shown", () => {
    const graph = sketch("x > norm/batch_norm > y\nz > norm/add_", { norm: "BatchNorm2d" });
    graph.nodes = graph.nodes.filter(({ id }) => id !== "input:z");
    delete graph.adjacency["input:z"];
    const weighted = (node: GraphNode): GraphNode =>
      node.kind === "op" ? { ...node, weights: { self: "norm.num_batches_tracked" } } : node;
    graph.nodes = graph.nodes.map(weighted);
    expect(simplified(graph).graph.nodes.map(({ id }) => id)).not.toContain("norm/add_");
    expect(simplified(graph, true).graph.nodes.map(({ id }) => id)).toContain("norm/add_");
  });
});

describe("a module with several weights", () => {
  /** Window attention as one layer: a projection to queries, keys and values, and one back. */
  const graph = sketch("x > attn/linear'qkv > attn/getitem > attn/linear'proj > y", { attn: "WindowAttention" });
  const weigh = (id: string, name: string, shape: number[]) => {
    graph.parameters[`attn.${name}`] = { shape, dtype: "float32", owner: "attn" };
    const op = graph.nodes.find((node) => node.id === id);
    if (op?.kind === "op") op.weights = { weight: `attn.${name}` };
  };
  weigh("attn/linear'qkv", "qkv", [288, 96]);
  weigh("attn/linear'proj", "proj", [96, 96]);
  weigh("attn/getitem", "bias_table", [169]);
  graph.tensors["attn/getitem:0"] = { shape: [64, 64], dtype: "float32" };
  const attn = moduleOf(graph, "attn");
  attn.inputs = { x: "input:x:0" };
  attn.outputs = { output: "attn/linear'proj:0" };
  for (const tensor of ["input:x:0", "attn/linear'proj:0"])
    graph.tensors[tensor] = { shape: [1, 8, 8, 96], dtype: "float32" };

  it("has the widths of its own tensors, not of the first weight", () => {
    expect(nodeWords(index(graph), attn).detail).toBe("WindowAttention 96 → 96");
  });

  it("names the weight of which it takes a part", () => {
    const { root } = view(index(graph), { expanded: ["attn"], unrolled: [], direction: "TB" });
    const inside = root.items.find(({ id }) => id === "attn")?.frame?.items.map(({ name }) => name);
    expect(inside).toEqual(["linear", "bias_table[…]", "linear"]);
  });
});

describe("the class of a box", () => {
  const detail = (text: string, classes: Record<string, string>, id: string) => {
    const graph = sketch(text, classes);
    for (const node of graph.nodes) if (node.kind === "module") node.parameters.total = 1200;
    const { root } = view(index(graph), { expanded: [], unrolled: [], direction: "TB" });
    const item = root.items.find((item) => item.id === id);
    return [item?.name, item?.detail];
  };

  it("is that of a wrapper around a plain container", () => {
    const classes = { "2": "InvertedResidual", "2.conv": "Sequential", "2.conv.0": "Conv2d", "2.conv.1": "ReLU6" };
    expect(detail("x > 2.conv.0/conv2d > 2.conv.1/relu6 > y", classes, "2")).toEqual([
      "2.conv",
      "InvertedResidual · 1.2K",
    ]);
  });

  it("is what a plain container holds", () => {
    const classes = { l: "Sequential", "l.0": "Block", "l.1": "Block", "l.2": "Block", "l.2.m": "Sequential" };
    const text = "x > l.0/conv2d > l.0/relu > l.1/conv2d > l.1/gelu > l.2.m/conv2d > l.2.m/mul > y";
    expect(detail(text, classes, "l")).toEqual(["l", "Block ×3 · 1.2K"]);
    const mixed = { d: "Sequential", "d.0": "Conv2d", "d.1": "BatchNorm2d" };
    expect(detail("x > d.0/conv2d > d.1/batch_norm > y", mixed, "d")).toEqual(["d", "Conv2d, BatchNorm2d"]);
  });

  it("is the heaviest of many kinds in a plain container", () => {
    const kinds = ["A", "B", "C", "C", "D"].map((kind, i) => [`s.${i}`, kind]);
    const text = `x > ${kinds.map(([id]) => `${id}/relu`).join(" > ")} > y`;
    const classes = { s: "Sequential", ...Object.fromEntries(kinds) };
    expect(detail(text, classes, "s")).toEqual(["s", "C ×2, … · 1.2K"]);
  });
});

describe("a container around one layer", () => {
  const conv = { "0": 3, "1": 64, kernel_size: [7, 7], stride: [2, 2] };
  const detail = (name: string, insides: Record<string, string>, own = 0) => {
    const path = Object.keys(insides).map((inside) => `block.${inside}/${inside}`);
    const classes = Object.fromEntries(Object.entries(insides).map(([inside, kind]) => [`block.${inside}`, kind]));
    const graph = sketch(`x > ${path.join(" > ")} > y`, { block: name, ...classes });
    for (const [inside, kind] of Object.entries(insides)) {
      const node = moduleOf(graph, `block.${inside}`);
      if (kind === "Conv2d") node.attributes = conv;
      const own = /Conv|Norm|Scale/.test(kind) ? 8 : 0;
      node.parameters = { own, total: own, trainable: own };
    }
    const block = moduleOf(graph, "block");
    block.parameters = { own, total: 9500, trainable: 9500 };
    return nodeWords(index(graph), block).detail;
  };

  it("has the sizes of that layer", () => {
    expect(detail("ConvNormAct", { conv: "Conv2d", norm: "BatchNorm2d", act: "ReLU" })).toBe(
      "ConvNormAct 3 → 64, 7×7, s2",
    );
  });

  it("has its class, too, if it only holds it", () => {
    expect(detail("Sequential", { pad: "ZeroPad2d", conv: "Conv2d", norm: "BatchNorm2d", act: "ReLU" })).toBe(
      "Conv2d 3 → 64, 7×7, s2, …",
    );
  });

  it("has not if there are two layers, others with weights, or weights of its own", () => {
    const insides = { conv: "Conv2d", norm: "BatchNorm2d" };
    expect(detail("Block", { ...insides, other: "Conv2d" })).toBe("Block · 9.5K");
    expect(detail("Block", { ...insides, scale: "LearnedScale" })).toBe("Block · 9.5K");
    expect(detail("Block", insides, 64)).toBe("Block · 9.5K");
  });
});
