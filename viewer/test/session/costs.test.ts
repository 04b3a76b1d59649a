/** What nodes cost, and what the boxes of pictures stand for. */
import { describe, expect, it, vi } from "vitest";
import type { GraphData, GraphIndex } from "../../src/graph/graph.js";
import { Costs } from "../../src/session/costs.js";
import { movedBytes } from "../../src/session/moved_bytes.js";
import { Session } from "../../src/session/session.js";
import type { State } from "../../src/view/state.js";
import { boxAround } from "../../src/widget/lenses/box_around.js";
import albert from "../graphs/albert.json";
import cnn from "../graphs/cnn.json";
import lstm from "../graphs/lstm.json";
import translator from "../graphs/translator.json";
import unrolled from "../graphs/unrolled.json";
import { sketch } from "../sketch.js";

const GRAPHS = { albert, cnn, lstm, translator, unrolled } as unknown as Record<string, GraphData>;
const CLOSED: State = { expanded: [], unrolled: [], direction: "TB" };

/** A session that shows everything there is, with every module open or closed. */
function shown(graph: GraphData, isOpen: boolean): Session {
  const modules = graph.nodes.filter(({ kind }) => kind === "module").map(({ id }) => id);
  return new Session({ graph, state: { ...CLOSED, plumbing: true, expanded: isOpen ? modules.sort() : [] } });
}

function boxesOf(session: Session) {
  return session
    .rolled()
    .boxes(session.frame)
    .filter(({ item }) => item.frame === null);
}

describe.each(Object.entries(GRAPHS))("the costs of %s", (_, graph) => {
  it("are those of the graph", () => {
    const costs = new Costs(new Session({ graph, state: CLOSED }).grouped);
    for (const node of graph.nodes) {
      if (node.kind !== "module") continue;
      const { parameters, flops, memory } = costs.of([node.id]);
      expect({ parameters, flops, memory }).toEqual({
        parameters: node.parameters.total,
        flops: node.flops ?? undefined,
        memory: node.activation_bytes ?? undefined,
      });
    }
  });

  it.each([false, true])("add up to the whole over the boxes of a picture (all open: %s)", (isOpen) => {
    const session = shown(graph, isOpen);
    const costs = new Costs(session.grouped);
    const boxes = boxesOf(session);
    const ids = boxes.flatMap((box) => box.ids);
    expect(new Set(ids).size).toBe(ids.length);
    const index: GraphIndex = session.visibleGraph();
    const of = (what: "flops" | "memory" | "moved") =>
      boxes.reduce((all, { ids }) => all + (costs.of(ids, index)[what] ?? 0), 0);
    expect([of("flops"), of("memory"), of("moved")]).toEqual([
      costs.whole.flops,
      costs.whole.memory,
      costs.whole.moved,
    ]);
    expect(costs.of(ids, index).parameters).toBe(costs.whole.parameters);
  });
});

it("reads the names of weights once, however many modules there are", () => {
  const session = shown(GRAPHS.translator as GraphData, true);
  const names = vi.spyOn(session.grouped.graph.parameters, "keys");
  const costs = new Costs(session.grouped);
  for (const { ids } of boxesOf(session)) costs.of(ids, session.visibleGraph());
  expect(names).toHaveBeenCalledTimes(1);
});

it("shows an op of a closed bundle in the bundle's box", () => {
  const chain = sketch(`x > ${Array.from({ length: 60 }, (_, i) => `op${i}`).join(" > ")} > y`);
  const session = new Session({ graph: chain, state: { ...CLOSED, most: 5 } });
  const boxes = new Map(boxesOf(session).flatMap(({ item, ids }) => ids.map((id) => [id, item.id])));
  expect(boxAround(session, boxes, "/op30")).toBe("bundle:/op2+55");
  expect(boxAround(session, boxes, "/op1")).toBe("/op1");
});

