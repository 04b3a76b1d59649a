/** What only some cases run: marked once, at the outermost part, with letters that the legend explains. */
import { instance } from "@viz-js/viz";
import { describe, expect, it } from "vitest";
import { draw } from "../../src/draw/draw.js";
import { wireLetters } from "../../src/draw/wire_letters.js";
import type { GraphData } from "../../src/graph/graph.js";
import { index } from "../../src/graph/indexing.js";
import { layout } from "../../src/layout/layout.js";
import type { Frame } from "../../src/view/frame.js";
import { view } from "../../src/view/view.js";
import { caseOf, heads, withCases } from "../cases.js";
import { chain } from "../fixtures.js";
import { sketch } from "../sketch.js";

const viz = await instance();

function shown(graph: GraphData, expanded: string[] = []) {
  return view(index(graph), { expanded, unrolled: [], direction: "TB" });
}

/** Every box and panel with its letters, of those that have some. */
function lettersIn({ items }: Frame): string[] {
  return items.flatMap(({ id, letters, frame }) => [
    ...(letters === undefined ? [] : [`${id} ${letters}`]),
    ...(frame === null ? [] : lettersIn(frame)),
  ]);
}

describe("parts of some cases", () => {
  it("have letters once, at the outermost part", () => {
    const marked = ["/drop b", "cls a", "seg b", "output:c a", "output:s b"];
    expect(lettersIn(shown(heads(), ["cls", "seg"]).root)).toEqual(marked);
  });

  it("have letters at an edge whose ends run in more cases", () => {
    const { wires, items } = shown(heads()).root;
    const lettered = wires.filter(({ letters }) => letters !== undefined);
    expect(lettered.map(({ from, to, letters }) => [items[from]?.id, items[to]?.id, letters])).toEqual([
      ["stem", "/norm", "a"],
    ]);
  });

  it("show sizes that differ side by side, at most three", () => {
    expect(shown(heads()).root.wires[0]?.label).toBe("1×8 | 2×8");
    const many = heads();
    const sizes = [2, 3, 4].map((size) => ({ "input:x:0": { shape: [size, 8], dtype: "float32" } }));
    many.cases = [...(many.cases ?? []).slice(0, 1), ...sizes.map((tensors, i) => caseOf(`${i}`, { tensors }))];
    expect(shown(many).root.wires[0]?.label).toBe("1×8 | 2×8 | …");
  });

  it("are in the drawn picture and its legend, also without colours", () => {
    const svg = draw(layout(shown(heads()), viz));
    expect(svg).toContain('data-id="cls" data-cases="0"');
    expect(svg.match(/class="mg-case-bar"/g)).toHaveLength(5 + 2);
    for (const name of ["cls", "seg"]) expect(svg).toMatch(new RegExp(`class="mg-legend".*>${name}<`));
  });

  it("that only forced passes ran are dashed and said to be unseen", () => {
    const graph = withCases(
      sketch("x > a/relu > a/mul > y\nx > b/gelu > b/mul > y"),
      [caseOf("seen"), caseOf("no", { forced: true })],
      {
        "b/gelu": [1],
        "b/mul": [1],
      },
    );
    const { items, wires } = shown(graph).root;
    expect(items.map(({ id, marks }) => [id, marks.includes("forced")])).toEqual([
      ["input:x", false],
      ["a", false],
      ["b", true],
      ["output:y", false],
    ]);
    expect(items[2]?.letters).toBe("forced");
    expect(wires.map(({ forced }) => forced === true)).toEqual([false, true, false, true]);
    const told = /class="mg-legend".*forced, not seen/;
    expect(draw(layout(shown(graph), viz))).toMatch(told);
    const edge = withCases(sketch("x > a/relu > y\nx > y"), [caseOf("seen"), caseOf("no", { forced: true })], {
      "input:x > output:y": [1],
    });
    expect(draw(layout(shown(edge), viz))).toMatch(told);
  });
});

describe("what does nothing in some cases", () => {
  const boxes = (more: Parameters<typeof caseOf>[1][]) => {
    const graph = sketch("x > a/linear > dropout > getitem > b/linear > y");
    const { items } = shown(
      withCases(
        graph,
        more.map((one, i) => caseOf(`${i}`, one)),
        {},
      ),
    ).root;
    return items.map(({ id }) => id).filter((id) => id.startsWith("/"));
  };
  const training = { "/dropout": { arguments: { training: true } } };
  const longer = { "/dropout:0": { shape: [5, 8], dtype: "float32" } };

  it("is hidden if it does nothing in any", () => {
    expect(boxes([])).toEqual([]);
    expect(boxes([{}, {}])).toEqual([]);
  });

  it("is drawn if it acts in one, whichever is the first", () => {
    expect(boxes([{}, { fields: training }])).toEqual(["/dropout"]);
    expect(boxes([{ fields: training }, {}])).toEqual(["/dropout"]);
    expect(boxes([{}, { tensors: longer }])).toEqual(["/getitem"]);
  });
});

