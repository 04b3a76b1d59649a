import { describe, expect, it } from "vitest";
import { shiftInto } from "../../src/element/camera.js";

describe("shiftInto", () => {
  it("moves as little as possible", () => {
    expect(shiftInto(10, 20, 0, 100)).toBe(0);
    expect(shiftInto(-5, 5, 0, 100)).toBe(5);
    expect(shiftInto(95, 105, 0, 100)).toBe(-5);
  });

  it("shows the beginning of what is too large", () => {
    expect(shiftInto(20, 220, 0, 100)).toBe(-20);
  });
});
