import { describe, expect, it } from "vitest";
import { index } from "../src/graph.js";
import { initialState } from "../src/initial.js";
import { chain, residual, wrapped } from "./fixtures.js";

describe("a picture for a page", () => {
  it("opens what stays legible there, and no more", () => {
    expect(initialState(index(wrapped), { fit: [600, 900] }).expanded).toEqual(["outer"]);
    expect(initialState(index(wrapped), { fit: [120, 120] }).expanded).toEqual([]);
  });

  it("runs in the direction that shows more, or shows it larger", () => {
    expect(initialState(index(residual), { fit: [200, 900] }).direction).toBe("TB");
    expect(initialState(index(residual), { fit: [900, 100] }).direction).toBe("LR");
    expect(initialState(index(chain), { fit: [900, 900] }).direction).toBe("TB");
  });

  it("keeps what the author wants open, unless it would be tiny", () => {
    const asked = { expand: ["b.1"], direction: "TB" as const };
    expect(initialState(index(chain), { ...asked, fit: [300, 300] }).expanded).toEqual(["b.1"]);
    expect(initialState(index(chain), { ...asked, fit: [300, 60] })).toMatchObject({ expanded: [], direction: "TB" });
  });
});
