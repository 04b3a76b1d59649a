import { instance } from "@viz-js/viz";
import { describe, expect, it } from "vitest";
import { draw } from "../../src/draw/draw.js";
import { escapeText } from "../../src/draw/svg_text.js";
import type { GraphData, OpNode } from "../../src/graph/graph.js";
import { index } from "../../src/graph/indexing.js";
import { type Layout, layout, layoutCache, type Viz } from "../../src/layout/layout.js";
import { toggle } from "../../src/view/expand/toggle.js";
import type { State } from "../../src/view/state.js";
import { view } from "../../src/view/view.js";
import { firstState } from "../first_state.js";
import { all, chain, fork, loose, residual, scan, wrapped } from "../fixtures.js";
import broken from "../graphs/broken.json";
import { locate } from "../locate.js";
import { sketch } from "../sketch.js";
import { NO_FAULTS, validate } from "../validate.js";

const viz = await instance();

function place(graph: GraphData, state: Partial<State>, engine: Viz | null = viz): Layout {
  return layout(view(index(graph), { expanded: [], unrolled: [], direction: "TB", ...state }), engine);
}

describe("layout", () => {
  it("keeps the trunk straight and arrives at a glyph from the side", () => {
    const { root } = place(residual, {});
    const trunk = root.geometry.lines.filter((line) => line.length === 2 && line[0]?.[0] === line[1]?.[0]);
    expect(trunk).toHaveLength(4);
    const rail = root.geometry.lines.find((line) => line.length > 2);
    const [before, last] = rail?.slice(-2) ?? [];
    expect(before?.[1]).toBe(last?.[1]);
  });

  it("runs the trunk through the middle one of equal branches, keeping their order", () => {
    const { root } = place(fork, { expanded: ["attn"] });
    const boxes = root.inner[1]?.geometry.boxes ?? [];
    const centres = boxes.map((box) => box.x + box.width / 2);
    expect(centres.slice(0, 3)).toEqual([...centres.slice(0, 3)].sort((a, b) => a - b));
    expect(centres[1]).toBe(centres[3]);
  });

  it("shares one geometry between equal containers", () => {
    const state: State = { expanded: ["b.0", "b.1", "b.2"], unrolled: ["b.0"], direction: "TB" };
    const { root } = place(chain, state);
    const inner = root.inner.filter((placed) => placed !== null);
    expect(inner).toHaveLength(3);
    expect(inner[2]?.geometry).toBe(inner[1]?.geometry);
  });

  it("tells a step of a loop from a module with the same title and inside: its states leave where they enter", () => {
    const graph = sketch("x > m/linear > m/relu > y\nm/linear > m/gelu > z", { m: "Model" });
    const made = view(index(graph), { expanded: ["m"], unrolled: [], direction: "TB", turned: ["m"] });
    const items = made.root.items.map((item) => (item.id === "m" ? { ...item, kind: "group" as const } : item));
    const asStep = () => ({ ...made, root: structuredClone({ ...made.root, items }) });
    const cache = layoutCache();
    const module = layout(made, viz, cache);
    const step = layout(asStep(), viz, cache);
    expect(draw(step)).toBe(draw(layout(asStep(), viz)));
    expect(step.root.geometry.lines).not.toEqual(module.root.geometry.lines);
  });

  it("reuses containers that a toggle does not affect", () => {
    const traced = index(chain);
    const cache = layoutCache();
    const start: State = { expanded: ["b.0", "b.2"], unrolled: ["b.0"], direction: "TB" };
    const before = layout(view(traced, start), viz, cache);
    const after = layout(view(traced, toggle(traced, start, "b.0")), viz, cache);
    const inner = (made: Layout) => made.root.inner.find((placed) => placed?.frame.id === "b.2");
    expect(inner(after)).toBe(inner(before));
  });

  it("locates any visible item", () => {
    const made = place(wrapped, { expanded: ["outer"] });
    const box = locate(made, "outer.inner/relu");
    const around = locate(made, "outer");
    expect(box?.x).toBeGreaterThan(around?.x ?? Number.NaN);
    expect(locate(made, "nowhere")).toBeNull();
  });

  it("aligns the wires before and after a container in the other direction", () => {
    const state = firstState(index(fork), {
      depth: 9,
      direction: [
        ["*", "TB"],
        ["attn", "LR"],
      ],
    });
    const { geometry } = place(fork, state).root;
    const [into, out] = geometry.lines;
    expect(into?.map(([x]) => x)).toEqual(out?.map(([x]) => x));
  });

  it("wraps a long left-to-right flow into lines", () => {
    const long = sketch(`x > ${Array.from({ length: 24 }, (_, i) => `layer${i}`).join(" > ")} > y`);
    const made = place(long, { direction: "LR" });
    expect(made.width).toBeLessThan(1200);
    expect(new Set(made.root.geometry.boxes.map((box) => box.y + box.height / 2)).size).toBeGreaterThan(1);
    expect(validate(made)).toMatchObject(NO_FAULTS);
  });

  it("aligns the steps of a loop at their tops, with their output wires close below", () => {
    const graph = structuredClone(scan);
    // every step produces an output that is stacked at the end
    graph.nodes.splice(-1, 0, { kind: "op", id: "/stack", name: "torch.stack", outputs: [] });
    graph.hierarchy["/stack"] = null;
    for (const i of [0, 1, 2]) {
      const [tanh, tensor] = [`/tanh'${i}`, `/tanh'${i}:0`];
      graph.nodes.splice(graph.nodes.findIndex(({ id }) => id === `/add'${i}`) + 1, 0, {
        ...{ kind: "op", id: tanh, name: "torch.tanh", outputs: [tensor] },
      });
      graph.hierarchy[tanh] = null;
      graph.tensors[tensor] = { shape: [1, 8], dtype: "float32" };
      graph.adjacency[`/add'${i}`]?.unshift({ to: tanh, tensor: `/add'${i}:0`, argument: "0" });
      graph.adjacency[tanh] = [{ to: "/stack", tensor, argument: `tensors[${i}]` }];
    }
    const made = place(graph, { unrolled: ["group:/getitem'0"] });
    const steps = made.root.inner.find((placed) => placed?.frame.id.startsWith("steps:"))?.geometry;
    const tops = steps?.boxes.map((box) => box.y) ?? [];
    expect(tops).toEqual([tops[0], tops[0], tops[0]]);
    expect(steps?.height).toBeLessThan(100 + Math.max(...(steps?.boxes ?? []).map((box) => box.y + box.height)));
    expect(validate(made)).toMatchObject(NO_FAULTS);
  });

  it("stacks items without wires in a column", () => {
    const { boxes } = place({ ...fork, adjacency: {}, status: { state: "hierarchy" } }, {}).root.geometry;
    expect(new Set(boxes.map((box) => box.x + box.width / 2)).size).toBe(1);
    expect(boxes.map((box) => box.y)).toEqual(boxes.map((box) => box.y).sort((a, b) => a - b));
  });

  it("finds a lane for each of 200 tensors", () => {
    const ops = Array.from({ length: 30 }, (_, i) => `wide/linear'${i}`).join(" > ");
    const graph = sketch(`x > split > ${ops} > cat > y`);
    const split = graph.nodes.find((node) => node.id === "/split") as OpNode;
    for (let i = 1; i < 200; i += 1) {
      split.outputs?.push(`/split:${i}`);
      graph.tensors[`/split:${i}`] = { shape: null, dtype: "float32" };
      graph.adjacency["/split"]?.push({ to: "/cat", tensor: `/split:${i}`, argument: `tensors[${i}]` });
    }
    const state = firstState(index(graph), {
      depth: 9,
      direction: [
        ["*", "TB"],
        ["Block", "LR"],
      ],
    });
    const made = place(graph, state, null);
    expect(validate(made)).toMatchObject({ ...NO_FAULTS, shared: 0 });
  });

  it("has no overlaps without dot if wires swap positions", () => {
    const state = firstState(index(loose), { depth: 9 });
    expect(validate(place(loose, { ...state, unrolled: [] }, null))).toMatchObject({ ...NO_FAULTS, shared: 0 });
  });
});

describe("drawing", () => {
  it.each(["residual", "fork", "wrapped", "plumbing"])("%s equals its golden picture", async (name) => {
    const graph = all[name] ?? residual;
    const svg = draw(place(graph, firstState(index(graph))));
    await expect(svg.replaceAll("><", ">\n<")).toMatchFileSnapshot(`../pictures/${name}.svg`);
  });

  it("gives equal bytes for equal input", () => {
    expect(draw(place(chain, {}))).toBe(draw(place(structuredClone(chain), {})));
  });

  it("escapes names and replaces invalid characters", () => {
    expect(escapeText(`<a b="c">&'`)).toBe("&lt;a b=&quot;c&quot;&gt;&amp;&#39;");
    expect(escapeText("a\u0000b\u001bc\ud800d😀")).toBe("a�b�c�d😀");
  });

  it("shows the error at the failed node", () => {
    const graph = broken as unknown as GraphData;
    const svg = draw(place(graph, firstState(index(graph))));
    expect(svg).toContain("mg-error");
    expect(svg).toContain("RuntimeError: ");
  });
});
