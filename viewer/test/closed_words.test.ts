/** What closed boxes say of the layers inside, as papers write it. */
import { describe, expect, it } from "vitest";
import type { GraphData, Json } from "../src/graph/graph.js";
import { index } from "../src/graph/indexing.js";
import { view } from "../src/view/view.js";
import { moduleOf, sketch } from "./sketch.js";

type Layer = [name: string, attributes: Record<string, Json>];

function linear(from: number, to: number): Layer {
  return ["Linear", { in_features: from, out_features: to }];
}

function conv(from: number, to: number, size: number, more: Record<string, Json> = {}): Layer {
  return ["Conv2d", { "0": from, "1": to, kernel_size: [size, size], ...more }];
}

/** A graph with layers in modules of these classes; a module has its own weights only if it is a layer. */
function made(text: string, layers: Record<string, Layer>, classes: Record<string, string>): GraphData {
  const names = Object.fromEntries(Object.entries(layers).map(([path, [name]]) => [path, name]));
  const graph = sketch(text, { ...names, ...classes });
  for (const [path, [, attributes]] of Object.entries(layers)) moduleOf(graph, path).attributes = attributes;
  for (const path of Object.keys(classes)) moduleOf(graph, path).parameters = { own: 0, total: 1200, trainable: 1200 };
  return graph;
}

function detailOf(graph: GraphData, id: string): string | undefined {
  const { root } = view(index(graph), { expanded: [], unrolled: [], direction: "TB" });
  return root.items.find((item) => item.id === id)?.detail;
}

describe("layers that follow one another", () => {
  const perceptron = { "m.up": linear(64, 256), "m.down": linear(256, 64) };

  it("are the widths of a feed-forward", () => {
    const graph = made("x > m.up/linear > m/gelu > m.down/linear > y", perceptron, { m: "MLP" });
    expect(detailOf(graph, "m")).toBe("MLP 64 → 256 → 64");
  });

  it("are one step where a gate is beside", () => {
    const text = "x > m.gate/linear > m/silu\nx > m.up/linear\nm/silu > m/mul\nm.up/linear > m/mul > m.down/linear > y";
    const graph = made(text, { "m.gate": linear(64, 256), ...perceptron }, { m: "MLP" });
    expect(detailOf(graph, "m")).toBe("MLP 64 → 256 → 64");
  });

  it("are none where a layer reads something else, too", () => {
    const text = "x > m.up/linear > m/cat > m.down/linear > y\nx > m/cat";
    expect(detailOf(made(text, perceptron, { m: "MLP" }), "m")).toBe("MLP · 1.2K");
  });

  it("are none where they are beside each other", () => {
    const text = "x > m.up/linear\nx > m.down/linear\nm.up/linear > m/mul\nm.down/linear > m/mul > y";
    const graph = made(text, { "m.up": linear(64, 64), "m.down": linear(64, 64) }, { m: "Gate" });
    expect(detailOf(graph, "m")).toBe("Gate · 1.2K");
  });

  it("are none in an embedding, which would only be broader", () => {
    const graph = made("x > m.up/linear > m/gelu > m.down/linear > y", perceptron, { m: "TimeEmbedding" });
    expect(detailOf(graph, "m")).toBe("TimeEmbedding · 1.2K");
  });

  it("are none where a width changes between them", () => {
    const graph = made("x > m.a/linear > m.b/linear > y", { "m.a": linear(8, 4), "m.b": linear(16, 8) }, { m: "MLP" });
    expect(detailOf(graph, "m")).toBe("MLP · 1.2K");
  });

  it("are the kernels of a branch", () => {
    const layers = { "s.0": conv(32, 16, 1), "s.1": conv(16, 32, 3, { stride: [2, 2] }) };
    const graph = made("x > s.0/conv2d > s.1/conv2d > s/relu > y", layers, { s: "Sequential" });
    expect(detailOf(graph, "s")).toBe("Conv2d 32 → 16 → 32, 1×1 + 3×3 s2, …");
  });

  it("have one kernel if all are equal", () => {
    const layers = { "s.0": conv(8, 16, 3), "s.1": conv(16, 16, 3) };
    const graph = made("x > s.0/conv2d > s/relu > s.1/conv2d > y", layers, { s: "Sequential" });
    expect(detailOf(graph, "s")).toBe("Conv2d 8 → 16 → 16, 3×3, …");
  });
});