describe("letters at edges", () => {
  it("are nearer to their own line than to any other, and on no arrow", () => {
    // three edges of one case each arrive at one box, besides one of all
    const names = ["p", "q", "r", "s"];
    const text = [
      ...names.map((name) => `x > ${name}/conv > ${name}/mul`),
      ...names.map((name) => `${name}/mul > /cat`),
      "/cat > y",
    ].join("\n");
    const where = Object.fromEntries(["p", "q", "r"].map((name, i) => [`${name}/mul > /cat`, [i]]));
    const graph = withCases(
      sketch(text),
      ["one", "two", "three"].map((name) => caseOf(name)),
      where,
    );
    const { root } = layout(shown(graph), viz);
    const { frame, geometry } = root;
    const places = wireLetters(frame, geometry);
    const lettered = frame.wires.flatMap(({ letters }, i) => (letters ? [i] : []));
    expect(lettered).toHaveLength(3);
    lettered.forEach((own, i) => {
      const { x, y, width, height } = places[i]?.box ?? { x: 0, y: 0, width: 0, height: 0 };
      const far = geometry.lines.map((line) =>
        Math.min(
          ...line.slice(1).map(([toX, toY], j) => {
            const [fromX, fromY] = line[j] ?? [toX, toY];
            const apart = (low: number, high: number, a: number, b: number) =>
              Math.max(low - Math.max(a, b), Math.min(a, b) - high, 0);
            return apart(x, x + width, fromX, toX) + apart(y, y + height, fromY, toY);
          }),
        ),
      );
      expect(far.indexOf(Math.min(...far))).toBe(own);
      expect(far[own]).toBeGreaterThan(3.5);
    });
  });
});

describe("a bundle", () => {
  it("says that only some cases run some of it, and so does what the chips compare", () => {
    const text = `x > ${Array.from({ length: 30 }, (_, i) => (i % 2 === 0 ? `/relu${i}` : `/mul${i}`)).join(" > ")} > y`;
    const graph = withCases(sketch(text), [caseOf("eval"), caseOf("train")], { "/mul15": [1] });
    const seen = view(index(graph), { expanded: [], unrolled: [], direction: "TB", most: 8 });
    const [bundle] = seen.root.items.filter(({ kind }) => kind === "bundle");
    expect(bundle).toMatchObject({ hidden: [[1]], detail: expect.stringMatching(/some only b$/) });
    expect(bundle?.letters).toBeUndefined();
    expect(draw(layout(seen, viz))).toContain('data-hidden="1"');
  });
});

describe("repeats that some cases take less often", () => {
  const blocks = (where: Record<string, number[]>) =>
    shown(withCases(chain, [caseOf("few"), caseOf("many")], where)).root.items.map(({ id, least, times, letters }) => [
      id,
      least,
      times,
      letters,
    ]);
  const inside = (block: string, cases: number[]) =>
    Object.fromEntries(["norm", "mul", "add"].map((op) => [`${block}/${op}`, cases]));

  it("say the least and the most", () => {
    expect(blocks(inside("b.2", [1]))[2]).toEqual(["b.0", 2, 3, undefined]);
  });

  it("have the number of each case for the chips", () => {
    const graph = withCases(chain, [caseOf("few"), caseOf("many")], inside("b.2", [1]));
    expect(draw(layout(shown(graph), viz))).toContain('data-sizes="×2|×3"');
  });

  it("are represented by a repeat of all their cases only", () => {
    expect(blocks(inside("b.0", [1])).slice(2, 4)).toEqual([
      ["b.0", undefined, 1, "b"],
      ["b.1", undefined, 2, undefined],
    ]);
  });
});

describe("a loop with steps for each case", () => {
  it("is one box, although each case leaves it after another step", () => {
    const text =
      "x > c.0/mul > c.0/add > c.1/mul > c.1/add > c.2/mul > c.2/add > c.3/mul > c.3/add > y\nc.1/add > few > f";
    const [short, long] = [[0], [1]];
    const later = Object.fromEntries(["c.2/mul", "c.2/add", "c.3/mul", "c.3/add", "output:y"].map((id) => [id, long]));
    const where = { ...later, "/few": short, "output:f": short };
    const boxes = shown(withCases(sketch(text), [caseOf("short"), caseOf("long")], where)).root.items;
    expect(boxes[1]).toMatchObject({ id: "c.0", least: 2, times: 4 });
    expect(boxes.map(({ id, letters }) => [id, letters]).slice(2)).toEqual([
      ["/few", "a"],
      ["output:y", "b"],
      ["output:f", "a"],
    ]);
  });

  it("keeps steps apart whose results are read only in forced passes", () => {
    const steps = [0, 1, 2, 3].map((i) => `${i > 0 ? `c.${i - 1}/relu` : "x"} > c.${i}/mul > c.${i}/add > c.${i}/relu`);
    const exits = [0, 1, 2, 3].map((i) => `c.${i}/relu > y`);
    const forced = Object.fromEntries([0, 1, 2].map((i) => [`c.${i}/relu > output:y`, [1]]));
    const graph = withCases(
      sketch([...steps, ...exits].join("\n")),
      [caseOf("seen"), caseOf("no", { forced: true })],
      forced,
    );
    for (const edge of Object.values(graph.adjacency).flat()) if (edge.to === "output:y") edge.argument = "y";
    const { items, wires } = shown(graph).root;
    expect(items.map(({ id, times }) => [id, times])).toEqual([
      ["input:x", 1],
      ["c.0", 3],
      ["c.3", 1],
      ["output:y", 1],
    ]);
    expect(wires.filter((wire) => wire.forced).map(({ from, to }) => [from, to])).toEqual([[1, 3]]);
  });
});
