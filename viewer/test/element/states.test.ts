import { describe, expect, it } from "vitest";
import { Session, type Shown } from "../../src/element/session.js";
import {
  alone,
  collapseBelow,
  expandBelow,
  expandSiblings,
  expandTo,
  shownAs,
  withNode,
} from "../../src/element/states.js";
import { type Graph, index, ROOT } from "../../src/graph.js";
import { view } from "../../src/view.js";
import { alternating, chain, fork, plumbing } from "../fixtures.js";
import { sketch } from "../sketch.js";

const CLOSED: Shown = { expanded: [], unrolled: [], direction: "TB" };
const deep = sketch("x > a.b.c/norm > a.b.c/mul > a.b/relu > a/gelu > d/norm > d/mul > y", {
  a: "A",
  "a.b": "B",
  "a.b.c": "C",
});

/** Ids of everything on screen. */
function onScreen(session: Session, state: Shown): Set<string> {
  const found = new Set<string>();
  const frames = [view(session.shown(state), state).root];
  for (const frame of frames) {
    for (const item of frame.items) {
      found.add(item.id);
      if (item.frame !== null) frames.push(item.frame);
    }
  }
  return found;
}

function session(graph: Graph): Session {
  return new Session({ graph, state: CLOSED });
}

describe("opening and closing", () => {
  const of = index(deep);

  it("opens all below a module, and closes all below it", () => {
    const open = expandBelow(of, CLOSED, "a");
    expect(open.expanded).toEqual(["a", "a.b", "a.b.c"]);
    expect(collapseBelow(of, open, "a.b").expanded).toEqual(["a"]);
  });

  it("opens exactly so many levels", () => {
    const open = expandBelow(of, CLOSED, ROOT);
    expect(open.expanded).toEqual(["a", "a.b", "a.b.c", "d"]);
    expect(expandTo(of, open, 1).expanded).toEqual(["a", "d"]);
    expect(expandTo(of, open, 0).expanded).toEqual([]);
  });

  it("opens the modules beside one", () => {
    expect(expandSiblings(of, CLOSED, "a").expanded).toEqual(["a", "d"]);
  });
});

describe("withNode", () => {
  it.each([
    [deep, "a.b.c/mul"],
    [chain, "b.2/mul"],
    [alternating, "b.1/gelu"],
  ])("brings a node to light, however deep, also in a later repeat", (graph, id) => {
    const made = session(graph);
    expect(onScreen(made, CLOSED)).not.toContain(id);
    expect(onScreen(made, withNode(made, CLOSED, id))).toContain(id);
  });

  it("shows plumbing where the node is hidden as such", () => {
    const made = session(plumbing);
    const hidden = plumbing.nodes.map(({ id }) => id).find((id) => !made.shown().nodes.has(id));
    expect(hidden).toBeDefined();
    expect(withNode(made, CLOSED, hidden ?? "").plumbing).toBe(true);
  });

  it("leaves a module shown alone for what is not in it", () => {
    const made = session(deep);
    expect(withNode(made, alone(made, CLOSED, "a"), "d/mul").root).toBeUndefined();
    expect(withNode(made, alone(made, CLOSED, "a"), "a.b.c/mul").root).toBe("a");
  });
});

describe("shownAs", () => {
  it("names the closed module that a node is inside of", () => {
    const shown = onScreen(session(deep), CLOSED);
    expect(shownAs(session(deep), "a.b.c/mul", (id) => shown.has(id))).toBe("a");
  });
});

describe("one module alone", () => {
  it("has what crosses its border as inputs and outputs, by name, and short paths", () => {
    const made = session(fork);
    const state = alone(made, CLOSED, "attn");
    expect([...onScreen(made, state)]).toEqual([
      "in:input:x:0",
      "attn/q",
      "attn/k",
      "attn/v",
      "attn/sdpa",
      "out:attn/sdpa:0",
    ]);
  });

  it("keeps what is open inside", () => {
    const made = session(deep);
    const state = alone(made, { ...CLOSED, expanded: ["a.b"] }, "a");
    expect(onScreen(made, state)).toContain("a.b/relu");
    expect(onScreen(made, state)).not.toContain("d");
  });
});
