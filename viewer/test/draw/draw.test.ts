import { describe, expect, it } from "vitest";
import { draw, drawItem } from "../../src/draw/draw.js";
import type { GraphData } from "../../src/graph/graph.js";
import { index } from "../../src/graph/indexing.js";
import { boxSize, detailLines } from "../../src/layout/coord/metrics.js";
import { layout, type Placed } from "../../src/layout/layout.js";
import type { State } from "../../src/view/state.js";
import { view } from "../../src/view/view.js";
import { chain, recurrent, wrapped } from "../fixtures.js";
import { sketch } from "../sketch.js";

function drawn(graph: GraphData): string {
  return draw(layout(view(index(graph), { expanded: [], unrolled: [], direction: "TB" }), null));
}

describe("the badge of a run", () => {
  const badge = (graph: GraphData) => /<g class="mg-repeat"[^>]*>(.*?)<\/g>/.exec(drawn(graph))?.[1];

  it("has a circular arrow for a loop with shared weights", () => {
    expect(badge(recurrent)).toMatch(/<rect .*<path class="mg-strokes".*×3</);
  });

  it("has no arrow if the repeats have separate weights", () => {
    expect(badge(chain)).toMatch(/×3</);
    expect(badge(chain)).not.toContain("<path");
  });
});

describe("the text of an expandable box", () => {
  it("is centred and leaves space for the expand sign", () => {
    const box =
      /<g class="mg-node mg-kind-module[^>]*aria-expanded="false"[^>]*>(.*?)<\/g>/.exec(drawn(wrapped))?.[1] ?? "";
    const [width, name, sign] = [/width="(\d+)"/, /class="mg-name" x="([\d.]+)"/, /class="mg-sign" d="M([\d.]+)/].map(
      (part) => Number(part.exec(box)?.[1]),
    );
    expect(name).toBe((width ?? 0) / 2);
    expect(sign).toBe((width ?? 0) - 13);
  });
});

describe("a long detail", () => {
  const item = view(index(wrapped), { expanded: [], unrolled: [], direction: "TB" }).root.items.find(
    ({ kind }) => kind === "module",
  );
  const lines = (detail: string) => (item === undefined ? [] : detailLines({ ...item, detail }));
  const width = (detail: string) => (item === undefined ? 0 : boxSize({ ...item, detail }).width);

  it("has two lines where that makes its box much less wide", () => {
    const long = "SpeechScaledWordEmbedding 1000 × 64 · tied";
    expect(lines(long)).toEqual(["SpeechScaledWordEmbedding", "1000 × 64 · tied"]);
    expect(width(long)).toBeLessThan(220);
    expect(lines("Conv2d 64 → 128, 3×3, s2")).toHaveLength(1);
    expect(lines("SpeechTransformerEncoderLayerWithoutEnd · 1K")).toHaveLength(1);
  });
});

describe("the glyph of a concatenation", () => {
  const joined = (many: number) => drawn(sketch(Array.from({ length: many }, (_, i) => `x${i} > cat > y`).join("\n")));

  it("is a circle for a few wires, a pill for many", () => {
    expect(joined(3)).toMatch(/mg-glyph.*<circle class="mg-box" cx="12" cy="12" r="11"/);
    const [, width, height] =
      /mg-glyph[^>]*>.*?<rect class="mg-box" x="1" y="1" width="(\d+)" height="(\d+)"/.exec(joined(9)) ?? [];
    expect(Number(height)).toBe(22);
    expect(Number(width)).toBeGreaterThan(9 * 7);
  });
});

describe("the picture of a model without tensors", () => {
  it("is a message in a frame", () => {
    const picture = drawn(sketch(""));
    expect(picture).toContain(">No tensor went through this model</text>");
    expect(Number(/width="(\d+)"/.exec(picture)?.[1])).toBeGreaterThan(180);
  });
});

describe("modules inside each other", () => {
  const state: State = { expanded: ["a"], unrolled: [], direction: "TB" };
  const { root } = layout(view(index(sketch("x > a/relu > a/exp > y")), state), null);

  /** The picture with a long name, around another one. */
  const named = (inside?: Placed): Placed => {
    const items = root.frame.items.map((item) => ({ ...item, id: "inner.".repeat(400) }));
    return { ...root, frame: { ...root.frame, items }, inner: root.inner.map((one) => one && (inside ?? one)) };
  };
  const drawn = ({ frame, geometry, inner }: Placed) =>
    frame.items.map((item, i) => drawItem(item, geometry.boxes[i], inner[i] ?? null)).join("");
  /** The least time of several runs. */
  const costs = (action: () => string) => {
    const runs = Array.from({ length: 3 }, () => {
      const start = performance.now();
      expect(action().match(/mg-expanded/g)?.length).toBeGreaterThanOrEqual(100);
      return performance.now() - start;
    });
    return Math.min(...runs);
  };

  it("cost about as much as beside each other: text is not copied at each level", () => {
    const all = Array.from({ length: 100 }, () => named());
    const nested = all.reduce((inside) => named(inside));
    expect(costs(() => drawn(nested))).toBeLessThan(8 * costs(() => all.map(drawn).join("")));
  });
});
