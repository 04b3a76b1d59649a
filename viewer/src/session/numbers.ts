/** Numbers that an author gives to nodes: those of closed modules, and how they are written. */
import type { Numbers } from "../../generated/overlay.js";
import { type GraphIndex, ROOT } from "../graph/graph.js";
import { localNumber } from "../shared/amounts.js";
import { memoByObject } from "../shared/memo.js";

export type { Numbers };

/** The position of numbers in the list of the graph. */
export type NumberLens = `numbers${number}`;

const NONE: Numbers = { name: "", values: {} };

/** The numbers of a lens; empty in a graph that has none, for example another version. */
export function numbersOf({ graph }: GraphIndex, lens: NumberLens): Numbers {
  return graph.numbers?.[Number(lens.slice("numbers".length))] ?? NONE;
}

export function isNumberLens(lens: string): lens is NumberLens {
  return lens.startsWith("numbers");
}

/** For each list of numbers, those of nodes with one of their own or, in modules and functions, the largest inside. */
export const numbersInside = memoByObject((index: GraphIndex): ReadonlyMap<string, number>[] =>
  (index.graph.numbers ?? []).map((numbers) => {
    const found = new Map(Object.entries(numbers.values));
    for (const [id, value] of Object.entries(numbers.values)) {
      for (let at = index.parent.get(id) ?? ROOT; at !== ROOT; at = index.parent.get(at) ?? ROOT)
        if (!Object.hasOwn(numbers.values, at)) found.set(at, furthest(numbers.scale, [found.get(at), value]) ?? value);
    }
    return found;
  }),
);

/** The largest of some numbers; on a diverging scale, the one furthest from 0. */
export function furthest(scale: Numbers["scale"], values: readonly (number | undefined)[]): number | undefined {
  const size = (value: number) => (scale === "diverging" ? Math.abs(value) : value);
  const known = values.filter((value) => value !== undefined);
  return known.length === 0 ? undefined : known.reduce((most, value) => (size(value) > size(most) ? value : most));
}

/** A number with its unit, in the author's format. */
export function writtenNumber({ format = "", unit = "" }: Numbers, value: number): string {
  return `${formatted(value, format)}${unit === "" ? "" : ` ${unit}`}`;
}

function formatted(value: number, format: string): string {
  const [, plus, comma, digits = "", type = ""] = /^(\+?)(,?)(?:\.(\d+))?([efgd%]?)$/.exec(format) ?? [];
  const useGrouping = Boolean(comma);
  const sign = plus && value > 0 ? plus : "";
  if (type === "" || type === "g") return sign + general(value, Number(digits || 3) || 1, useGrouping);
  const count = type === "d" ? 0 : Number(digits || 6);
  if (type === "e") return sign + value.toExponential(count);
  const exactly = { useGrouping, minimumFractionDigits: count, maximumFractionDigits: count };
  return `${sign}${localNumber(type === "%" ? 100 * value : value, exactly)}${type === "%" ? " %" : ""}`;
}

/** With so many digits, and all digits of a whole number. */
function general(value: number, digits: number, useGrouping: boolean): string {
  const size = Math.abs(value);
  if (!useGrouping && value !== 0 && (size < 1e-4 || size >= 1e6)) return value.toExponential(digits - 1);
  const whole = size < 1 ? 1 : Math.floor(Math.log10(size)) + 1;
  return localNumber(value, { useGrouping, maximumSignificantDigits: Math.min(21, Math.max(digits, whole)) });
}
