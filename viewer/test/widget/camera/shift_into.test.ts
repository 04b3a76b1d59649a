import { describe, expect, it } from "vitest";
import { shiftInto } from "../../../src/widget/camera/visible.js";

describe("shiftInto", () => {
  it("moves as little as possible", () => {
    expect(shiftInto(10, 20, 0, 100)).toBe(0);
    expect(shiftInto(-5, 5, 0, 100)).toBe(5);
    expect(shiftInto(95, 105, 0, 100)).toBe(-5);
  });

  it("leaves a margin if there is room", () => {
    expect(shiftInto(-5, 5, 0, 100, 20)).toBe(25);
    expect(shiftInto(95, 105, 0, 100, 20)).toBe(-25);
    expect(shiftInto(-5, 90, 0, 100, 20)).toBe(7.5);
    expect(shiftInto(1, 99, 0, 100, 20)).toBe(0);
  });

  it("centres what is entirely outside", () => {
    expect(shiftInto(300, 320, 0, 100)).toBe(-260);
    expect(shiftInto(-300, -280, 0, 100)).toBe(340);
  });

  it("shows the beginning of what is too large", () => {
    expect(shiftInto(120, 320, 0, 100)).toBe(-120);
    expect(shiftInto(-20, 180, 0, 100)).toBe(20);
    expect(shiftInto(20, 220, 0, 100)).toBe(0);
  });
});
