/** The parts of a comparison: pairs in order, what is beyond doubt, the mirrored report, names of any kind. */
import { describe, expect, it } from "vitest";
import type { NamedSizes } from "../../generated/format.js";
import type { Change } from "../../src/diff/changes/facts.js";
import { textOf } from "../../src/diff/changes/texts.js";
import { differenceOf } from "../../src/diff/difference.js";
import { align } from "../../src/diff/match/align.js";
import { isNumbered, isSameValue, patternOf, stemOf } from "../../src/diff/vocabulary.js";
import type { GraphData } from "../../src/graph/graph.js";
import { caseOf, withCases } from "../cases.js";
import { moduleOf, sketch } from "../sketch.js";

const letters = {
  key: (letter: string) => letter.toLowerCase(),
  score: (a: string, b: string) => Number(a.toLowerCase() === b.toLowerCase()) * (a === b ? 1 : 0.5),
  least: 0.3,
};

function aligned(before: string, after: string): string[] {
  return align([...before], [...after], letters).map(([i, j]) => `${before[i]}${after[j]}`);
}

it("pairs the members of two lists in order", () => {
  expect(aligned("abc", "abc")).toEqual(["aa", "bb", "cc"]);
  expect(aligned("abcd", "abxcd")).toEqual(["aa", "bb", "cc", "dd"]);
  expect(aligned("abcd", "bd")).toEqual(["bb", "dd"]);
  expect(aligned("", "ab")).toEqual([]);
});

it("pairs each member of long lists once, in order", () => {
  const before = Array.from({ length: 700 }, (_, i) => `a${i}`);
  const after = before.filter((_, i) => i % 7 !== 3);
  const same = { key: (name: string) => name, score: (a: string, b: string) => Number(a === b), least: 0.5 };
  const pairs = align(before, after, same);
  expect(pairs.map(([i]) => before[i])).toEqual(after);
});

it("knows numbered names, their stems and the pattern of a path", () => {
  expect(["0", "layer_3", "a.7", "norm", "v2.x"].map(isNumbered)).toEqual([true, true, true, false, false]);
  expect(["layers.0", "layer_3", "norm"].map(stemOf)).toEqual(["layers", "layer_", "norm"]);
  expect(patternOf("h.11.attn#2")).toBe("h.*.attn");
});

it("takes one number and as many equal ones for the same value", () => {
  expect(isSameValue(1, [1, 1])).toBe(true);
  expect(isSameValue([1, 2], [2, 1])).toBe(false);
  expect(isSameValue(0.1, Math.fround(0.1))).toBe(true);
  expect(isSameValue(null, 0)).toBe(false);
  expect(isSameValue(0, 1e-9)).toBe(false);
});

const CLASSES = { block: "Block", "block.fc": "Linear", "block.act": "ReLU", "block.last": "Linear" };

function net(text: string, change: (graph: GraphData) => void = () => {}): string {
  const graph = sketch(text, CLASSES);
  change(graph);
  return JSON.stringify(graph);
}

const PLAIN = "x > block.fc/linear > block.act/relu > block.last/linear > y";

it("names other cases, but not forced ones whose line has moved", () => {
  const exits = (...names: string[]) => {
    const cases = names.map((name) => caseOf(name, { forced: name.includes(":") }));
    return JSON.stringify(withCases(sketch("x > a > b > y\nx > c > y"), cases, { c: [1] }));
  };
  const changes = (after: string) =>
    (differenceOf(exits("as traced", "net.py:4 yes"), after).changes ?? []).map((change) => textOf(change as Change));
  expect(changes(exits("as traced", "net.py:7 yes"))).toEqual([]);
  expect(changes(exits("infer", "net.py:4 yes"))).toEqual(["case infer added", "case as traced removed"]);
});

it("says that an output is another value under its name", () => {
  const was = sketch("x > norm > y\nx > relu > z");
  const is = sketch("x > norm > z\nx > relu > y");
  expect(differenceOf(JSON.stringify(was), JSON.stringify(is))).toMatchObject({
    ...{ same: false, same_computation: false },
    changes: [{ id: "output-rewired" }, { id: "output-rewired" }],
  });
});

