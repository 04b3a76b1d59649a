import { instance } from "@viz-js/viz";
import { describe, expect, it } from "vitest";
import { index } from "../../../src/graph/indexing.js";
import { BEHIND_PANEL } from "../../../src/layout/coord/metrics.js";
import { layout } from "../../../src/layout/layout.js";
import type { Direction, State } from "../../../src/view/state.js";
import { view } from "../../../src/view/view.js";
import { sketch } from "../../sketch.js";
import { NO_FAULTS, validate } from "../../validate.js";

const viz = await instance();

describe("a tensor added to the trunk", () => {
  /** Embeddings of words, kinds and positions, added one after the other. */
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

  it.each(["TB", "LR"] as Direction[])("arrives from the side of its source in direction %s", (direction) => {
    const faults = validate(layout(view(index(graph), { expanded: [], unrolled: [], direction }), viz));
    expect(faults).toMatchObject({ ...NO_FAULTS, shared: 0, crossings: 0 });
  });
});

describe("wires between lines in another order", () => {
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

  it("run straight except for one that crosses the others", () => {
    const state: State = { expanded: ["one", "two"], unrolled: [], direction: "LR", line: 420 };
    const { root } = layout(view(index(graph), state), viz);
    const steps = root.geometry.lines.flatMap((line) =>
      line.slice(1).map(([x], i) => Math.abs(x - (line[i]?.[0] ?? x))),
    );
    expect(steps.filter((step) => step > 0.1 && step < 8)).toEqual([]);
  });
});

describe("the panel of a folded run", () => {
  it.each(["TB", "LR"] as Direction[])("has space for the cards behind it in direction %s", (direction) => {
    const graph = sketch(`x > ${[0, 1, 2].map((i) => `b.${i}/norm > b.${i}/mul`).join(" > ")} > y\nb.2/mul > z`);
    const { root } = layout(view(index(graph), { expanded: ["b.0"], unrolled: [], direction }), viz);
    const panel = root.geometry.boxes[root.frame.items.findIndex((item) => item.frame !== null)];
    const end = direction === "TB" ? (panel?.y ?? 0) + (panel?.height ?? 0) : (panel?.x ?? 0) + (panel?.width ?? 0);
    // where the two wires diverge
    const bends = root.geometry.lines.flatMap((line) =>
      line.slice(1, -1).map(([x, y]) => (direction === "TB" ? y : x)),
    );
    const behind = bends.filter((at) => at > end);
    expect(behind.length).toBeGreaterThan(0);
    expect(Math.min(...behind)).toBeGreaterThanOrEqual(end + BEHIND_PANEL + 4);
  });
});
