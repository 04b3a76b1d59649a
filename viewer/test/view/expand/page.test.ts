import { instance } from "@viz-js/viz";
import { describe, expect, it } from "vitest";
import { index } from "../../../src/graph/indexing.js";
import { type Layout, layout } from "../../../src/layout/layout.js";
import { view } from "../../../src/view/view.js";
import { firstState } from "../../first_state.js";
import { chain, residual, wrapped } from "../../fixtures.js";
import { sketch } from "../../sketch.js";
import { NO_FAULTS, validate } from "../../validate.js";

const viz = await instance();

describe("a picture for a page", () => {
  it("expands only what stays legible", () => {
    expect(firstState(index(wrapped), { fit: [600, 900] }).expanded).toEqual(["outer"]);
    expect(firstState(index(wrapped), { fit: [120, 120] }).expanded).toEqual([]);
  });

  it("chooses the direction that shows more or larger", () => {
    expect(firstState(index(residual), { fit: [200, 900] }).direction).toBe("TB");
    expect(firstState(index(residual), { fit: [900, 100] }).direction).toBe("LR");
    expect(firstState(index(chain), { fit: [900, 900] }).direction).toBe("TB");
  });

  it("wraps a left-to-right flow at the width of the page", () => {
    const long = index(sketch(`x > ${Array.from({ length: 24 }, (_, i) => `layer${i}`).join(" > ")} > y`));
    const drawn = (...fit: [number, number]) => layout(view(long, firstState(long, { direction: "LR", fit })), viz);
    const rows = ({ root }: Layout) => new Set(root.geometry.boxes.map((box) => box.y + box.height / 2)).size;
    const [paper, wall] = [drawn(300, 900), drawn(3000, 200)];
    expect(rows(paper)).toBeGreaterThan(5);
    expect(paper.width * 0.7).toBeLessThanOrEqual(300);
    expect(rows(wall)).toBe(1);
    for (const made of [paper, wall]) expect(validate(made)).toMatchObject(NO_FAULTS);
  });

  it("ignores the author's `expand` if the picture would be tiny", () => {
    const asked = { expand: ["b.1"], direction: "TB" as const };
    expect(firstState(index(chain), { ...asked, fit: [300, 300] }).expanded).toEqual(["b.1"]);
    expect(firstState(index(chain), { ...asked, fit: [300, 60] })).toMatchObject({ expanded: [], direction: "TB" });
  });
});
