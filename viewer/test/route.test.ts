import { instance } from "@viz-js/viz";
import { describe, expect, it } from "vitest";
import { index } from "../src/graph.js";
import { layout } from "../src/layout.js";
import { type Direction, view } from "../src/view.js";
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
