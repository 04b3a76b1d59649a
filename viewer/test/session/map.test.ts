/** Maps: blocks with areas by cost, in order, within each other. */
import { describe, expect, it } from "vitest";
import type { Box } from "../../src/layout/layout.js";
import { type Cell, cellsOf, strips } from "../../src/session/map.js";
import { Session } from "../../src/session/session.js";
import type { Item } from "../../src/view/frame.js";
import { withParameters } from "./parameters.js";

type Tree = { [name: string]: number | Tree };
const SIZE = { width: 900, height: 600 };
const costs = new Map<Item, number>();
const costOf = (item: Item) => costs.get(item) ?? 0;

function items(tree: Tree, around = ""): Item[] {
  return Object.entries(tree).map(([name, inside]) => {
    const id = `${around}${name}`;
    const parts = typeof inside === "number" ? [] : items(inside, `${id}.`);
    const frame = typeof inside === "number" ? null : { items: parts };
    const made = { id, name, detail: "Block", kind: "module", times: 1, frame } as unknown as Item;
    costs.set(made, typeof inside === "number" ? inside : parts.reduce((all, part) => all + costOf(part), 0));
    return made;
  });
}

const area = ({ width, height }: Box) => width * height;
const find = (cells: Cell[], id: string) => cells.find(({ item }) => item.id === id);
const overlap = (a: Box, b: Box) =>
  a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;

describe("strips", () => {
  it("have areas by weight, also where sizes are odd", () => {
    for (const box of [SIZE, { width: 300, height: 900 }, { width: 1200, height: 200 }]) {
      const boxes = strips([6, 3, 1, 2, 4], { x: 0, y: 0, ...box });
      for (const [i, weight] of [6, 3, 1, 2, 4].entries()) {
        const share = area(boxes[i] as Box) / (box.width * box.height);
        expect(share).toBeGreaterThan(0.75 * (weight / 16));
        expect(share).toBeLessThan(1.1 * (weight / 16));
      }
    }
  });

  it("don't overlap, keep the order, and have room for names", () => {
    const weights = Array.from({ length: 30 }, (_, i) => (i % 7 === 0 ? 0.001 : 1 + (i % 3)));
    const boxes = strips(weights, { x: 10, y: 20, ...SIZE });
    boxes.forEach((box, i) => {
      for (const other of boxes.slice(i + 1)) expect(overlap(box, other)).toBe(false);
      const before = boxes[i - 1];
      if (before !== undefined) expect(box.x > before.x || box.y > before.y).toBe(true);
      expect(box.width).toBeGreaterThan(40);
      expect(box.height).toBeGreaterThanOrEqual(15);
    });
  });
});

describe("cells", () => {
  const tree = { stem: 1, body: { first: 30, second: 60 }, head: 9, free: 0 };

  it("are nested, and tell shares of the whole", () => {
    const cells = cellsOf(items(tree), costOf, 200, SIZE);
    expect(cells.map(({ item }) => item.id)).toEqual(["stem", "body", "body.first", "body.second", "head"]);
    expect(cells.map(({ share }) => share)).toEqual([0.005, 0.45, 0.15, 0.3, 0.045]);
    const body = find(cells, "body") as Cell;
    expect(body.isOpen).toBe(true);
    for (const part of ["body.first", "body.second"]) {
      const { box } = find(cells, part) as Cell;
      expect(box.x).toBeGreaterThanOrEqual(body.box.x);
      expect(box.y + box.height).toBeLessThanOrEqual(body.box.y + body.box.height);
    }
    expect(area((find(cells, "body.second") as Cell).box)).toBeGreaterThan(
      1.7 * area((find(cells, "body.first") as Cell).box),
    );
  });

  it("have what of their names fits", () => {
    const names = (width: number) =>
      cellsOf(items({ "a.shared_experts": 1 }), costOf, 1, { width, height: 40 })[0]?.name;
    expect([200, 120, 40].map(names)).toEqual(["a.shared_experts", "shared_experts", ""]);
    expect(names(80)).toMatch(/^shar?e?….*rts$/);
  });

  it("have names also where there are hundreds", () => {
    const layers: Tree = Object.fromEntries(Array.from({ length: 840 }, (_, i) => [`layers.${i}`, 1]));
    const cells = cellsOf(items(layers), costOf, 840, { width: 1000, height: 620 });
    expect(cells.filter(({ name }) => name !== "").length).toBeGreaterThan(800);
  });

  it("close where their parts would have no names", () => {
    const many: Tree = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`expert${i}`, 1]));
    const cells = cellsOf(items({ moe: many, head: 10 }), costOf, 510, { width: 300, height: 200 });
    expect(cells.map(({ item }) => item.id)).toEqual(["moe", "head"]);
    expect(find(cells, "moe")?.isOpen).toBe(false);
  });

  it("are those of a session's picture, which rolled repeats count for", () => {
    const graph = withParameters({ a: 1_000_000, b: 10_000, c: 100 });
    const session = new Session({ graph, state: { expanded: [], unrolled: [], direction: "TB" } });
    const text = session.map(SIZE, "kind");
    const titles = [...text.matchAll(/<title>([^<]*)/g)].map(([, title]) => title?.split("\n"));
    expect(titles.map((lines) => [lines?.at(0), lines?.at(-1)])).toEqual([
      ["a … b ×2", "100 %"],
      ["c", "&lt; 0.1 %"],
    ]);
    expect(text).toContain("Areas: Parameters");
  });
});
