import { describe, expect, it } from "vitest";
import type { Placed } from "../../src/layout/layout.js";
import { blocks } from "../../src/session/levels.js";

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
  const items = entries.map(([id]) => ({ id, name: id, glyph: null, detail: "Stage · 1.5M", times: 1 }));
  const inner = entries.map(([, [, inside]]) => (inside === undefined ? null : strip(inside, width - 40)));
  return {
    frame: { items },
    geometry: { boxes, title: { x: 8, y: 8, width: 150, height: 16, form: 0 } },
    inner,
    shaped: false,
  } as unknown as Placed;
}

const cells = (n: number, height: number): Inside =>
  Object.fromEntries(Array.from({ length: n }, (_, i) => [`cell${i}`, [height, { conv: [40] }]]));
const network = strip({ stem: [40], layer1: [3000, cells(10, 160)], layer2: [6000, cells(20, 160)], head: [40] });
const none = new Map();
const ids = (scale: number, before: Parameters<typeof blocks>[2] = none) =>
  [...blocks(network, scale, before)].filter(([, { kind }]) => kind === "block").map(([id]) => id);

describe("blocks", () => {
  it("are absent where text is legible", () => {
    expect(ids(0.59)).toEqual([]);
    expect(ids(0)).toEqual([]);
  });

  it("are stages from afar, and what is in them nearer", () => {
    expect(ids(0.05)).toEqual([]);
    expect(ids(0.12)).toEqual(["layer1", "layer2"]);
    expect(ids(0.17)).toEqual(expect.arrayContaining(["cell0", "cell9"]));
    expect(ids(0.17)).not.toContain("layer1");
    // nearer still, what is in them is legible, too
    expect(ids(0.3)).toEqual([]);
    expect(blocks(network, 0.3, none).get("conv")?.kind).toBe("box");
  });

  it("have legible names within their sides", () => {
    for (let scale = 0.02; scale < 0.58; scale += 0.01) {
      for (const { box, kind, lines, size } of blocks(network, scale, none).values()) {
        expect(size).toBeGreaterThanOrEqual(kind === "block" ? 9 : 7);
        expect(size * lines.length).toBeLessThan(box.height * scale);
        for (const line of lines) expect(line.length * size * 0.6).toBeLessThan(box.width * scale);
      }
    }
  });

  it("stay a little longer than they would have come", () => {
    const before = blocks(network, 0.5, none);
    expect(blocks(network, 0.6, none).size).toBe(0);
    expect(blocks(network, 0.6, before).size).toBeGreaterThan(0);
    expect(blocks(network, 0.65, before).size).toBe(0);
  });

  it("are where the picture has the containers", () => {
    const found = blocks(network, 0.5, none);
    expect(found.get("cell0")?.box).toMatchObject({ x: 20 });
  });
});
