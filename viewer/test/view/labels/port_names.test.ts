/** Names on wires that run side by side. */
import { describe, expect, it } from "vitest";
import { index } from "../../../src/graph/indexing.js";
import type { Frame } from "../../../src/view/frame.js";
import { view } from "../../../src/view/view.js";
import { moduleOf, sketch } from "../../sketch.js";

const labels = (frame: Frame | null | undefined) =>
  frame?.wires.map(({ from, label }) => [frame.items[from]?.id, label]);

/** An encoder that returns three tensors, one of them flattened and one by a long name. */
function graph() {
  const made = sketch(
    `x > enc/lstm > enc/add'h > enc/view
     enc/lstm > enc/add'c
     enc/lstm > enc/add'm
     enc/view > dec/mul > y
     enc/add'c > dec/mul
     enc/add'm > dec/mul`,
    { enc: "Encoder", dec: "Decoder" },
  );
  moduleOf(made, "enc").outputs = { h: "enc/view:0", c: "enc/add'c:0", last_hidden_state: "enc/add'm:0" };
  return made;
}

describe("parallel wires", () => {
  const shown = (expanded: string[]) => view(index(graph()), { expanded, unrolled: [], direction: "TB" }).root;

  it("have the names by which a module returns them", () => {
    const wires = labels(shown([]))?.filter(([from]) => from === "enc");
    expect(wires).toEqual([
      ["enc", "h 1×8"],
      ["enc", "c 1×8"],
      ["enc", "1×8"],
    ]);
  });

  it("have them inside, too, on their way out", () => {
    const inside = shown(["enc"]).items.find(({ id }) => id === "enc")?.frame;
    expect(labels(inside)?.filter(([from]) => from !== "enc/lstm" && from !== undefined)).toEqual([
      ["enc/add'h", "h 1×8"],
      ["enc/add'c", "c 1×8"],
      ["enc/add'm", "1×8"],
    ]);
  });

  it("have none where a module returns one tensor", () => {
    const single = sketch("x > enc/lstm > mul > y\nenc/lstm > mul", { enc: "Encoder" });
    moduleOf(single, "enc").outputs = { h: "enc/lstm:0" };
    const { root } = view(index(single), { expanded: [], unrolled: [], direction: "TB" });
    expect(labels(root)).toContainEqual(["enc", "1×8"]);
  });

  it("have the names of the parameters of the function that takes them", () => {
    const made = sketch(
      `x > q/linear > view
       x > k/linear
       x > v/linear
       view > rope1 > rope2 > rope3 > sdpa > y
       k/linear > rope1
       v/linear > rope2
       v/linear > sdpa`,
    );
    made.nodes = made.nodes.map((node) => (node.id.startsWith("/rope") ? { ...node, scope: "/rotate()" } : node));
    const inputs = { query: "/view:0", key: "k/linear:0", value: "v/linear:0" };
    made.functions = { "/rotate()": { id: "/rotate()", name: "rotate", inputs } };
    const { root } = view(index(made), { expanded: [], unrolled: [], direction: "TB" });
    expect(labels(root)?.filter(([from]) => ["q", "k", "v"].includes(from ?? ""))).toEqual([
      ["q", "query 1×8"],
      ["k", "key 1×8"],
      ["v", "1×8"],
      ["v", "1×8"],
    ]);
  });
});
