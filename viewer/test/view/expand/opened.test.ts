/** What is open at first inside of blocks, and what closed boxes say of their inside. */
import { describe, expect, it } from "vitest";
import type { GraphData } from "../../../src/graph/graph.js";
import { index } from "../../../src/graph/indexing.js";
import { layout } from "../../../src/layout/layout.js";
import { frameKey } from "../../../src/layout/shared_layout.js";
import { exemplars } from "../../../src/view/expand/exemplars.js";
import { joinIn } from "../../../src/view/expand/joins.js";
import type { Page } from "../../../src/view/expand/page_limits.js";
import { smallBundles, withoutSmallBundles } from "../../../src/view/expand/small_bundles.js";
import type { Frame, Item } from "../../../src/view/frame.js";
import { shownIndex } from "../../../src/view/grouping/shown_index.js";
import type { State } from "../../../src/view/state.js";
import { view } from "../../../src/view/view.js";
import { moduleOf, sketch, withParameter } from "../../sketch.js";

const CLOSED: State = { expanded: [], unrolled: [], direction: "TB" };

function exemplarIn(graph: GraphData): string | undefined {
  return exemplars(shownIndex(index(graph), {}))[0]?.[0]?.at(-1);
}

function itemsIn({ items }: Frame): Item[] {
  return items.flatMap((item) => [item, ...(item.frame === null ? [] : itemsIn(item.frame))]);
}

function itemOf(graph: GraphData, id: string, state: Partial<State> = {}): Item | undefined {
  return itemsIn(view(index(graph), { ...CLOSED, ...state }).root).find((item) => item.id === id);
}

/** Blocks in a row; those with a skip add what enters them. */
function blocks(skips: boolean[]): GraphData {
  const lines = skips.map((hasSkip, i) => {
    const [before, id] = [i === 0 ? "x" : `b.${i - 1}/last`, `b.${i}`];
    const inside = `${before} > ${id}.up/linear > ${id}.act/relu > ${id}.down/linear > ${id}/last`;
    return hasSkip ? `${inside}\n${before} > ${id}/last` : inside;
  });
  const classes = skips.flatMap((_, i) => [
    [`b.${i}`, "Block"],
    [`b.${i}.up`, `Up${i}`],
    [`b.${i}.act`, "ReLU"],
    [`b.${i}.down`, `Down${i}`],
  ]);
  const graph = sketch(`${lines.join("\n")}\nb.${skips.length - 1}/last > y`, Object.fromEntries(classes));
  for (const i of skips.keys()) moduleOf(graph, `b.${i}`).signature = `block ${i}`;
  return graph;
}

describe("the exemplar of a class", () => {
  it("is one with a skip, wherever that is", () => {
    expect(exemplarIn(blocks([false, false, true, false]))).toBe("b.2");
    expect(exemplarIn(blocks([false, false, false, false]))).toBe("b.0");
  });
});

it("has the most ops of blocks with the same modules, whatever is between them in number", () => {
  const ids = [..."xxxxyyyzz"].map((kind, i) => ({ kind, id: `b.${i}` }));
  const inside = ids.map(({ kind, id }) => `${id}.up/linear > ${kind === "z" ? `${id}/neg > ` : ""}${id}.down/linear`);
  const graph = sketch(`in > ${inside.join(" > ")} > out`, {
    ...Object.fromEntries(ids.map(({ id }) => [id, "Block"])),
    ...Object.fromEntries(
      ids.flatMap(({ kind, id }) => [`${id}.up`, `${id}.down`].map((one) => [one, kind === "y" ? "Y" : "X"])),
    ),
  });
  for (const { kind, id } of ids) moduleOf(graph, id).signature = kind;
  expect(exemplarIn(graph)).toBe("b.7");
});

/** A block with a gated layer and a plain one. */
const gated = sketch(
  `
  x > b.norm/layer_norm > b.gate.two/linear
  b.norm/layer_norm > b.gate.one/linear > b.gate.act/silu > b.gate/mul > b.gate.out/linear > b/add
  b.gate.two/linear > b.gate/mul
  x > b/add
  b/add > b.plain.one/linear > b.plain.act/silu > b.plain.two/linear > y
`,
  {
    ...{ b: "Block", "b.norm": "LayerNorm", "b.gate": "Gate", "b.plain": "Plain" },
    ...{ "b.gate.one": "Linear", "b.gate.two": "Linear", "b.gate.out": "Linear", "b.gate.act": "SiLU" },
    ...{ "b.plain.one": "Linear", "b.plain.two": "Linear", "b.plain.act": "SiLU" },
  },
);

describe("tensors that come together in a part", () => {
  const inGraph = (graph: GraphData, id: string) => joinIn(index(graph), id);

  it("are branches of its own, or what enters it and what was made of that", () => {
    expect(inGraph(gated, "b.gate")).toBe("join");
    expect(inGraph(gated, "b")).toBe("skip");
    expect(inGraph(gated, "b.plain")).toBeUndefined();
  });

  it("are none where only weights meet, and none in a normalisation", () => {
    const weighted = withParameter(sketch("x > m/linear > m/mul > y", { m: "Scaled" }), "m.scale", "m", ["m/mul"]);
    weighted.hierarchy["parameter:m.scale"] = "m";
    expect(inGraph(weighted, "m")).toBeUndefined();
    expect(inGraph(sketch("x > n/linear > n/mul > y\nx > n/mul", { n: "RMSNorm" }), "n")).toBeUndefined();
  });
});

