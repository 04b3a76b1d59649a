import { describe, expect, it } from "vitest";
import { type GraphData, ROOT } from "../../src/graph/graph.js";
import type { SessionState } from "../../src/session/diagram_data.js";
import { Session } from "../../src/session/session.js";
import { view } from "../../src/view/view.js";
import { alternating, chain, fork, plumbing } from "../fixtures.js";
import { sketch } from "../sketch.js";

const COLLAPSED: SessionState = { expanded: [], unrolled: [], direction: "TB" };
const deep = sketch("x > a.b.c/norm > a.b.c/mul > a.b/relu > a/gelu > d/norm > d/mul > y", {
  a: "A",
  "a.b": "B",
  "a.b.c": "C",
});

/** Ids of all visible nodes. */
function visibleIds(session: Session, state: SessionState): Set<string> {
  const found = new Set<string>();
  const frames = [view(session.visibleGraph(state), state).root];
  for (const frame of frames) {
    for (const item of frame.items) {
      found.add(item.id);
      if (item.frame !== null) frames.push(item.frame);
    }
  }
  return found;
}

function session(graph: GraphData, state = COLLAPSED): Session {
  return new Session({ graph, state });
}

describe("expanding and collapsing", () => {
  const at = (state?: SessionState) => session(deep, state).transitions;

  it("expands and collapses everything below a module", () => {
    const open = at().expandBelow("a");
    expect(open.expanded).toEqual(["a", "a.b", "a.b.c"]);
    expect(at(open).collapseBelow("a.b").expanded).toEqual(["a"]);
  });

  it("expands exactly the given number of levels", () => {
    const open = at().expandBelow(ROOT);
    expect(open.expanded).toEqual(["a", "a.b", "a.b.c", "d"]);
    expect(at(open).expandTo(1).expanded).toEqual(["a", "d"]);
    expect(at(open).expandTo(0).expanded).toEqual([]);
  });

  it("expands the siblings of a module", () => {
    expect(at().expandSiblings("a").expanded).toEqual(["a", "d"]);
  });
});

describe("reveal", () => {
  it.each([
    [deep, "a.b.c/mul"],
    [chain, "b.2/mul"],
    [alternating, "b.1/gelu"],
  ])("makes a deep node visible, also in a later repeat: %#", (graph, id) => {
    const made = session(graph);
    expect(visibleIds(made, COLLAPSED)).not.toContain(id);
    expect(visibleIds(made, made.transitions.reveal(id))).toContain(id);
  });

  it("shows plumbing to make a hidden op visible", () => {
    const made = session(plumbing);
    const hidden = plumbing.nodes.map(({ id }) => id).find((id) => !made.visibleGraph().nodes.has(id));
    expect(hidden).toBeDefined();
    expect(made.transitions.reveal(hidden ?? "").plumbing).toBe(true);
  });

  it("leaves the isolated module if the node is elsewhere", () => {
    const made = session(deep);
    expect(made.transitions.reveal("d/mul", made.transitions.isolate("a")).root).toBeUndefined();
    expect(made.transitions.reveal("a.b.c/mul", made.transitions.isolate("a")).root).toBe("a");
  });
});

describe("visibleAncestor", () => {
  it("names the collapsed module around a node", () => {
    const shown = visibleIds(session(deep), COLLAPSED);
    expect(session(deep).transitions.visibleAncestor("a.b.c/mul", (id) => shown.has(id))).toBe("a");
  });
});

describe("isolate", () => {
  it("shows what crosses the border as inputs and outputs", () => {
    const made = session(fork);
    const state = made.transitions.isolate("attn");
    expect([...visibleIds(made, state)]).toEqual([
      "in:input:x:0",
      "attn/q",
      "attn/k",
      "attn/v",
      "attn/sdpa",
      "out:attn/sdpa:0",
    ]);
  });

  it("keeps modules inside expanded", () => {
    const made = session(deep);
    const state = made.transitions.isolate("a", { ...COLLAPSED, expanded: ["a.b"] });
    expect(visibleIds(made, state)).toContain("a.b/relu");
    expect(visibleIds(made, state)).not.toContain("d");
  });
});