describe("blocks of convolutions", () => {
  /** Blocks that add what a point and a kernel see. */
  function blocks(kernels: Layer[]): GraphData {
    const block = (from: string, at: string) =>
      `${from} > ${at}.one/conv2d\n${from} > ${at}.other/conv2d\n${at}.one/conv2d > ${at}/add\n${at}.other/conv2d > ${at}/add`;
    const names = kernels.map((_, i) => `b${i}`);
    const lines = names.map((name, i) => block(i === 0 ? "x" : `b${i - 1}/add`, name));
    const layers = names.map((name) => [`${name}.one`, conv(8, 8, 1)] as const);
    const others = kernels.map((layer, i) => [`b${i}.other`, layer] as const);
    const classes = Object.fromEntries(names.map((name) => [name, "ConvBlock"]));
    const text = [...lines, `b${names.length - 1}/add > y`].join("\n");
    const graph = made(text, Object.fromEntries([...layers, ...others]), classes);
    // blocks of one signature would be one box
    for (const name of names) moduleOf(graph, name).signature = name;
    return graph;
  }

  it("say their kernels where these differ", () => {
    const graph = blocks([conv(8, 8, 3), conv(8, 8, 5, { stride: [2, 2] }), conv(8, 8, 3, { dilation: [4, 4] })]);
    expect(["b0", "b1", "b2"].map((id) => detailOf(graph, id))).toEqual([
      "ConvBlock · 3×3",
      "ConvBlock · 5×5, s2",
      "ConvBlock · 3×3, dilation 4",
    ]);
  });

  it("keep their weights where all kernels are alike", () => {
    const graph = blocks([conv(8, 8, 3), conv(8, 8, 3)]);
    expect(["b0", "b1"].map((id) => detailOf(graph, id))).toEqual(["ConvBlock · 1.2K", "ConvBlock · 1.2K"]);
  });
});

describe("a closed box", () => {
  function experts(shapes: number[][]): GraphData {
    const graph = made("x > e/bmm > e.act/gelu > e/mul > y", { "e.act": ["GELU", {}] }, { e: "MoEExperts" });
    for (const [i, shape] of shapes.entries()) {
      graph.parameters[`e.w${i}`] = { shape, dtype: "float32", owner: "e" };
    }
    return graph;
  }

  it("says how many experts its weights are for", () => {
    expect(
      detailOf(
        experts([
          [8, 64, 32],
          [8, 32, 64],
        ]),
        "e",
      ),
    ).toContain("8 experts");
    expect(
      detailOf(
        experts([
          [8, 64, 32],
          [4, 32, 64],
        ]),
        "e",
      ),
    ).not.toContain("experts");
  });

  it("makes no plural of a name that is no noun, and names no plain sequences", () => {
    const list = (name: string, inner: string) => {
      const text = `x > c.${name}.0/linear > c.${name}.1/linear > c/relu > y`;
      const layers = { [`c.${name}.0`]: inner, [`c.${name}.1`]: inner };
      const graph = sketch(text, { c: "Cell", ...layers });
      moduleOf(graph, "c").parameters = { own: 0, total: 2400, trainable: 2400 };
      return detailOf(graph, "c");
    };
    expect(list("left", "Sequential")).toBe("Cell · 2.4K");
    expect(list("left", "Block")).toBe("Cell · Block ×2");
    expect(list("layer", "Sequential")).toBe("Cell · 2 layers");
  });
});
