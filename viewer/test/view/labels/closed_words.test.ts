/** What closed boxes say of the layers inside, as papers write it. */
import { describe, expect, it } from "vitest";
import type { GraphData, GraphIndex, Json } from "../../../src/graph/graph.js";
import { index } from "../../../src/graph/indexing.js";
import { view } from "../../../src/view/view.js";
import { moduleOf, sketch } from "../../sketch.js";

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

/** A module calls a layer with this id again, or is called again. */
function again(graph: GraphData, id: string, path: string, call: number): void {
  Object.assign(moduleOf(graph, id), { path, call });
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

  it("are none where one is used without a call between them", () => {
    const layers = { "m.a": linear(64, 128), "m.c": linear(128, 64) };
    const graph = made("x > m.a/linear > m/linear > m.c/linear > y", layers, { m: "MLP" });
    graph.parameters = { "m.b.weight": { shape: [128, 128], dtype: "float32", owner: "m.b" } };
    const op = graph.nodes.find(({ id }) => id === "m/linear");
    if (op?.kind === "op") op.weights = { weight: "m.b.weight" };
    expect(detailOf(graph, "m")).toBe("MLP · 1.2K");
  });

  it("are none in branches that read or make different tensors", () => {
    const joined = "x > m.a/linear\nt > m.b/linear\nm.a/linear > m/mul\nm.b/linear > m/mul > m.c/linear > y";
    const layers = { "m.a": linear(64, 128), "m.b": linear(64, 128), "m.c": linear(128, 10) };
    expect(detailOf(made(joined, layers, { m: "Fusion" }), "m")).toBe("Fusion · 1.2K");
    const heads = "x > m.a/linear > m.mu/linear > y\nm.a/linear > m.logvar/linear > z";
    const gaussian = { "m.a": linear(64, 128), "m.mu": linear(128, 10), "m.logvar": linear(128, 10) };
    expect(detailOf(made(heads, gaussian, { m: "Gaussian" }), "m")).toBe("Gaussian · 1.2K");
  });

  it("are none where one is called twice", () => {
    const layers = { "s.0": linear(64, 64), "s.2": linear(64, 64) };
    const graph = made("x > s.0/linear > s/relu > s.2/linear > y", layers, { s: "Sequential" });
    again(graph, "s.2", "s.0", 2);
    expect(detailOf(graph, "s")).not.toContain("→");
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

describe("a sequence that is called three times", () => {
  /** Calls of a sequence in a row, which are drawn as a loop until it is unrolled. */
  function called(other: Layer, op: string): GraphData {
    const calls = ["s", "t", "u"];
    const text = `x > head/relu > ${calls.map((id) => `${id}.0/linear > ${id}.1/${op}`).join(" > ")} > y`;
    const layers = calls.flatMap((id) => [[`${id}.0`, linear(8, 16)] as const, [`${id}.1`, other] as const]);
    const graph = made(text, Object.fromEntries(layers), { s: "Sequential", t: "Sequential", u: "Sequential" });
    const owners = ["s.0", "s.1"].map((owner) => [`${owner}.weight`, { shape: [8, 8], dtype: "float32", owner }]);
    graph.parameters = Object.fromEntries(owners);
    calls.forEach((id, i) => {
      for (const part of ["", ".0", ".1"]) again(graph, id + part, `s${part}`, i + 1);
      for (const node of graph.nodes)
        if (node.kind === "op" && node.id.startsWith(`${id}.`))
          node.weights = { weight: `s${node.id.slice(1, 3)}.weight` };
    });
    return graph;
  }

  function detailsIn(traced: GraphIndex, unrolled: string[]): string[] {
    const { root } = view(traced, { expanded: [], unrolled, direction: "TB" });
    return root.items.flatMap(({ id, detail }) => (/^[stu]$/.test(id) ? [detail] : []));
  }

  it.each([
    ["that is a row", linear(16, 8), "linear"],
    ["that is none", ["Conv1d", { "0": 16, "1": 8, kernel_size: [3] }] as Layer, "conv1d"],
  ])("says the same whatever was opened before: %s", (_, other, op) => {
    const [folded, unrolled] = [index(called(other, op)), index(called(other, op))];
    const { root } = view(folded, { expanded: [], unrolled: [], direction: "TB" });
    const run = root.items.flatMap((item) => (item.run === "" ? [] : [item.run]));
    expect(run).toHaveLength(1);
    const all = detailsIn(unrolled, run);
    expect(all).toHaveLength(3);
    expect(detailsIn(folded, run)).toEqual(all);
    expect(detailsIn(unrolled, [])).toEqual(detailsIn(folded, []));
  });

  it("keeps its mark behind a row", () => {
    expect(detailsIn(index(called(linear(16, 8), "linear")), [])).toEqual(["Linear 8 → 16 → 8, … · same weights"]);
  });
});

describe("layers of one class in several lists", () => {
  it("count together", () => {
    const text = `x > m.lateral.0/conv2d > m.lateral.1/conv2d > m.smooth.1/conv2d
m.lateral.0/conv2d > m.smooth.0/conv2d > m/add
m.smooth.1/conv2d > m/add > y`;
    const paths = ["m.lateral.0", "m.lateral.1", "m.smooth.0", "m.smooth.1"];
    const graph = made(text, Object.fromEntries(paths.map((path) => [path, conv(8, 8, 3)])), { m: "Pyramid" });
    for (const path of paths) moduleOf(graph, path).parameters = { own: 600, total: 600, trainable: 600 };
    expect(detailOf(graph, "m")).toBe("Pyramid · Conv2d ×4");
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

  it("say no stride where several layers have one", () => {
    const graph = blocks([conv(8, 8, 3, { stride: [2, 2] }), conv(8, 8, 5)]);
    moduleOf(graph, "b0.one").attributes = conv(8, 8, 3, { stride: [2, 2] })[1];
    expect(["b0", "b1"].map((id) => detailOf(graph, id))).toEqual(["ConvBlock · 3×3", "ConvBlock · 5×5"]);
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

  it("says no experts of a class for one, or of its layers' kernels", () => {
    const conv1 = (): Layer => ["Conv1d", { "0": 64, "1": 64, kernel_size: [3] }];
    const layers = { "e.a": conv1(), "e.b": conv1() };
    const owned = (owner: string, shape: number[]) => ({ [`${owner}.weight`]: { shape, dtype: "float32", owner } });
    for (const name of ["ConvExpert", "ConvExperts"]) {
      const graph = made("x > e.a/conv1d > e/relu > e.b/conv1d > e/add > y", layers, { e: name });
      graph.parameters = { ...owned("e.a", [64, 64, 3]), ...owned("e.b", [64, 64, 3]) };
      expect(detailOf(graph, "e")).toBe(`${name} · 1.2K`);
    }
    const prompt = made("x > e/add > e.act/gelu > y", { "e.act": ["GELU", {}] }, { e: "PromptExpert" });
    prompt.parameters = owned("e", [16, 4, 64]);
    expect(detailOf(prompt, "e")).toBe("PromptExpert · 1.2K");
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
    expect(list("mixers", "Block")).toBe("Cell · 2 mixers");
    for (const name of ["bias", "trans", "cross", "process", "axis", "focus"])
      expect(list(name, "Block")).toBe("Cell · Block ×2");
  });
});
