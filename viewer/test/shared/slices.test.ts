import { instance } from "@viz-js/viz";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { draw } from "../../src/draw/draw.js";
import type { GraphData } from "../../src/graph/graph.js";
import type { SessionState } from "../../src/session/diagram_data.js";
import { opening, Session } from "../../src/session/session.js";
import { atOnce, inSlices, type Steps } from "../../src/shared/slices.js";
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

/** Runs steps in slices, and counts them. */
async function counted<T>(work: Steps<T>): Promise<{ made: T; slices: number }> {
  let slices = 1;
  const next = work.next.bind(work);
  work.next = (...value) => {
    const step = next(...value);
    if (!step.done) slices += 1;
    return step;
  };
  return { made: await inSlices(work), slices };
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
  const { made: session, slices: opens } = await counted(opening({ graph, state }));
  const { made: layout, slices } = await counted(session.layOut(viz));
  expect(opens).toBeGreaterThan(3);
  // a slice for each container's frame, and one for its layout
  expect(slices).toBeGreaterThan(modules.length / 2);
  const whole = draw(atOnce(new Session({ graph, state }).layOut(viz)));
  expect(draw(layout) === whole).toBe(true);
});

it("keeps the current layout while another one is made", async () => {
  const graph = GRAPHS.albert as GraphData;
  const modules = graph.nodes.filter(({ kind }) => kind === "module").map(({ id }) => id);
  const closed: SessionState = { expanded: [], unrolled: [], direction: "TB" };
  const viz = await instance();
  const session = new Session({ graph, state: closed });
  expect(session.laidOut).toBeUndefined();
  const before = atOnce(session.layOut(viz));
  const work = session.show(() => ({ ...closed, expanded: modules.sort() }), viz);
  let step = work.next();
  for (; !step.done; step = work.next()) {
    expect(session.laidOut).toBe(before);
    expect(session.state).toBe(closed);
  }
  expect(session.laidOut).toBe(step.value);
});

it("keeps a state that becomes current while the layout of the former one is made", async () => {
  const graph = GRAPHS.albert as GraphData;
  const closed: SessionState = { expanded: [], unrolled: [], direction: "TB" };
  const opened = { ...closed, expanded: graph.nodes.filter(({ kind }) => kind === "module").map(({ id }) => id) };
  const viz = await instance();
  const session = new Session({ graph, state: opened });
  const ahead = session.layOut(viz);
  ahead.next();
  const layout = atOnce(session.show(() => closed, viz));
  atOnce(ahead);
  expect(session.state).toBe(closed);
  expect(session.laidOut).toBe(layout);
});

it("goes on with what it waits for", async () => {
  const waits = function* (): Steps<string> {
    const answer = yield new Promise((resolve) => setTimeout(resolve, 5, "answer"));
    return `the ${answer}`;
  };
  expect(await inSlices(waits())).toBe("the answer");
  expect(() => atOnce(waits())).toThrow("run it in slices");
});

it("fails as the work does, and as what it waits for", async () => {
  const fails = function* (pause?: Promise<unknown>): Steps<void> {
    yield pause;
    throw new Error("no layout");
  };
  await expect(inSlices(fails())).rejects.toThrow("no layout");
  await expect(inSlices(fails(Promise.reject(new Error("no answer"))))).rejects.toThrow("no answer");
});

it("can be stopped between two slices", async () => {
  const stop = new AbortController();
  const done: number[] = [];
  const work = function* (): Steps<void> {
    for (let i = 0; ; i += 1) {
      done.push(i);
      if (i === 3) stop.abort(new Error("stopped"));
      yield;
    }
  };
  await expect(inSlices(work(), stop.signal)).rejects.toThrow("stopped");
  expect(done).toEqual([0, 1, 2, 3]);
});