it("takes another order of ops for a change of results, unless only views are elsewhere", () => {
  const change = (before: string, after: string) =>
    differenceOf(JSON.stringify(sketch(before)), JSON.stringify(sketch(after))).changes.map(({ id, level }) => [
      id,
      level,
    ]);
  expect(change("x > mul > relu > add > y", "x > relu > mul > add > y")).toEqual([["op-order", "notable"]]);
  expect(change("x > mul > view > add > y", "x > view > mul > add > y")).toEqual([["rearranged", "detail"]]);
});

it("says nothing of two equal graphs", () => {
  expect(differenceOf(net(PLAIN), net(PLAIN))).toMatchObject({ same: true, same_computation: true, changes: [] });
});

it.each([
  ["another order", "x > block.act/relu > block.fc/linear > block.last/linear > y"],
  ["one op more", "x > block.fc/linear > block.act/relu > block.last/linear > tanh > y"],
  ["a layer less", "x > block.fc/linear > block.act/relu > y"],
  ["another output", "x > block.fc/linear > block.act/relu > block.last/linear > z"],
])("says the same the other way round: %s", (_, text) => {
  const [there, back] = [differenceOf(net(PLAIN), net(text)), differenceOf(net(text), net(PLAIN))];
  expect(there.changes.length).toBeGreaterThan(0);
  expect(back.changes.map(({ before, after, count }) => [after, before, count])).toEqual(
    there.changes.map(({ before, after, count }) => [before, after, count]),
  );
  expect(back.changes.map(({ places }) => places.map(([x, y]) => [y, x]))).toEqual(
    there.changes.map(({ places }) => places),
  );
  expect([back.before, back.after]).toEqual([there.after, there.before]);
  expect(back.checkpoints.gone).toEqual(there.checkpoints.new);
});

it("names the example inputs in the order of the question", () => {
  const wide = net(PLAIN, (graph) => {
    for (const tensor of Object.values(graph.tensors)) tensor.shape = [3, 8];
  });
  expect(differenceOf(net(PLAIN), wide).reservations).toEqual(["the example inputs differ: x is 1×8 and 3×8"]);
  expect(differenceOf(wide, net(PLAIN)).reservations).toEqual(["the example inputs differ: x is 3×8 and 1×8"]);
});

it("tells another dtype of an output", () => {
  const half = net(PLAIN, (graph) => {
    const last = Object.keys(graph.tensors).at(-1) ?? "";
    Object.assign(graph.tensors[last] ?? {}, { dtype: "float16" });
  });
  expect(differenceOf(net(PLAIN), half).changes.map(({ id, level }) => [id, level])).toContainEqual([
    "output-dtype",
    "notable",
  ]);
});

it("takes arguments and classes for what they are, whatever they are called", () => {
  const names = ["__proto__", "constructor", "toString", "hasOwnProperty"];
  const hostile = net(PLAIN, (graph) => {
    const attributes = JSON.parse(`{${names.map((name) => `"${name}": 7`).join()}}`);
    Object.assign(moduleOf(graph, "block.fc"), { attributes, class: "constructor" });
  });
  const found = differenceOf(net(PLAIN), hostile);
  expect(found.changes.map(({ id }) => id)).toContain("class");
  expect(JSON.stringify(found)).not.toContain("native code");
});

it("counts the members of a list that has another name, too", () => {
  const list = (name: string, length: number) => {
    const steps = Array.from({ length }, (_, i) => `${name}.${i}/norm > ${name}.${i}/linear`);
    return JSON.stringify(sketch(`x > ${steps.join(" > ")} > y`));
  };
  const said = (before: string, after: string) => differenceOf(before, after).changes.map(({ text }) => text);
  const [three, four] = [list("layers", 3), list("blocks", 4)];
  expect(said(three, four)).toContainEqual(expect.stringContaining("blocks: 3 → 4 × "));
  expect(said(four, three)).toContainEqual(expect.stringContaining("blocks: 4 → 3 × "));
});

