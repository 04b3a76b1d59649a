/** The rows of the cost table: one for each closed box of the picture, so that nothing counts twice. */
import { ascending, descending } from "d3-array";
import { amountOf, type BoxLens, type Cost, LENSES } from "../../session/costs.js";
import type { NumberLens } from "../../session/numbers.js";

export interface CostRow {
  id: string;
  /** Path, or the name of an op. */
  name: string;
  class: string;
  /** How many equal nodes it represents. */
  times: number;
  cost: Cost;
}

/** The columns by which rows can be sorted. */
export type Column = "name" | "times" | BoxLens;

/** The columns of rows; that of times only if any was measured. */
export function columnsOf(rows: readonly CostRow[]): readonly Column[] {
  const numbers = rows[0]?.cost.numbers.map((_, i): NumberLens => `numbers${i}`) ?? [];
  return ["name", "times", ...numbers, ...LENSES.filter((lens) => lens !== "time" || hasTimes(rows))];
}

function hasTimes(rows: readonly CostRow[]): boolean {
  return rows.some(({ cost }) => cost.time !== undefined);
}

export interface RowOrder {
  column: Column;
  isAscending: boolean;
}

/** Rows in order; unknown amounts come last, and equal ones stay in execution order. */
export function sorted(rows: readonly CostRow[], { column, isAscending }: RowOrder): CostRow[] {
  const value = (row: CostRow) => {
    if (column === "name" || column === "times") return row[column];
    return amountOf(row.cost, column);
  };
  const compare = isAscending ? ascending : descending;
  return [...rows].sort((a, b) => {
    const [one, other] = [value(a), value(b)];
    if (one === undefined || other === undefined) return Number(one === undefined) - Number(other === undefined);
    return compare(one, other);
  });
}

/** The first rows, and a requested one. */
export function shortened(rows: readonly CostRow[], most: number, asked: string | undefined): CostRow[] {
  return rows.filter(({ id }, at) => at < most || id === asked);
}

/** All rows with unrounded numbers. @param names of the author's numbers */
export function asCsv(rows: readonly CostRow[], names: readonly string[]): string {
  const head = ["id", "name", "class", "count", "parameters", "flops", "activation_bytes", "moved_bytes", "time_ns"];
  const lines = rows.map(({ id, name, class: type, times, cost }) => {
    const { parameters, flops, memory, moved, time } = cost;
    return [id, name, type, times, parameters, flops, memory, moved, time];
  });
  const width = hasTimes(rows) ? head.length : head.length - 1;
  const numbers = [names, ...rows.map(({ cost }) => cost.numbers)];
  return [head, ...lines]
    .map((line, i) => `${[...line.slice(0, width), ...(numbers[i] ?? [])].map(quoted).join(",")}\r\n`)
    .join("");
}

function quoted(value: string | number | undefined): string {
  const text = String(value ?? "");
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
