import { instance } from "@viz-js/viz";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { draw } from "../../src/draw/draw.js";
import type { GraphData } from "../../src/graph/graph.js";
import type { SessionState } from "../../src/session/diagram_data.js";
import { opening, Session } from "../../src/session/session.js";
import { checkpoint, inSlices, Pause, resumed, type Steps } from "../../src/shared/slices.js";
import albert from "../graphs/albert.json";
import cnn from "../graphs/cnn.json";
import translator from "../graphs/translator.json";

const GRAPHS = { albert, cnn, translator } as unknown as Record<string, GraphData>;

beforeEach(() => {
  // whoever looks at the clock finds that the slice's time is used up
  let now = 0;
  vi.spyOn(performance, "now").mockImplementation(() => {
    now += 1000;
    return now;
  });
});
afterEach(() => {
  vi.restoreAllMocks();
});

/** Runs work in slices, and counts them. */
async function counted<T>(work: () => T): Promise<{ made: T; slices: number }> {
  let slices = 0;
  const made = await inSlices(() => {
    slices += 1;
    return work();
  });
  return { made, slices };
}

async function opened(graph: GraphData, state: SessionState): Promise<{ made: Session; slices: number }> {
  const begun = new Map<string, Steps<Session>>();
  return counted(() => resumed(begun, "", () => opening({ graph, state })));
}

it.each(
  Object.keys(GRAPHS).flatMap(
    (name) =>
      [
        [name, "TB"],
        [name, "LR"],
      ] as const,
  ),
)("gives %s %s in slices the same picture as at once", async (name, direction) => {
  const graph = GRAPHS[name] as GraphData;
  const modules = graph.nodes.filter(({ kind }) => kind === "module").map(({ id }) => id);
  const state: SessionState = { expanded: modules.sort(), unrolled: [], direction };
  const viz = await instance();
  const { made: session, slices: opens } = await opened(graph, state);
  const { made: layout, slices } = await counted(() => session.layoutOf(state, viz));
  expect(opens).toBeGreaterThan(3);
  // a slice for each container's frame, and one for its layout
  expect(slices).toBeGreaterThan(modules.length / 2);
  const atOnce = draw(new Session({ graph, state }).layoutOf(state, viz));
  expect(draw(layout) === atOnce).toBe(true);
});

it("keeps the current layout while another one is made", async () => {
  const graph = GRAPHS.albert as GraphData;
  const modules = graph.nodes.filter(({ kind }) => kind === "module").map(({ id }) => id);
  const closed: SessionState = { expanded: [], unrolled: [], direction: "TB" };
  const viz = await instance();
  const session = new Session({ graph, state: closed });
  expect(session.isLaidOut).toBe(false);
  const before = session.layout(viz);
  const open = { ...closed, expanded: modules.sort() };
  let isSame = true;
  const { made } = await counted(() => {
    isSame &&= session.isLaidOut && session.layout(viz) === before && session.state === closed;
    return session.show(open, viz);
  });
  expect(isSame).toBe(true);
  expect(session.layout(viz)).toBe(made);
});

it("does all at once outside of slices", () => {
  expect(() => checkpoint()).not.toThrow();
});

it("waits where work says until when", async () => {
  const order: string[] = [];
  const answer = new Promise<void>((resolve) => setTimeout(resolve, 5)).then(() => {
    order.push("answer");
  });
  await inSlices(() => {
    order.push("asked");
    if (order.length === 1) throw new Pause(answer);
  });
  expect(order).toEqual(["asked", "answer", "asked"]);
});

it("fails as the work does", async () => {
  const failing = inSlices(() => {
    throw new Error("no layout");
  });
  await expect(failing).rejects.toThrow("no layout");
  expect(() => checkpoint()).not.toThrow();
});

it("begins anew after work that failed", () => {
  const begun = new Map<string, Steps<string>>();
  let times = 0;
  const work = function* (): Steps<string> {
    yield;
    times += 1;
    if (times === 1) throw new Error("once");
    return "made";
  };
  expect(() => resumed(begun, "", work)).toThrow("once");
  expect(resumed(begun, "", work)).toBe("made");
});

it("lets what a reader does between two slices take its time", async () => {
  let isDone = false;
  const work = inSlices(() => {
    if (isDone) return;
    isDone = true;
    checkpoint();
  });
  // the first slice has ended, and the second has not begun
  expect(checkpoint).not.toThrow();
  await work;
});
