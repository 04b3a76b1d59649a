import { describe, expect, it } from "vitest";
import { draw } from "../src/draw.js";
import { type Graph, index } from "../src/graph.js";
import { layout } from "../src/layout.js";
import { view } from "../src/view.js";
import { chain, recurrent, wrapped } from "./fixtures.js";
import { sketch } from "./sketch.js";

function drawn(graph: Graph): string {
  return draw(layout(view(index(graph), { expanded: [], unrolled: [], direction: "TB" }), null));
}

describe("what stands for many", () => {
  const badge = (graph: Graph) => /<g class="mg-repeat"[^>]*>(.*?)<\/g>/.exec(drawn(graph))?.[1];

  it("has an arrow that goes round where its output goes in again, with the same weights", () => {
    expect(badge(recurrent)).toMatch(/<rect .*<path class="mg-strokes".*×3</);
  });

  it("has none where every one has weights of its own", () => {
    expect(badge(chain)).toMatch(/×3</);
    expect(badge(chain)).not.toContain("<path");
  });
});

describe("the words of a box that opens", () => {
  it("stand in its middle, where the wires are, and leave room for the sign", () => {
    const box =
      /<g class="mg-node mg-kind-module[^>]*aria-expanded="false"[^>]*>(.*?)<\/g>/.exec(drawn(wrapped))?.[1] ?? "";
    const [width, name, sign] = [/width="(\d+)"/, /class="mg-name" x="([\d.]+)"/, /class="mg-sign" d="M([\d.]+)/].map(
      (part) => Number(part.exec(box)?.[1]),
    );
    expect(name).toBe((width ?? 0) / 2);
    expect(sign).toBe((width ?? 0) - 13);
  });
});

describe("what joins tensors end to end", () => {
  const joined = (many: number) => drawn(sketch(Array.from({ length: many }, (_, i) => `x${i} > cat > y`).join("\n")));

  it("is one sign, in a circle or as long as its wires need", () => {
    expect(joined(3)).toMatch(/mg-glyph.*<circle class="mg-box" cx="12" cy="12" r="11"\/>/);
    const [, width, height] =
      /mg-glyph[^>]*>.*?<rect class="mg-box" x="1" y="1" width="(\d+)" height="(\d+)"/.exec(joined(9)) ?? [];
    expect(Number(height)).toBe(22);
    expect(Number(width)).toBeGreaterThan(9 * 7);
  });
});

describe("a model through which no tensor goes", () => {
  it("is a frame that says so", () => {
    const picture = drawn(sketch(""));
    expect(picture).toContain(">No tensor went through this model</text>");
    expect(Number(/width="(\d+)"/.exec(picture)?.[1])).toBeGreaterThan(180);
  });
});
