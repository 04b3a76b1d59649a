/// <reference types="vite/client" />
/** What is drawn for a node, and what a drawn node stands for: by what the pictures of all our graphs roll up. */
import { describe, expect, it } from "vitest";
import type { GraphData } from "../../src/graph/graph.js";
import { detailsOf } from "../../src/session/details.js";
import { Session } from "../../src/session/session.js";
import type { Frame, Item } from "../../src/view/frame.js";
import type { State } from "../../src/view/state.js";
import { all, alternating } from "../fixtures.js";
import { sketch } from "../sketch.js";

const FILES = {
  ...import.meta.glob<GraphData>("../graphs/*.json", { import: "default", eager: true }),
  ...import.meta.glob<GraphData>("../../../tests/golden/*.json", { import: "default", eager: true }),
};
const GRAPHS = { ...all, ...FILES };
const CLOSED: State = { expanded: [], unrolled: [], direction: "TB" };

const itemsIn = ({ items }: Frame): Item[] =>
  items.flatMap((item) => [item, ...(item.frame === null ? [] : itemsIn(item.frame))]);

function sessionsOf(graph: GraphData): [string, Session][] {
  const open = new Session({ graph, state: CLOSED });
  const modules = [...open.grouped.nodes.values()].filter(({ kind }) => /module|function/.test(kind));
  const expanded = modules.map(({ id }) => id).sort();
  const runs = itemsIn(new Session({ graph, state: { ...CLOSED, expanded } }).frame).flatMap(({ run }) => run || []);
  const states = {
    closed: CLOSED,
    open: { ...CLOSED, expanded },
    plumbing: { ...CLOSED, expanded, plumbing: true },
    unrolled: { ...CLOSED, expanded, unrolled: [...new Set(runs)].sort() },
    sideways: { ...CLOSED, expanded, unrolled: runs.slice(0, 1), direction: "LR" as const },
  };
  return Object.entries(states).map(([name, state]) => [name, new Session({ graph, state })]);
}

const CASES = Object.entries(GRAPHS).flatMap(([name, graph]) =>
  sessionsOf(graph).map(([state, session]): [string, string, Session] => [name, state, session]),
);

it("has graphs with repeats of several children, and repeats in repeats", () => {
  const boxes = CASES.flatMap(([, , session]) => session.rolled().boxes(session.frame));
  expect(boxes.filter(({ item, times }) => item.kind === "group" && times > item.times).length).toBeGreaterThan(0);
  expect(boxes.filter(({ item, ids }) => item.times === 1 && ids.length > 1).length).toBeGreaterThan(0);
});

describe.each(CASES)("%s, %s:", (_, __, session) => {
  const rolled = session.rolled();
  const items = itemsIn(session.frame);

  it("a box stands for all that the picture rolls up in it", () => {
    for (const { id, members, kind } of items) {
      if (kind === "group" || !members.includes(id)) continue;
      expect(rolled.all(id)).toEqual(expect.arrayContaining(members));
      expect(new Set(members.map((member) => rolled.standIn(member)))).toEqual(new Set([rolled.standIn(id)]));
    }
  });

  it("what is drawn stands for itself", () => {
    const index = session.visibleGraph();
    for (const { id, kind } of items)
      if (kind !== "group" && index.nodes.has(id)) expect([rolled.standIn(id), rolled.all(id)[0]]).toEqual([id, id]);
  });

  it("each node is in one closed box, or is it", () => {
    const boxes = rolled.boxes(session.frame).filter(({ item }) => item.frame === null);
    const ids = boxes.flatMap((box) => box.ids);
    expect(new Set(ids).size).toBe(ids.length);
    const drawn = new Set(ids);
    const { nodes, parent } = session.visibleGraph();
    const containers = new Set(parent.values());
    for (const id of nodes.keys()) {
      expect(rolled.all(rolled.standIn(id))).toContain(id);
      const isIn = (at = ""): boolean => at !== "" && (drawn.has(at) || isIn(parent.get(at) ?? ""));
      if (!containers.has(id)) expect(isIn(id)).toBe(true);
    }
  });

  it("details count what the lenses count", () => {
    for (const { item, ids } of rolled.boxes(session.frame))
      if (item.kind !== "group" && session.visibleGraph().nodes.has(item.id) && ids.length > 1)
        expect(detailsOf(session, item.id).times).toBe(ids.length);
  });
});

it("a node in a repeat of several children stands for those in the others, too", () => {
  const session = new Session({ graph: alternating, state: CLOSED });
  const [group] = itemsIn(session.frame).filter(({ kind }) => kind === "group");
  expect(group?.members.length).toBeGreaterThan(2);
  const [first = ""] = group?.members ?? [];
  expect(session.rolled().all(first)).toEqual(group?.members.filter((_, i) => i % 2 === 0));
});

const CLASSES = Object.fromEntries(
  [0, 1, 2].flatMap((n) => [
    [`h.${n}`, "Block"],
    [`h.${n}.attn`, "Attention"],
    [`h.${n}.mlp`, "MLP"],
  ]),
);
const blocks = sketch(`x > ${[0, 1, 2].map((n) => `h.${n}.attn/softmax > h.${n}.mlp/gelu`).join(" > ")} > y`, CLASSES);
const ids = [0, 1, 2].map((n) => `h.${n}.attn/softmax`);

it("are in the first of the repeats that are shown as one", () => {
  const session = new Session({ graph: blocks, state: CLOSED });
  expect(session.rolled().standIns(ids)).toEqual(["h.0.attn/softmax"]);
});

it("are the nodes themselves where repeats are shown one by one", () => {
  const session = new Session({ graph: blocks, state: { ...CLOSED, unrolled: ["h.0"] } });
  expect(session.rolled().standIns(ids)).toEqual(ids);
});
