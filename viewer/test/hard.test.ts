/** Graphs that nobody draws, but some model has: they end, no two things are at one place, and always the same. */
import { instance } from "@viz-js/viz";
import { describe, expect, it } from "vitest";
import { draw } from "../src/draw.js";
import { type Graph, index } from "../src/graph.js";
import { layout, type Viz } from "../src/layout.js";
import { type Direction, view } from "../src/view.js";
import { sketch } from "./sketch.js";
import { NO_FAULTS, validate } from "./validate.js";

const viz = await instance();

/** So many ops, wired as told: later ones read earlier ones. */
function wired(count: number, wires: [from: number, to: number][]): Graph {
  const graph = sketch("x > y");
  const id = (op: number) => `/op'${op}`;
  const ops = Array.from({ length: count }, (_, op) => op);
  graph.nodes = ops.map((op) => ({ kind: "op", id: id(op), name: "torch.op", outputs: [`${id(op)}:0`] }));
  graph.hierarchy = Object.fromEntries(ops.map((op) => [id(op), null]));
  graph.tensors = Object.fromEntries(ops.map((op) => [`${id(op)}:0`, { shape: [op], dtype: "float32" }]));
  graph.adjacency = {};
  wires.forEach(([from, to], i) => {
    const edge = { to: id(to), tensor: `${id(from)}:0`, argument: String(i) };
    graph.adjacency[id(from)] = [...(graph.adjacency[id(from)] ?? []), edge];
  });
  return graph;
}

/** Pairs of numbers below a limit, the smaller first; the same in every run. */
function pairs(count: number, below: number): [number, number][] {
  let seed = 7;
  const next = () => {
    seed = (seed * 1103515245 + 12345) % 2 ** 31;
    return Math.floor((seed / 2 ** 31) * below);
  };
  return Array.from({ length: count }, () => [next(), next()] as const)
    .filter(([a, b]) => a !== b)
    .map(([a, b]) => [Math.min(a, b), Math.max(a, b)]);
}

const each = (count: number) => Array.from({ length: count }, (_, i) => i);
const hard: Record<string, [number, [number, number][]]> = {
  "a thicket": [50, pairs(300, 50)],
  "everything to everything": [24, each(12).flatMap((a) => each(12).map((b): [number, number] => [a, 12 + b]))],
  "a long chain, every op of it fed by the first and feeding the last": [
    120,
    [
      ...each(119).map((i) => [i, i + 1]),
      ...each(116).flatMap((i) => [
        [0, i + 2],
        [i + 1, 119],
      ]),
    ] as [number, number][],
  ],
  "a thousand ops in a row": [1000, each(999).map((i) => [i, i + 1])],
};

describe.each(Object.entries(hard))("%s", (_, [count, wires]) => {
  it.each<[Direction, string, Viz | null]>([
    ["TB", "dot", viz],
    ["LR", "dot", viz],
    ["TB", "nothing", null],
  ])("is clear, running %s, placed by %s", (direction, _, engine) => {
    const made = () =>
      layout(view(index(wired(count, wires)), { expanded: [], unrolled: [], direction, plumbing: true }), engine);
    const first = made();
    expect(validate(first)).toMatchObject({ ...NO_FAULTS, shared: 0 });
    expect(draw(made())).toBe(draw(first));
  });
});
