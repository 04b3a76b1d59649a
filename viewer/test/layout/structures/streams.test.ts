/** Parallel streams, as in HRNet: each keeps its place from stage to stage, and new ones stand at its right. */
import { expect, it } from "vitest";
import type { GraphData } from "../../../src/graph/graph.js";
import { index } from "../../../src/graph/indexing.js";
import { branchesOf } from "../../../src/layout/decross/branches.js";
import { plan } from "../../../src/layout/input.js";
import { type Box, layout } from "../../../src/layout/layout.js";
import { placesOf, streamsOf } from "../../../src/layout/structures/streams.js";
import { view } from "../../../src/view/view.js";
import { sketch } from "../../sketch.js";
import { strippedInstance } from "../../stripped_viz.js";
import { NO_FAULTS, validate } from "../../validate.js";

const viz = await strippedInstance();

/** A stage with a module for each stream and one that fuses them; `from` are the streams it reads. */
function stage(id: string, from: string[]): string[] {
  const streams = from.map((source, i) => `${source} > ${id}.s${i}/conv2d > ${id}.s${i}/relu`);
  const sums = from.map((_, i) => `${id}.s0/relu > ${id}.fuse/conv2d'${i} > ${id}.fuse/relu'${i}`);
  const others = from.flatMap((_, i) => from.slice(1).map((_, k) => `${id}.s${k + 1}/relu > ${id}.fuse/conv2d'${i}`));
  return [...streams, ...sums, ...others];
}

/** Two stages, of two and of three streams; the tensors of stream `i` have `8 - i` places. */
function network(): GraphData {
  const graph = sketch(
    [
      "x > stem/conv2d > stem/relu > down1/conv2d > down1/relu",
      ...stage("a", ["stem/relu", "down1/relu"]),
      "a.fuse/relu'1 > down2/conv2d > down2/relu",
      ...stage("b", ["a.fuse/relu'0", "a.fuse/relu'1", "down2/relu"]),
      "b.fuse/relu'0 > y",
    ].join("\n"),
    { a: "Stage", b: "Stage", "a.fuse": "Fuse", "b.fuse": "Fuse" },
  );
  const level = (id: string) => Number(/(?:s|relu'|conv2d'|down)(\d)/.exec(id)?.[1] ?? 0);
  for (const [id, tensor] of Object.entries(graph.tensors)) Object.assign(tensor, { shape: [1, 8 - level(id)] });
  return graph;
}

const OPEN = { expanded: ["a", "b"], unrolled: [], direction: "TB" as const };
const middle = ({ x, width }: Box) => x + width / 2;

it("finds the first stream of each stage, and the module beside it", () => {
  const { root } = view(index(network()), OPEN);
  const found = streamsOf(root).map(({ wire, beside }) => [
    root.items[root.wires[wire]?.from ?? -1]?.id,
    root.items[root.wires[wire]?.to ?? -1]?.id,
    root.items[beside]?.id,
  ]);
  expect(found).toEqual([
    ["stem", "a", "down1"],
    ["a", "b", "down2"],
  ]);
});

it("tells by their shapes which streams leave a stage", () => {
  const [a, b] = ["a", "b"].map((id) => view(index(network()), OPEN).root.items.find((item) => item.id === id)?.frame);
  const labels = (ports: "inputs" | "outputs") =>
    a?.[ports].map(
      (_, port) => a.wires.find((one) => (ports === "inputs" ? one.fromPort : one.toPort) === port)?.label,
    );
  expect(a && placesOf(a)?.map((stream) => labels("inputs")?.[stream])).toEqual(labels("outputs"));
  expect(b && placesOf(b)).toEqual([]);
});

it.each([[[]], [["a"]], [["b"]], [["a", "b"]]])("keeps the places of streams, in order: %j", (expanded) => {
  const { root, ...made } = layout(view(index(network()), { ...OPEN, expanded }), viz);
  expect(validate({ root, ...made })).toMatchObject(NO_FAULTS);
  const at = (id: string) => root.frame.items.findIndex((item) => item.id === id);
  const box = (id: string) => root.geometry.boxes[at(id)] as Box;
  expect(middle(box("down1"))).toBeGreaterThan(middle(box("stem")));
  expect(middle(box("down2"))).toBeGreaterThan(box("stem").x + box("stem").width);
  const places = (id: string) => {
    const [inner, { x }] = [root.inner[at(id)], box(id)];
    return inner?.frame.items.flatMap((item, i) =>
      item.id.includes(".s") ? [x + middle(inner.geometry.boxes[i] as Box)] : [],
    );
  };
  const [first, second] = ["a", "b"].map(places);
  for (const row of [first, second]) expect(row).toEqual(row && [...row].sort((a, b) => a - b));
  if (first !== undefined && second !== undefined) expect(second.slice(0, 2)).toEqual(first);
  const straight = root.frame.wires.findIndex(({ from, to }) => from === at("stem") && to === at("a"));
  expect(new Set(root.geometry.lines[straight]?.map(([x]) => x)).size).toBe(1);
});

it("puts what derives a stream at the right of every stage, as HRNet in timm, which derives it first", () => {
  const flow = [
    "x > stem/conv2d > stem/relu > down0/conv2d > down0/relu\nstem/relu > down1/conv2d > down1/relu",
    ...stage("a", ["down0/relu", "down1/relu"]),
    "a.fuse/relu'1 > down2/conv2d > down2/relu",
    ...stage("b", ["a.fuse/relu'0", "a.fuse/relu'1", "down2/relu"]),
    "b.fuse/relu'2 > down3/conv2d > down3/relu",
    ...stage("c", ["b.fuse/relu'0", "b.fuse/relu'1", "b.fuse/relu'2", "down3/relu"]),
    ...[0, 1, 2, 3].map((i) => `c.fuse/relu'${i} > head${i}/conv2d > head${i}/relu`),
    "head0/relu > d0/conv2d > add'0 > d1/conv2d > add'1 > d2/conv2d > add'2 > y",
    "head1/relu > add'0\nhead2/relu > add'1\nhead3/relu > add'2",
  ].join("\n");
  const graph = sketch(flow, Object.fromEntries(["a", "b", "c"].map((id) => [id, "Stage"])));
  const level = (id: string) => Number(/(?:s|relu'|conv2d'|down|head)(\d)/.exec(id)?.[1] ?? 0);
  for (const [id, tensor] of Object.entries(graph.tensors)) {
    const size = 2 ** level(id);
    Object.assign(tensor, { shape: [1, 16 * size, 56 / size, 56 / size] });
  }
  const { root } = layout(view(index(graph), { ...OPEN, expanded: [] }), viz);
  const box = (id: string) => root.geometry.boxes[root.frame.items.findIndex((item) => item.id === id)] as Box;
  expect(middle(box("down2"))).toBeGreaterThan(middle(box("a")));
  expect(middle(box("down3"))).toBeGreaterThan(middle(box("b")));
  const names = (items: number[]) => items.map((item) => root.frame.items[item]?.id);
  expect(branchesOf(plan(root.frame, [])).map(names)).toEqual([
    ["a", "down2"],
    ["b", "down3"],
  ]);
});

it("leaves residuals and tables of positions as they are", () => {
  const flows = [
    "x > a/conv2d > b/conv2d > add > y\na/conv2d > add",
    "x > a/embedding > b/sin > c/conv2d > y\na/embedding > c/conv2d",
  ];
  for (const flow of flows) expect(streamsOf(view(index(sketch(flow)), OPEN).root)).toEqual([]);
});
