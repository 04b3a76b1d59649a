/** The rows of the table of costs. */
import { expect, it } from "vitest";
import { type CostRow, shortened } from "../../../src/widget/lenses/cost_rows.js";

const rows = ["a", "b", "c", "d"].map((id) => ({ id }) as CostRow);
const shown = (asked?: string) => shortened(rows, 2, asked).map(({ id }) => id);

it("are the first ones, and the one that is asked for", () => {
  expect(shown()).toEqual(["a", "b"]);
  expect(shown("b")).toEqual(["a", "b"]);
  expect(shown("d")).toEqual(["a", "b", "d"]);
  expect(shown("gone")).toEqual(["a", "b"]);
});