describe("a box for equal blocks", () => {
  it("stands for all of them, and so does what is in it", () => {
    const session = shown(GRAPHS.cnn as GraphData, true);
    const rolled = boxesOf(session).filter(({ ids }) => ids.length > 1);
    expect(rolled.length).toBeGreaterThan(0);
    for (const { item, ids } of rolled) {
      const nodes = ids.map((id) => session.visibleGraph().nodes.get(id));
      expect(new Set(nodes.map((node) => node?.kind))).toEqual(new Set([item.kind]));
    }
  });

  it("counts weights once where the blocks share them", () => {
    const session = new Session({ graph: GRAPHS.albert as GraphData, state: CLOSED });
    const costs = new Costs(session.grouped);
    const shared = boxesOf(session).find(({ ids }) => ids.length > 1);
    const one = costs.of(shared?.ids.slice(0, 1) ?? []);
    const all = costs.of(shared?.ids ?? []);
    expect(all.parameters).toBe(one.parameters);
    expect(all.flops).toBe((shared?.ids.length ?? 0) * (one.flops ?? 0));
  });
});

describe("moved bytes", () => {
  const moved = (name: string, more: object = {}, output = [2, 4]) => {
    const graph = {
      ...(GRAPHS.cnn as GraphData),
      nodes: [
        { kind: "input", id: "input:x", name: "x", outputs: ["x"] },
        { kind: "op", id: "/op", name, outputs: ["y"], activation_bytes: 32, ...more },
      ],
      adjacency: { "input:x": [{ to: "/op", tensor: "x", argument: "self" }] },
      hierarchy: {},
      tensors: { x: { shape: [2, 8], dtype: "float32" }, y: { shape: output, dtype: "float32" } },
      parameters: { w: { shape: [4, 8], dtype: "bfloat16", owner: "" } },
    } as unknown as GraphData;
    return movedBytes(new Session({ graph, state: CLOSED }).traced).get("") ?? 0;
  };

  it("are what an op reads and writes", () => {
    expect(moved("torch.nn.functional.linear", { weights: { weight: "w" } })).toBe(64 + 64 + 32);
  });

  it("are none for views, and reading and writing for ops in place", () => {
    expect(moved("torch.Tensor.view", { activation_bytes: 0 })).toBe(0);
    expect(moved("torch.Tensor.relu_", { activation_bytes: 0 }, [2, 8])).toBe(64 + 64);
    expect(moved("torch.nn.functional.relu", { activation_bytes: 0, arguments: { inplace: true } }, [2, 8])).toBe(128);
  });

  it("are of the rows that a lookup returns", () => {
    expect(moved("torch.nn.functional.embedding", { weights: { weight: "w" } })).toBe(32 + 32 + 32);
  });
});

it("are found once for a session", () => {
  const session = shown(GRAPHS.cnn as GraphData, false);
  expect(session.costs).toBe(session.costs);
});

describe("times", () => {
  const timed = withTimes(GRAPHS.unrolled as GraphData);

  it.each([false, true])("add up to the whole over the boxes of a picture (all open: %s)", (isOpen) => {
    const session = shown(timed, isOpen);
    const costs = new Costs(session.grouped);
    const together = boxesOf(session).reduce((all, { ids }) => all + (costs.of(ids).time ?? 0), 0);
    expect(together).toBe(costs.whole.time);
    expect(costs.total("time")).toBe(costs.whole.time);
  });

  it("are unknown where none was measured", () => {
    const costs = new Costs(shown(GRAPHS.unrolled as GraphData, true).grouped);
    expect(costs.whole.time).toBeUndefined();
    expect(costs.of([timed.nodes.find(({ kind }) => kind === "op")?.id ?? ""]).time).toBeUndefined();
  });
});

/** A graph in which the first op took 1 ns, the second 2, … */
function withTimes(graph: GraphData): GraphData {
  const { model, nodes, hierarchy } = structuredClone(graph);
  const times = new Map<string | null, number>();
  nodes
    .filter(({ kind }) => kind === "op")
    .forEach(({ id }, i) => {
      for (
        let at: string | null | undefined = id;
        at !== undefined;
        at = at === null ? undefined : (hierarchy[at] ?? null)
      )
        times.set(at, (times.get(at) ?? 0) + i + 1);
    });
  const measured = nodes.map((node) => (times.has(node.id) ? { ...node, time_ns: times.get(node.id) } : node));
  return { ...graph, model: { ...model, time_ns: times.get(null) ?? null }, nodes: measured as GraphData["nodes"] };
}
