/** Shapes that readers know from papers: fans, towers, and dots where wires part. */
import { expect, it } from "vitest";
import { junctions } from "../../../src/draw/junctions.js";
import type { GraphData } from "../../../src/graph/graph.js";
import { index } from "../../../src/graph/indexing.js";
import { type Box, layout } from "../../../src/layout/layout.js";
import { view } from "../../../src/view/view.js";
import { sketch } from "../../sketch.js";
import { strippedInstance } from "../../stripped_viz.js";
import { NO_FAULTS, validate } from "../../validate.js";

type Line = Parameters<typeof junctions>[0][number];

const viz = await strippedInstance();

/** Id → box of the outermost items. */
function boxes(graph: GraphData, expanded: string[] = []): (id: string) => Box {
  const made = layout(view(index(graph), { expanded, unrolled: [], direction: "TB" }), viz);
  expect(validate(made)).toMatchObject(NO_FAULTS);
  const { frame, geometry } = made.root;
  return (id) => {
    const box = geometry.boxes[frame.items.findIndex((item) => item.id === id)];
    if (box === undefined) throw new Error(`no ${id}`);
    return box;
  };
}

const middle = ({ x, width }: Box) => x + width / 2;

/** As many branches as in DeepLab's pyramid; the last is the longest. */
function pyramid(branches: number): GraphData {
  const lines = Array.from({ length: branches }, (_, i) => `stem/conv > b.${i}/conv > b.${i}/norm`);
  const joins = Array.from({ length: branches }, (_, i) => `b.${i}/norm > cat`);
  return sketch(["x > stem/conv", ...lines, ...joins, "cat > head/linear > y"].join("\n"), {
    stem: "Stem",
    head: "Head",
  });
}

it.each([3, 4, 5])("centres the fork above and the join below %i branches, which stand in order", (count) => {
  const box = boxes(pyramid(count), [`b.${count - 1}`]);
  const branches = Array.from({ length: count }, (_, i) => box(`b.${i}`));
  expect(branches.map(middle)).toEqual([...branches.map(middle)].sort((a, b) => a - b));
  const low = middle(branches[Math.floor((count - 1) / 2)] as Box);
  const high = middle(branches[Math.ceil((count - 1) / 2)] as Box);
  for (const id of ["stem", "/cat", "head"]) {
    expect(middle(box(id))).toBeGreaterThanOrEqual(low - 1);
    expect(middle(box(id))).toBeLessThanOrEqual(high + 1);
  }
});

/** Height of a label, for which an input is higher than an open module beside it, which has none. */
const LABEL = 12;

const towers = sketch(
  [
    "words > text/embed > text/mix > text/norm > text/pool",
    "pixels > vision/embed > vision/mix > product > y",
    "text/pool > product",
  ].join("\n"),
  { text: "Text", vision: "Vision" },
);

it("aligns the tops of towers, and inputs stand near their use", () => {
  const box = boxes(towers, ["text", "vision"]);
  expect(box("text").y).toBe(box("vision").y);
  const late = sketch("words > text/embed > text/mix > text/norm > text/pool > join/attend > y\nmemory > join/attend", {
    text: "Text",
    join: "Join",
  });
  const beside = boxes(late, ["text"]);
  const [text, memory] = [beside("text"), beside("input:memory")];
  const higher = text.y + text.height - (memory.y + memory.height);
  expect(higher).toBeGreaterThanOrEqual(0);
  expect(higher).toBeLessThanOrEqual(LABEL);
});

it("marks where a tensor's wires part, not where lines bend, cross or run on", () => {
  const down: Line = [
    [0, 0],
    [0, 40],
  ];
  const aside: Line = [
    [0, 0],
    [0, 10],
    [30, 10],
    [30, 40],
  ];
  expect(junctions([down, aside])).toEqual([[0, 10]]);
  expect(junctions([down, down])).toEqual([]);
  expect(junctions([aside])).toEqual([]);
});
