/** A convolution with its normalisation and activation is one box. */
import { describe, expect, it } from "vitest";
import type { GraphData } from "../../../src/graph/graph.js";
import { index } from "../../../src/graph/indexing.js";
import type { State } from "../../../src/view/state.js";
import { view } from "../../../src/view/view.js";
import { sketch } from "../../sketch.js";

const CLOSED: State = { expanded: [], unrolled: [], direction: "TB" };
const CLASSES = {
  conv1: "torch.nn.Conv2d",
  bn1: "torch.nn.BatchNorm2d",
  relu1: "torch.nn.ReLU",
  conv2: "torch.nn.Conv2d",
  bn2: "torch.nn.BatchNorm2d",
  relu2: "torch.nn.ReLU",
};
const [FIRST, SECOND] = ["conv1/conv2d > bn1/batch_norm > relu1/relu", "conv2/conv2d > bn2/batch_norm > relu2/relu"];

function names(graph: GraphData, state: Partial<State> = {}): string[] {
  return view(index(graph), { ...CLOSED, ...state }).root.items.map(({ name }) => name);
}

describe("a convolution, its normalisation and its activation", () => {
  const graph = sketch(`x > ${FIRST} > pool > y`, CLASSES);
  const id = "bundle:conv1+2";

  it("are one box, unless the state has none", () => {
    expect(names(graph)).toEqual(["x", "conv1 · bn1 · relu1", "pool", "y"]);
    expect(names(graph, { layers: false })).toEqual(["x", "conv1", "bn1", "relu1", "pool", "y"]);
  });

  it("open like a module", () => {
    const [, box] = view(index(graph), { ...CLOSED, expanded: [id] }).root.items;
    expect(box?.frame?.items.map(({ name }) => name)).toEqual(["conv1", "bn1", "relu1"]);
    expect([box?.id, box?.family]).toEqual([id, "convolution"]);
  });

  it("also form a box as ops, and without an activation", () => {
    expect(names(sketch("x > conv2d > batch_norm > pool > y"))).toEqual(["x", "conv2d · batch_norm", "pool", "y"]);
  });

  it("stay apart without a normalisation", () => {
    expect(names(sketch("x > conv2d > relu > pool > y"))).toEqual(["x", "conv2d", "relu", "pool", "y"]);
  });

  it("form a box for each convolution, before or after it", () => {
    expect(names(sketch(`x > ${FIRST} > ${SECOND} > y`, CLASSES))).toEqual(["x", "conv1–2 · bn1–2 · relu1–2", "y"]);
    const before = "bn1/batch_norm > relu1/relu > conv1/conv2d > bn2/batch_norm > relu2/relu > conv2/conv2d > relu";
    expect(names(sketch(`x > ${before} > y`, CLASSES))).toEqual(["x", "bn1–2 · relu1–2 · conv1–2", "relu", "y"]);
  });

  it("stay apart where another node reads what passes between them", () => {
    const skip = sketch(`x > ${FIRST} > add > y\nconv1/conv2d > add`, CLASSES);
    expect(names(skip)).toEqual(["x", "conv1", "bn1", "relu1", "add", "y"]);
  });

  it("stay apart if they are all there is", () => {
    expect(names(sketch(`x > ${FIRST} > y`, CLASSES))).toEqual(["x", "conv1", "bn1", "relu1", "y"]);
  });

  it("stay apart if the author annotated one of them", () => {
    const annotated: GraphData = { ...graph, annotations: { bn1: { key: "a", rename: "norm" } } };
    expect(names(annotated)).toEqual(["x", "conv1", "norm", "relu1", "pool", "y"]);
  });
});

describe("the name of repeated modules", () => {
  const run = (numbers: number[]) => {
    const blocks = numbers.map((i) => `b.${i}/norm > b.${i}/mul`).join(" > ");
    const classes = Object.fromEntries(numbers.map((i) => [`b.${i}`, "Block"]));
    return names(sketch(`x > ${blocks} > y`, classes))[1];
  };

  it("is a range if it stands for all of its numbers", () => {
    expect(run([0, 1, 2, 3])).toBe("b.0–3");
  });

  it("lists numbers with others between them", () => {
    expect(run([2, 5, 8])).toBe("b.2, 5, 8");
    expect(run([2, 5, 8, 11])).toBe("b.2, 5, … 11");
    expect(run([11, 8, 5, 2])).toBe("b.2, 5, … 11");
  });
});
