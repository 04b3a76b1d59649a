import { describe, expect, it } from "vitest";
import { isOurs, wheelDelta } from "../../src/element/gestures.js";

const event = (type: string, parts: object = {}) =>
  ({ type, ctrlKey: false, metaKey: false, ...parts }) as unknown as Event;

describe("isOurs", () => {
  it("leaves the plain wheel to the page and takes it with Control, Command or the whole screen", () => {
    expect(isOurs(event("wheel"), false)).toBe(false);
    expect(isOurs(event("wheel", { ctrlKey: true }), false)).toBe(true);
    expect(isOurs(event("wheel", { metaKey: true }), false)).toBe(true);
    expect(isOurs(event("wheel"), true)).toBe(true);
  });

  it("drags with the main button only", () => {
    expect(isOurs(event("mousedown", { button: 0 }), false)).toBe(true);
    expect(isOurs(event("mousedown", { button: 2 }), false)).toBe(false);
    // the context menu of a one-button mouse
    expect(isOurs(event("mousedown", { button: 0, ctrlKey: true }), false)).toBe(false);
  });

  it("lets one finger scroll the page and takes two", () => {
    expect(isOurs(event("touchstart", { touches: [1] }), false)).toBe(false);
    expect(isOurs(event("touchstart", { touches: [1, 2] }), false)).toBe(true);
    expect(isOurs(event("touchstart", { touches: [1] }), true)).toBe(true);
  });
});

describe("wheelDelta", () => {
  const wheel = (deltaY: number, deltaMode = 0) => wheelDelta({ deltaY, deltaMode } as WheelEvent);

  it("zooms in when rolling away, more for more, within bounds", () => {
    expect(wheel(-4)).toBeCloseTo(0.04);
    expect(wheel(-100)).toBeCloseTo(0.3);
    expect(wheel(1000)).toBe(-wheel(-1000));
  });

  it("understands lines", () => {
    expect(wheel(-1, 1)).toBeCloseTo(0.16);
  });
});