describe("bundles of a few nodes", () => {
  it("are not drawn where a page has room for the nodes", () => {
    const parts = ["a", "b", "c", "d"].map((id) => `${id}/linear > ${id}/relu`);
    const graph = sketch(`x > ${parts.join(" > ")} > y`, { a: "A", b: "B", c: "C", d: "D" });
    const state: State = { ...CLOSED, most: 3 };
    expect(smallBundles(shownIndex(index(graph), state))).toHaveLength(1);
    const page = (height: number): Page => ({
      ...{ width: 740, height, tallest: height, widest: 740, highest: height, highestBundled: height },
      ...{ mayScroll: false, mayBundle: true, measure: (one) => layout(view(index(graph), one), null) },
    });
    const left = (height: number) =>
      smallBundles(shownIndex(index(graph), withoutSmallBundles(index(graph), state, page(height))));
    expect(left(900)).toEqual([]);
    expect(left(100)).toHaveLength(1);
  });
});

describe("a layer whose weights a function uses", () => {
  const plain = sketch("x > mix/conv1d > mix/relu > y", { mix: "Mixer" });
  const graph = withParameter(plain, "mix.conv.weight", "mix.conv", ["mix/conv1d"]);
  graph.hierarchy["parameter:mix.conv.weight"] = "mix";

  it("is named in the op, and its weight has no box", () => {
    const inside = itemOf(graph, "mix", { expanded: ["mix"] })?.frame?.items ?? [];
    expect(inside.map(({ name, detail }) => `${name} ${detail}`.trim())).toEqual(["conv1d conv", "relu"]);
  });

  it("is named at the top, too", () => {
    const atTop = withParameter(sketch("x > /conv1d > /relu > y", {}), "conv.weight", "conv", ["/conv1d"]);
    const items = view(index(atTop), CLOSED).root.items.filter(({ kind }) => kind !== "input" && kind !== "output");
    expect(items.map(({ name, detail }) => `${name} ${detail}`.trim())).toEqual(["conv1d conv", "relu"]);
  });

  it.each(["tokens.cls", "scales.0"])("is no list of parameters: %s has a box", (weight) => {
    const [list = ""] = weight.split(".");
    const listed = withParameter(plain, `mix.${weight}`, `mix.${list}`, ["mix/relu"]);
    listed.hierarchy[`parameter:mix.${weight}`] = "mix";
    const inside = itemOf(listed, "mix", { expanded: ["mix"] })?.frame?.items ?? [];
    expect(inside.map(({ name }) => name)).toContain(weight);
  });

  it("is another than the module itself, whose weight stays", () => {
    const own = withParameter(plain, "mix.scale", "mix", ["mix/conv1d"]);
    own.hierarchy["parameter:mix.scale"] = "mix";
    const inside = itemOf(own, "mix", { expanded: ["mix"] })?.frame?.items ?? [];
    expect(inside.map(({ name }) => name)).toContain("scale");
  });
});

describe("a closed box", () => {
  /** A stage with blocks of one class. */
  const stages = sketch("x > s.down/conv2d > s.layers.0/linear > s.layers.1/linear > s.layers.2/relu > y", {
    ...{ s: "Stage", "s.down": "Conv2d" },
    ...{ "s.layers.0": "Block", "s.layers.1": "Block", "s.layers.2": "Block" },
  });
  for (const [id, total] of [["s", 300], ...[0, 1, 2].map((i) => [`s.layers.${i}`, 100] as const)] as const)
    moduleOf(stages, id).parameters = { own: 0, total, trainable: total };

  it("says how many blocks it holds by the name of their list, an open one how many parameters", () => {
    expect(itemOf(stages, "s")?.detail).toBe("Stage · 3 layers");
    expect(itemOf(stages, "s", { expanded: ["s"] })?.detail).toBe("Stage · 300");
  });

  it("counts blocks, not calls of one", () => {
    const again = structuredClone(stages);
    for (const i of [1, 2]) moduleOf(again, `s.layers.${i}`).path = "s.layers.0";
    expect(itemOf(again, "s")?.detail).toBe("Stage · 300");
  });

  /** Attention that splits 64 features. */
  function attention(query: number[], width: number): GraphData {
    const made = sketch("x > a.q/linear > a/scaled_dot_product_attention > a.o/linear > y", {
      ...{ a: "SelfAttention", "a.q": "Linear", "a.o": "Linear" },
    });
    moduleOf(made, "a").parameters = { own: 0, total: 4096, trainable: 4096 };
    made.parameters["a.q.weight"] = { shape: [width, 64], dtype: "float32", owner: "a.q" };
    made.tensors["a.q/linear:0"] = { shape: query, dtype: "float32" };
    for (const edge of made.adjacency["a.q/linear"] ?? []) edge.argument = "query";
    return made;
  }

  it("says how many heads its attention has, if a weight is as wide as these", () => {
    expect(itemOf(attention([1, 4, 9, 16], 64), "a")?.detail).toBe("SelfAttention · 4 heads");
    // windows, not heads: 5 × 64 is no width
    expect(itemOf(attention([1, 5, 9, 64], 64), "a")?.detail).toBe("SelfAttention · 4.1K");
    expect(itemOf(attention([5, 9, 64], 64), "a")?.detail).toBe("SelfAttention · 4.1K");
  });
});

describe("frames with narrow boxes", () => {
  it("have other layouts than those with usual ones", () => {
    const { root } = view(index(gated), CLOSED);
    const { root: narrow } = view(index(gated), { ...CLOSED, narrow: true });
    expect(frameKey(narrow)).not.toBe(frameKey(root));
  });
});
