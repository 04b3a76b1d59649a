import { instance } from "@viz-js/viz";
import { describe, expect, it } from "vitest";
import { BEHIND_PANEL } from "../src/box.js";
import { index } from "../src/graph.js";
import { layout } from "../src/layout.js";
import { type Direction, type State, view } from "../src/view.js";
import { sketch } from "./sketch.js";
import { NO_FAULTS, validate } from "./validate.js";

const viz = await instance();

describe("what is added on the way", () => {
  /** Embeddings of words, kinds and places, one after the other. */
  const graph = sketch(
    `
    k > kind/embedding
    x > word/embedding > linear > relu
    kind/embedding > add
    relu > add
    p > place/embedding > add'2
    add > add'2 > norm > y
    `,
    { word: "Embedding", kind: "Embedding", place: "Embedding" },
  );

  it.each(["TB", "LR"] as Direction[])("comes from the side where it is, running %s", (direction) => {
    const faults = validate(layout(view(index(graph), { expanded: [], unrolled: [], direction }), viz));
    expect(faults).toMatchObject({ ...NO_FAULTS, shared: 0, crossings: 0 });
  });
});

describe("tensors that go on in the next line in another order", () => {
  const graph = sketch(
    `
    x > one/norm > one/relu > one/gelu
    z > two/norm
    one/gelu > two/norm
    two/norm > two/relu > two/gelu > y
    one/norm > first
    `,
    { one: "Encoder", two: "Decoder" },
  );

  it("run straight, but for one that crosses them", () => {
    const state: State = { expanded: ["one", "two"], unrolled: [], direction: "LR", line: 420 };
    const { root } = layout(view(index(graph), state), viz);
    const steps = root.geometry.lines.flatMap((line) =>
      line.slice(1).map(([x], i) => Math.abs(x - (line[i]?.[0] ?? x))),
    );
    expect(steps.filter((step) => step > 0.1 && step < 8)).toEqual([]);
  });
});

describe("a rolled panel", () => {
  it.each(["TB", "LR"] as Direction[])("has room for the cards behind it, running %s", (direction) => {
    const graph = sketch(`x > ${[0, 1, 2].map((i) => `b.${i}/norm > b.${i}/mul`).join(" > ")} > y\nb.2/mul > z`);
    const { root } = layout(view(index(graph), { expanded: ["b.0"], unrolled: [], direction }), viz);
    const panel = root.geometry.boxes[root.frame.items.findIndex((item) => item.frame !== null)];
    const end = direction === "TB" ? (panel?.y ?? 0) + (panel?.height ?? 0) : (panel?.x ?? 0) + (panel?.width ?? 0);
    // where the two tensors part
    const bends = root.geometry.lines.flatMap((line) =>
      line.slice(1, -1).map(([x, y]) => (direction === "TB" ? y : x)),
    );
    const behind = bends.filter((at) => at > end);
    expect(behind.length).toBeGreaterThan(0);
    expect(Math.min(...behind)).toBeGreaterThanOrEqual(end + BEHIND_PANEL + 4);
  });
});
