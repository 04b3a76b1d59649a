import { describe, expect, it } from "vitest";
import { blend, hex, parseColour } from "../../../src/widget/controls/css_colour.js";

describe("parseColour", () => {
  it.each([
    ["rgb(0, 0, 0)", [0, 0, 0, 1]],
    ["rgba(10, 20, 30, 0.5)", [10, 20, 30, 0.5]],
    ["rgba(0, 0, 0, 0)", [0, 0, 0, 0]],
    ["color(srgb 1 0.5 0 / 0.25)", [255, 127.5, 0, 0.25]],
    ["color(srgb 1.2 -0.1 0)", [255, 0, 0, 1]],
    ["color(srgb 1e-3 none 0)", [0.255, 0, 0, 1]],
  ])("reads %s", (text, parts) => {
    expect(parseColour(text).map((part) => Number(part.toFixed(3)))).toEqual(parts);
  });
});

it("blends one colour over another", () => {
  expect(hex(blend([0, 0, 0, 0.5], [255, 255, 255, 1]))).toBe("#808080");
  expect(blend([1, 2, 3, 0], [0, 0, 0, 0])).toEqual([0, 0, 0, 0]);
  expect(hex(blend([1, 2, 3, 1], [255, 255, 255, 1]))).toBe("#010203");
});
