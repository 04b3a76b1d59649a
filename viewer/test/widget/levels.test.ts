import { describe, expect, it } from "vitest";
import type { Placed } from "../../src/layout/layout.js";
import { blocks } from "../../src/widget/levels.js";

type Inside = Record<string, [height: number, inside?: Inside]>;

/** Containers of one width below each other, as in a strip. */
function strip(contents: Inside, width = 400): Placed {
  let y = 0;
  const entries = Object.entries(contents);
  const boxes = entries.map(([, [height]]) => {
    const box = { x: 10, y, width, height };
    y += height + 20;
    return box;
  });
  const items = entries.map(([id]) => ({ id, name: id, detail: "Stage · 1.5M", times: 1 }));
  const inner = entries.map(([, [, inside]]) => (inside === undefined ? null : strip(inside, width - 40)));
  return { frame: { items }, geometry: { boxes }, inner, shaped: false } as unknown as Placed;
}

const cells = (n: number, height: number): Inside =>
  Object.fromEntries(Array.from({ length: n }, (_, i) => [`cell${i}`, [height, { conv: [40] }]]));
const network = strip({ stem: [40], layer1: [3000, cells(10, 100)], layer2: [6000, cells(20, 100)], head: [40] });
const none = new Map();
const ids = (scale: number, before: Parameters<typeof blocks>[2] = none) => [...blocks(network, scale, before).keys()];

describe("blocks", () => {
  it("are absent where text is legible", () => {
    expect(ids(0.5)).toEqual([]);
    expect(ids(0)).toEqual([]);
  });

  it("are stages from afar, and what is in them nearer", () => {
    expect(ids(0.05)).toEqual([]);
    expect(ids(0.12)).toEqual(["layer1", "layer2"]);
    expect(ids(0.39)).toEqual(expect.arrayContaining(["cell0", "cell9"]));
    expect(ids(0.39)).not.toContain("layer1");
  });

  it("have legible names within their sides", () => {
    for (let scale = 0.02; scale < 0.4; scale += 0.01) {
      for (const { box, lines, size } of blocks(network, scale, none).values()) {
        expect(size).toBeGreaterThanOrEqual(9);
        expect(size * lines.length).toBeLessThan(box.height * scale);
        for (const line of lines) expect(line.length * size * 0.6).toBeLessThan(box.width * scale);
      }
    }
  });

  it("stay a little longer than they would have come", () => {
    expect(ids(0.43)).toEqual([]);
    expect(ids(0.43, blocks(network, 0.39, none))).not.toEqual([]);
    expect(ids(0.47, blocks(network, 0.39, none))).toEqual([]);
  });

  it("are where the picture has the containers", () => {
    const found = blocks(network, 0.39, none);
    expect(found.get("cell0")?.box).toMatchObject({ x: 20 });
  });
});
