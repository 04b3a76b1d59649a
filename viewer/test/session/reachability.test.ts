import { describe, expect, it } from "vitest";
import type { GraphData } from "../../src/graph/graph.js";
import { index } from "../../src/graph/indexing.js";
import { layout } from "../../src/layout/layout.js";
import { Reachability } from "../../src/session/reachability.js";
import { view } from "../../src/view/view.js";
import { fork, residual } from "../fixtures.js";

function flow(graph: GraphData, expanded: string[] = []): Reachability {
  return new Reachability(layout(view(index(graph), { expanded, unrolled: [], direction: "TB" }), null));
}

function ends(edges: { source: string; target: string }[]): string[] {
  return edges.map(({ source, target }) => `${source} → ${target}`).sort();
}

describe("Flow", () => {
  it("reaches everything upstream and downstream of a node, and nothing else", () => {
    const found = flow(residual);
    expect(ends(found.reach("/norm", "after"))).toEqual(["/add → output:y", "/linear → /add", "/norm → /linear"]);
    expect(ends(found.reach("/linear", "before"))).toEqual(["/norm → /linear", "input:x → /norm"]);
  });

  it("finds the shortest path between two nodes, in either order", () => {
    const found = flow(residual);
    expect(ends(found.path("input:x", "output:y"))).toEqual(["/add → output:y", "input:x → /add"]);
    expect(ends(found.path("output:y", "input:x"))).toEqual(["/add → output:y", "input:x → /add"]);
  });

  it("follows edges through the borders of expanded modules", () => {
    const found = flow(fork, ["attn"]);
    expect(ends(found.edgesAt("input:x"))).toEqual([
      "attn → attn/k",
      "attn → attn/q",
      "attn → attn/v",
      "input:x → attn",
    ]);
    expect(ends(found.path("attn/q", "output:y"))).toEqual([
      "attn → output:y",
      "attn/q → attn/sdpa",
      "attn/sdpa → attn",
    ]);
  });

  it("leaves out the edges inside an expanded module", () => {
    expect(ends(flow(fork, ["attn"]).edgesAt("attn"))).toEqual(["attn → output:y", "input:x → attn"]);
  });

  it("finds no path between nodes on separate branches", () => {
    expect(flow(fork, ["attn"]).path("attn/q", "attn/k")).toEqual([]);
  });

  it("finds the edge nearest to a point, within a limit", () => {
    const found = flow(residual);
    const [edge] = found.reach("/norm", "before");
    const [x, y] = edge?.line[0] ?? [0, 0];
    expect(found.nearest(x, y + 1, 6)).toBeDefined();
    expect(found.nearest(-100, -100, 6)).toBeUndefined();
  });
});
