/**
 * Very dense or long graphs: layout terminates, overlaps nothing and is deterministic. From left to right, where it takes
 * ten times as long, they are smaller in every run, and as large in `make zoo`.
 */
import { describe, expect, inject, it } from "vitest";
import { draw } from "../../src/draw/draw.js";
import type { GraphData } from "../../src/graph/graph.js";
import { index } from "../../src/graph/indexing.js";
import { layout, type Viz } from "../../src/layout/layout.js";
import type { Direction } from "../../src/view/state.js";
import { view } from "../../src/view/view.js";
import { sketch } from "../sketch.js";
import { strippedInstance } from "../stripped_viz.js";
import { NO_FAULTS, validate } from "../validate.js";

const viz = await strippedInstance();

/** A graph of ops with the given edges, each from an earlier to a later op. */
function wired(count: number, wires: [from: number, to: number][]): GraphData {
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

/** Pseudorandom pairs of numbers below a limit, the smaller first. */
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
/** By size: how many ops, and the edges between them. */
const hard: Record<string, (size: number) => [number, [number, number][]]> = {
  "random edges, six for each op": (size) => [size, pairs(6 * size, size)],
  "ops that all feed as many others": (size) => [
    size,
    each(size / 2).flatMap((a) => each(size / 2).map((b): [number, number] => [a, size / 2 + b])),
  ],
  "a chain of ops, each fed by the first and feeding the last": (size) => [
    size,
    [
      ...each(size - 1).map((i) => [i, i + 1]),
      ...each(size - 4).flatMap((i) => [
        [0, i + 2],
        [i + 1, size - 1],
      ]),
    ] as [number, number][],
  ],
  "a chain of ops": (size) => [size, each(size - 1).map((i) => [i, i + 1])],
};
/** Sizes from the top down, and from left to right. */
const SIZES: Record<string, [number, number]> = {
  "random edges, six for each op": [50, 25],
  "ops that all feed as many others": [24, 24],
  "a chain of ops, each fed by the first and feeding the last": [120, 40],
  "a chain of ops": [1000, 300],
};

describe.each(Object.entries(hard))("%s", (name, graph) => {
  const [large, small] = SIZES[name] ?? [0, 0];
  it.each<[Direction, string, Viz | null]>([
    ["TB", "dot", viz],
    ["LR", "dot", viz],
    ["TB", "the plain layout", null],
  ])("has no overlaps in direction %s by %s", (direction, _, engine) => {
    const [count, wires] = graph(direction === "LR" && !inject("long") ? small : large);
    const made = () =>
      layout(view(index(wired(count, wires)), { expanded: [], unrolled: [], direction, plumbing: true }), engine);
    const first = made();
    expect(validate(first)).toMatchObject({ ...NO_FAULTS, shared: 0 });
    expect(draw(made())).toBe(draw(first));
  });
});
