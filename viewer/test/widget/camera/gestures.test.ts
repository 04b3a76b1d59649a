import { describe, expect, it } from "vitest";
import { isForDiagram, wheelDelta } from "../../../src/widget/camera/gestures.js";

const event = (type: string, parts: object = {}) =>
  ({ type, cancelable: true, ctrlKey: false, metaKey: false, ...parts }) as unknown as Event;

describe("isForDiagram", () => {
  it("accepts the wheel with Control or Command, or in fullscreen", () => {
    expect(isForDiagram(event("wheel"), false)).toBe(false);
    expect(isForDiagram(event("wheel", { ctrlKey: true }), false)).toBe(true);
    expect(isForDiagram(event("wheel", { metaKey: true }), false)).toBe(true);
    expect(isForDiagram(event("wheel"), true)).toBe(true);
  });

  it("accepts drags with the main button only", () => {
    expect(isForDiagram(event("mousedown", { button: 0 }), false)).toBe(true);
    expect(isForDiagram(event("mousedown", { button: 2 }), false)).toBe(false);
    // the context menu of a one-button mouse
    expect(isForDiagram(event("mousedown", { button: 0, ctrlKey: true }), false)).toBe(false);
  });

  it("accepts two fingers, or one in fullscreen", () => {
    expect(isForDiagram(event("touchstart", { touches: [1] }), false)).toBe(false);
    expect(isForDiagram(event("touchstart", { touches: [1, 2] }), false)).toBe(true);
    expect(isForDiagram(event("touchstart", { touches: [1] }), true)).toBe(true);
  });

  it("rejects fingers while the browser scrolls with them", () => {
    expect(isForDiagram(event("touchstart", { touches: [1, 2], cancelable: false }), false)).toBe(false);
  });
});

describe("wheelDelta", () => {
  const wheel = (deltaY: number, deltaMode = 0) => wheelDelta({ deltaY, deltaMode } as WheelEvent);

  it("zooms in when the wheel rolls away, in proportion and within bounds", () => {
    expect(wheel(-4)).toBeCloseTo(0.04);
    expect(wheel(-100)).toBeCloseTo(0.3);
    expect(wheel(1000)).toBe(-wheel(-1000));
  });

  it("converts lines to pixels", () => {
    expect(wheel(-1, 1)).toBeCloseTo(0.16);
  });
});
