/** The initial state for the author's options. */
import { describe, expect, it } from "vitest";
import type { GraphData } from "../../../src/graph/graph.js";
import { index } from "../../../src/graph/indexing.js";
import type { Item } from "../../../src/view/frame.js";
import type { ViewOptions } from "../../../src/view/options.js";
import { view } from "../../../src/view/view.js";
import { firstState } from "../../first_state.js";
import { chain } from "../../fixtures.js";
import { sketch } from "../../sketch.js";

/** Ids of the modules that are expanded in the initial view. */
function open(graph: GraphData, options: ViewOptions): string[] {
  const found: string[] = [];
  const visit = (items: Item[]) => {
    for (const { id, kind, frame } of items) {
      if (frame === null) continue;
      if (kind !== "group") found.push(id);
      visit(frame.items);
    }
  };
  visit(view(index(graph), firstState(index(graph), options)).root.items);
  return found;
}

/**
 *     x ─ [l.0] ─ [l.1] ─ [l.2] ─ y        three equal layers, each with an attention and an mlp of two ops
 */
const layers = sketch(
  `x > ${[0, 1, 2].map((i) => `l.${i}.a/norm > l.${i}.a/mul > l.${i}.m/relu > l.${i}.m/gelu`).join(" > ")} > y`,
  Object.fromEntries(
    [0, 1, 2].flatMap((i) => [
      [`l.${i}`, "Layer"],
      [`l.${i}.a`, "Attention"],
      [`l.${i}.m`, "Mlp"],
    ]),
  ),
);

/**
 *     x ─ [a.0] ─ [b.0] ─ [b.1] ─ [b.2] ─ [a.1] ─ [b.3] ─ [b.4] ─ [b.5] ─ y        a shorter run in each repeat
 */
const mixed = sketch(
  `x > ${["a.0", "b.0", "b.1", "b.2", "a.1", "b.3", "b.4", "b.5"].map((id) => (id.startsWith("a") ? `${id}/norm > ${id}/mul` : `${id}/relu > ${id}/gelu`)).join(" > ")} > y`,
  Object.fromEntries(["a.0", "a.1", "b.0", "b.1", "b.2", "b.3", "b.4", "b.5"].map((id) => [id, id[0] ?? ""])),
);

/**
 *     x ─ [e [e.0] ─ [e.1] ─ [e.2]] ─ y        one box, e.0–2 ×3
 */
const encoder = sketch(
  `x > ${[0, 1, 2].map((i) => `e.${i}.a/norm > e.${i}.a/mul > e.${i}.m/relu > e.${i}.m/gelu`).join(" > ")} > y`,
  Object.fromEntries([
    ["e", "Encoder"],
    ...[0, 1, 2].flatMap((i) => [
      [`e.${i}`, "Layer"],
      [`e.${i}.a`, "Attention"],
      [`e.${i}.m`, "Mlp"],
    ]),
  ]),
);

describe("a module that shares a box with its run", () => {
  it("is expanded by either name, unless one of them is to be collapsed", () => {
    expect(open(encoder, { depth: 1 })).toEqual(["e"]);
    expect(open(encoder, { expand: ["e"] })).toEqual(["e"]);
    expect(open(encoder, { expand: ["Layer"] })).toEqual(["e"]);
    expect(open(encoder, { expand: ["Attention"] })).toEqual(["e", "e.0.a"]);
    expect(open(encoder, { expand: ["e.1"] })).toEqual(["e", "e.1"]);
    expect(open(encoder, { depth: 2, collapse: ["Layer"] })).toEqual([]);
    expect(open(encoder, { expand: ["e.*"], collapse: ["e.0"] })).toEqual([
      "e",
      "e.1",
      "e.1.a",
      "e.1.m",
      "e.2",
      "e.2.a",
      "e.2.m",
    ]);
  });
});

