import { expect, it } from "vitest";
import { fits, placeInRows } from "../../src/shared/legend_rows.js";

it("starts a new row where an entry does not fit", () => {
  expect(placeInRows([40, 40, 40], 160).positions).toEqual([
    { x: 8, y: 0 },
    { x: 80, y: 0 },
    { x: 8, y: 20 },
  ]);
});

it("puts an entry that is too wide in a separate row", () => {
  const { positions, width, height } = placeInRows([300, 40], 160);
  expect(positions.map(({ y }) => y)).toEqual([0, 20]);
  expect([width, height]).toEqual([332, 48]);
});

it("fits a box that lacks only the outer margins", () => {
  const rows = placeInRows([40], 160);
  expect(fits(rows, { width: rows.width - 8, height: rows.height - 8 })).toBe(true);
  expect(fits(rows, { width: rows.width - 9, height: rows.height })).toBe(false);
});