it("takes the factors of a product in another order for a detail", () => {
  const product = sketch("x > sigmoid\nx > relu\nsigmoid > mul > y\nrelu > mul");
  const exchange = (_: string, value: { to?: string; argument: string }) =>
    value?.to === "/mul" ? { ...value, argument: String(1 - Number(value.argument)) } : value;
  const exchanged = JSON.stringify(product, exchange);
  const { same, same_computation, changes } = differenceOf(JSON.stringify(product), exchanged);
  expect([same, same_computation, changes.map(({ id, level }) => [id, level])]).toEqual([
    false,
    true,
    [["other", "detail"]],
  ]);
});

it("says once where a renamed module is", () => {
  const change = { id: "renamed", subject: "", before: "head", count: 1, parameters: 0 };
  const text = (after: string, ...where: string[]) => textOf({ ...change, after, where } as unknown as Change);
  expect(text("classifier", "classifier")).toBe("renamed: head → classifier");
  expect(text("mlp", "layers.*.mlp")).toBe("renamed: head → mlp at layers.*.mlp");
});

/** The plain net with names of the sizes of its input, `B×T`; its costs grow as given. */
function grown(costs: Record<string, string>, more: Partial<NamedSizes> = {}): string {
  return net(PLAIN, (graph) => {
    const sizes = { B: { size: 1, places: [["input:x:0", 0]] }, T: { size: 8, places: [["input:x:0", 1]] } };
    const named = { sizes, tensors: { "input:x:0": ["B", "T"] }, flops: costs, ...more };
    graph.sizes = named as unknown as NamedSizes;
    for (const node of graph.nodes) if (node.kind === "op") node.flops = 100;
  });
}

function texts(before: string, after: string): string[] {
  return differenceOf(before, after).changes.map(({ text }) => text);
}

describe("sizes with names", () => {
  const square = grown({ "block.fc/linear": "B*T*T+4*T", "block.act/relu": "B*T" });

  it("tell where costs grow faster or slower, once", () => {
    const linear = grown({ "block.fc/linear": "9*B*T", "block.act/relu": "B*T" });
    expect(texts(square, linear)).toEqual(["FLOPs quadratic in T → linear in T at block.fc"]);
    expect(texts(linear, square)).toEqual(["FLOPs linear in T → quadratic in T at block.fc"]);
    expect(texts(square, grown({}))).toEqual([
      "FLOPs linear in B, linear in T → independent of B, independent of T at block.act",
      "FLOPs linear in B, quadratic in T → independent of B, independent of T at block.fc",
    ]);
    expect(texts(linear, grown({ "block.fc/linear": "7*B*T+T", "block.act/relu": "B*T" }))).toEqual([]);
  });

  it("count loops, and leave out what is unknown or has other names", () => {
    const once = { "block.fc/linear": "B*T" };
    const looped = grown(once, { times: { "block.fc": "ceil(T/2)" } });
    expect(texts(grown(once), looped)).toEqual(["FLOPs linear in T → quadratic in T at block"]);
    const unknown = grown({ "block.act/relu": "B*T" }, { unknown: { "block.fc/linear": "no simple expression" } });
    expect(texts(square, unknown)).toEqual([]);
    expect(texts(square, grown({}, { sizes: { N: { size: 1 } }, tensors: {} }))).toEqual([]);
    expect(texts(square, net(PLAIN))).toEqual(texts(net(PLAIN), grown({})));
  });

  it("tell shapes apart that have the same numbers, where they come from", () => {
    const tensors = { "input:x:0": ["B", "T"], "block.fc/linear:0": ["B", "T"], "block.act/relu:0": ["B", "T"] };
    const fixed = { ...tensors, "block.fc/linear:0": ["B", null], "block.act/relu:0": ["B", null] };
    const shaped = (given: Record<string, (string | null)[]>) => grown({}, { tensors: given as never });
    expect(texts(shaped(tensors), shaped(fixed))).toEqual(["shape of linear B×T → B×8 at block.fc"]);
  });
});