describe("expand", () => {
  it("keeps a run folded if all members are expanded equally", () => {
    expect(open(layers, { expand: ["l.*"] })).toEqual(["l.0", "l.0.a", "l.0.m"]);
    expect(open(layers, { expand: ["Attention"] })).toEqual(["l.0", "l.0.a"]);
    expect(open(layers, { expand: ["l.0"] })).toEqual(["l.0"]);
  });

  it("unrolls a run whose members are expanded differently", () => {
    expect(open(layers, { expand: ["l.0", "l.1.m"] })).toEqual(["l.0", "l.1", "l.1.m"]);
    expect(open(layers, { expand: ["l.1.a", "l.2.m"] })).toEqual(["l.1", "l.1.a", "l.2", "l.2.m"]);
  });

  it("unrolls a run whose first member is to stay collapsed", () => {
    expect(open(chain, { expand: ["b.*"], collapse: ["b.0"] })).toEqual(["b.1", "b.2"]);
    expect(open(layers, { depth: 1, collapse: ["l.0"] })).toEqual([]);
  });

  it("finds members of a run inside a repeat, and of a later repeat", () => {
    expect(open(mixed, { expand: ["b.2"] })).toEqual(["b.2"]);
    expect(open(mixed, { expand: ["b.4"] })).toEqual(["b.4"]);
    expect(open(mixed, { expand: ["b"] })).toEqual(["b.0"]);
  });
});

describe("without options", () => {
  it("opens attention, whatever its module is called", () => {
    const block = sketch("x > stem/linear > block/qkv > block/sdpa > block/proj > y", { block: "PreNormBlock" });
    expect(open(block, {})).toEqual(["block"]);
  });

  it("shows at most about forty nodes, even on a large page", () => {
    const names = ["one", "two", "three", "four"];
    const inside = (name: string) =>
      `${["a", "b"].map((part) => `${name}.${part}/norm > ${name}.${part}/mul`).join(" > ")} > ${name}/relu > ${name}/gelu`;
    const parts = names.flatMap((name) => [name, `${name}.a`, `${name}.b`]);
    const graph = sketch(
      `x > ${[...names, ...names.map((name) => `${name}2`)].map(inside).join(" > ")} > y`,
      Object.fromEntries([...parts, ...parts.map((part) => part.replace(/^\w+/, "$&2"))].map((part) => [part, part])),
    );
    const opened = open(graph, { fit: [9000, 9000] });
    const closed = open(graph, { depth: 9 }).filter((id) => !opened.includes(id));
    // ten boxes, four more for each of seven open blocks, two more for one of their layers
    expect(closed).toHaveLength(16);
  });
});

/**
 *     x ─ [text [text.a …] ] ─ ⊕ ─ y        two towers, each with several blocks side by side
 *     z ─ [vision [vision.a …]] ┘
 */
function towers(names: string[], broad: number, classes = ["TextModel", "VisionModel"]): GraphData {
  const ids = [0, 1].map((tower) => names.map((name) => `t${tower}.${name.padEnd(broad, "_")}`));
  return sketch(
    ids
      .flatMap((blocks, tower) => [
        ...blocks.map((id) => `x${tower} > ${id}/norm > ${id}/mul`),
        ...blocks.map((id) => `${id}/mul > t${tower}/cat`),
      ])
      .concat(["t0/cat > add > y", "t1/cat > add"])
      .join("\n"),
    Object.fromEntries([
      ...classes.map((name, tower) => [`t${tower}`, name]),
      ...ids.flat().map((id, i) => [id, `Part${i}`]),
    ]),
  );
}

describe("two towers", () => {
  const opened = (...given: Parameters<typeof towers>) => open(towers(...given), {}).filter((id) => /^t\d$/.test(id));
  const unrelated = ["TextModel", "Backbone"];

  it("expand together", () => {
    expect(opened(["a", "b"], 9)).toEqual(["t0", "t1"]);
  });

  it("stay collapsed together if they are too broad", () => {
    expect(opened(["a", "b"], 15)).toEqual([]);
    expect(opened(["a", "b"], 15, unrelated)).toEqual(["t0"]);
  });
});

describe("direction", () => {
  it("comes from the last matching pattern, also for a module named 0", () => {
    const numbered = sketch("x > 0/linear > 0/relu > 1/linear > 1/relu > y", { "0": "One", "1": "Two" });
    const turned = (...direction: [string, "TB" | "LR"][]) => firstState(index(numbered), { direction });
    expect(turned(["*", "LR"], ["0", "TB"])).toMatchObject({ direction: "LR", turned: ["0"] });
    expect(turned(["0", "TB"], ["*", "LR"]).turned).toBeUndefined();
    expect(turned(["0", "TB"], ["1", "LR"])).toMatchObject({ direction: "TB", turned: ["1"] });
  });
});

describe("patterns", () => {
  it("match any character with ?, also outside the basic plane", () => {
    const named = sketch("x > block😀/linear > block😀/relu > y", { "block😀": "One" });
    expect(open(named, { expand: ["block?"] })).toEqual(["block😀"]);
  });
});
