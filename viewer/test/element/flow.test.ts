import { describe, expect, it } from "vitest";
import { edgesAt, flowOf, reach, shortestWay } from "../../src/element/flow.js";
import { type Graph, index } from "../../src/graph.js";
import { layout } from "../../src/layout.js";
import { view } from "../../src/view.js";
import { fork, residual } from "../fixtures.js";

function flow(graph: Graph, expanded: string[] = []) {
  return flowOf(layout(view(index(graph), { expanded, unrolled: [], direction: "TB" }), null));
}

function ends(edges: { source: string; target: string }[]): string[] {
  return edges.map(({ source, target }) => `${source} → ${target}`).sort();
}

describe("flow", () => {
  it("reaches everything before a node and after it, and nothing else", () => {
    const found = flow(residual);
    expect(ends(reach(found, "/norm", "after"))).toEqual(["/add → output:y", "/linear → /add", "/norm → /linear"]);
    expect(ends(reach(found, "/linear", "before"))).toEqual(["/norm → /linear", "input:x → /norm"]);
  });

  it("takes the fewest edges between two nodes, and only with the flow", () => {
    const found = flow(residual);
    expect(ends(shortestWay(found, "input:x", "output:y"))).toEqual(["/add → output:y", "input:x → /add"]);
    expect(shortestWay(found, "output:y", "input:x")).toEqual([]);
  });

  it("goes through the borders of open modules up to the nodes inside", () => {
    const found = flow(fork, ["attn"]);
    expect(ends(edgesAt(found, "input:x"))).toEqual([
      "attn → attn/k",
      "attn → attn/q",
      "attn → attn/v",
      "input:x → attn",
    ]);
    expect(ends(shortestWay(found, "attn/q", "output:y"))).toEqual([
      "attn → output:y",
      "attn/q → attn/sdpa",
      "attn/sdpa → attn",
    ]);
  });

  it("lights only what enters and leaves an open module, not what is inside", () => {
    expect(ends(edgesAt(flow(fork, ["attn"]), "attn"))).toEqual(["attn → output:y", "input:x → attn"]);
  });
});
