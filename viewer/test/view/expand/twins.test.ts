/** Calls of one module side by side, which are open or closed together. */
import { expect, it } from "vitest";
import type { GraphData } from "../../../src/graph/graph.js";
import { index } from "../../../src/graph/indexing.js";
import { toggle } from "../../../src/view/expand/toggle.js";
import type { State } from "../../../src/view/state.js";
import { firstState } from "../../first_state.js";
import { moduleOf, sketch } from "../../sketch.js";

const CLASSES = { net: "Tower", net2: "Tower", "net.a": "Conv2d", "net2.a": "Conv2d" };
const CLOSED: State = { expanded: [], unrolled: [], direction: "TB" };

/** A module called twice. */
function twice(text: string): GraphData {
  const graph = sketch(text, CLASSES);
  Object.assign(moduleOf(graph, "net2"), { path: "net", call: 2 });
  return graph;
}

/**
 *     left ─ [net] ─┐
 *                   sub ─ y
 *     right ─ [net] ┘
 */
const siamese = twice("left > net.a/conv2d > net/relu\nright > net2.a/conv2d > net2/relu > sub > y\nnet/relu > sub");

it("opens both calls of a siamese network at first", () => {
  expect(firstState(index(siamese)).expanded).toEqual(["net", "net2"]);
});

it("opens and closes both calls at a click", () => {
  const open = toggle(index(siamese), CLOSED, "net2");
  expect(open.expanded).toEqual(["net", "net2"]);
  expect(toggle(index(siamese), open, "net").expanded).toEqual([]);
});

it("opens only one of two calls in a row", () => {
  const row = twice("x > net.a/conv2d > net/relu > mul > net2.a/conv2d > net2/relu > y");
  expect(toggle(index(row), CLOSED, "net2").expanded).toEqual(["net2"]);
});
