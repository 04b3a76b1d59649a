/** The scales of all lenses: costs and an author's numbers. */
import type { GraphIndex } from "../../graph/graph.js";
import type { BoxLens, Cost } from "../../session/costs.js";
import { isNumberLens, numbersOf, writtenNumber } from "../../session/numbers.js";
import { strings } from "../../shared/strings.js";
import { NumberScale } from "./number_scale.js";
import { LensScale, written } from "./scale.js";

/** The scale of a lens. */
export type BoxScale = LensScale | NumberScale;

export function scaleOf(lens: BoxLens, index: GraphIndex, whole: Cost): BoxScale {
  return isNumberLens(lens) ? new NumberScale(lens, numbersOf(index, lens)) : new LensScale(lens, whole);
}

/** The name of a lens. */
export function nameOf(lens: BoxLens, index: GraphIndex): string {
  return isNumberLens(lens) ? numbersOf(index, lens).name : strings[lens];
}

/** An amount in the unit of its lens. */
export function writtenIn(index: GraphIndex, value: number, lens: BoxLens): string {
  return isNumberLens(lens) ? writtenNumber(numbersOf(index, lens), value) : written(value, lens);
}
