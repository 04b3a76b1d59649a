/** Merged moments → a recording as pages carry it, as `src/modeldiagrams/watching/page.py` makes it. */
import type { Finding, Heat, TensorSeries } from "../../../../generated/recording.js";
import { KINDS, type Recording, type Series, STATISTICS, type Statistic } from "../data.js";
import type { Key, Loss, Row } from "./decoder.js";
import { type Counts, INFINITE, SHOWN } from "./histogram.js";
import type { Moment } from "./merging.js";

const WITH_HEAT: ReadonlySet<string> = new Set(["activation", "gradient", "parameter"]);
/** On one side of zero: 24 octaves, seven powers of ten. */
const MOST_BINS = 48;
/** Share of the values whose magnitudes count as zero in a picture. */
const NEAR_ZERO = 0.01;
const DARKEST = 7;

/** What a file says beside its moments. */
export interface Rest {
  name: string;
  losses: readonly Loss[];
  findings: readonly Finding[];
  notes: readonly string[];
}

/** @param nodes ids of all nodes of the graph, in order */
export function pageOf(moments: readonly Moment[], nodes: readonly string[], rest: Rest): Recording {
  const steps = moments.map(({ last }) => last);
  const places = new Map(["", ...nodes].map((node, place) => [node, place]));
  const keys = new Map(moments.flatMap(({ rows }) => [...rows].map(([text, { key }]) => [text, key] as const)));
  const shown = [...keys].filter(([, [, kind]]) => (KINDS as readonly string[]).includes(kind));
  const placeOf = ([, [node]]: [string, Key]) => places.get(node) ?? -1;
  const known = shown.filter((entry) => placeOf(entry) >= 0).sort((a, b) => placeOf(a) - placeOf(b));
  const strangers = [...new Set(shown.filter((entry) => placeOf(entry) < 0).map(([, [node]]) => node))];
  return {
    name: rest.name,
    steps,
    loss: lossOf(rest.losses, steps),
    tensors: known.map(([text, key]) => tensorOf(text, key, moments)),
    findings: [...rest.findings],
    strangers,
    notes: [...rest.notes],
  };
}

/** The mean from after one moment to the end of the next. */
function lossOf(losses: readonly Loss[], steps: readonly number[]): (number | null)[] {
  let start = 0;
  return steps.map((step) => {
    let end = start;
    let sum = 0;
    for (let loss = losses[end]; loss !== undefined && loss.step <= step; loss = losses[++end]) sum += loss.value;
    const mean = sum / (end - start);
    start = end;
    return Number.isFinite(mean) ? Number(mean.toPrecision(4)) : null;
  });
}

function tensorOf(text: string, [node, kind, name]: Key, moments: readonly Moment[]): Recording["tensors"][number] {
  const rows = moments.map((moment) => moment.rows.get(text)?.row);
  return {
    node,
    kind: kind as TensorSeries["kind"],
    name,
    seen: rows.map((row) => (row === undefined ? "0" : "1")).join(""),
    values: valuesOf(rows),
    heat: WITH_HEAT.has(kind) ? heatOf(rows) : null,
  };
}

const MEASURED: Readonly<Record<Statistic, (row: Row) => number | undefined>> = {
  min: ({ min }) => codeOf(min),
  max: ({ max }) => codeOf(max),
  mean: ({ mean }) => codeOf(mean),
  rms: ({ norm, count, moments }) => codeOf(count === 0 ? 0 : norm / Math.sqrt(count / moments)),
  ratio: ({ ratio }) => codeOf(ratio),
  zeros: ({ zeros, count }) => shareCode(zeros, count),
  bad: ({ bad, count }) => shareCode(bad, count),
  dead: ({ dead, units }) => (units === 0 ? undefined : shareCode(dead, units)),
};

/** By statistic; what no row has is left out. */
function valuesOf(rows: readonly (Row | undefined)[]): Partial<Record<Statistic, Series>> {
  const found: Partial<Record<Statistic, Series>> = {};
  for (const name of STATISTICS) {
    const codes = rows.map((row) => (row === undefined ? undefined : MEASURED[name](row)));
    if (codes.some((code) => code !== undefined)) found[name] = differences(codes);
  }
  return found;
}

/** The logarithm in hundredths of a power of ten and 5000, with the number's sign. */
function codeOf(value: number | undefined): number | undefined {
  if (value === undefined || !Number.isFinite(value)) return undefined;
  return value === 0 ? 0 : Math.sign(value) * Math.max(1, rounded(100 * Math.log10(Math.abs(value))) + 5000);
}

/** In thousandths; never zero for something. */
function shareCode(part: number, whole: number): number {
  return part === 0 || whole === 0 ? 0 : Math.max(1, rounded(1000 * (part / whole)));
}

/** As Python rounds: halves to the even number. */
function rounded(value: number): number {
  const whole = Math.floor(value);
  const isHalf = value - whole === 0.5;
  return isHalf ? whole + (whole % 2 === 0 ? 0 : 1) : Math.round(value);
}

function differences(codes: readonly (number | undefined)[]): Series {
  let before = 0;
  return codes.map((code) => {
    if (code === undefined) return null;
    const difference = code - before;
    before = code;
    return difference;
  });
}

function heatOf(rows: readonly (Row | undefined)[]): Heat | null {
  const columns = rows.map((row) => finite(row?.histogram.counts ?? new Map()));
  const bounds = boundsOf(columns);
  // bins that are wider can't be split
  const isCoarse = rows.some((row) => row !== undefined && row.histogram.perOctave < SHOWN);
  if (bounds === undefined || isCoarse) return null;
  const [lowest, highest] = bounds;
  const magnitudes = Array.from({ length: highest - lowest + 1 }, (_, i) => highest - i);
  const bins = [...magnitudes, 0, ...[...magnitudes].reverse().map((bin) => -bin)];
  const shades = columns.map((column) => shadesOf(column, lowest));
  return { lowest, highest, rows: bins.map((bin) => shades.map((column) => column.get(bin) ?? "0").join("")) };
}

function finite(counts: Counts): Counts {
  return new Map([...counts].filter(([bin]) => Math.abs(bin) < INFINITE));
}

/** The least and the largest bin to show. */
function boundsOf(columns: readonly Counts[]): [number, number] | undefined {
  const sizes: Counts = new Map();
  for (const [bin, n] of columns.flatMap((column) => [...column])) {
    if (bin !== 0) sizes.set(Math.abs(bin), (sizes.get(Math.abs(bin)) ?? 0) + n);
  }
  const bins = [...sizes.keys()].sort((one, other) => one - other);
  const highest = bins.at(-1);
  if (highest === undefined) return undefined;
  let left = NEAR_ZERO * total(sizes);
  const lowest = bins.find((bin) => {
    left -= sizes.get(bin) ?? 0;
    return left < 0;
  });
  return [Math.max(lowest ?? highest, highest - MOST_BINS + 1), highest];
}

function total(counts: Counts): number {
  return [...counts.values()].reduce((sum, n) => sum + n, 0);
}

/** Bin → digit; small magnitudes are with zero. */
function shadesOf(column: Counts, lowest: number): Map<number, string> {
  const counts: Counts = new Map();
  for (const [bin, n] of column) {
    const place = Math.abs(bin) >= lowest ? bin : 0;
    counts.set(place, (counts.get(place) ?? 0) + n);
  }
  const all = total(column);
  return new Map([...counts].map(([bin, n]) => [bin, String(shade(n / all))]));
}

function shade(share: number): number {
  return Math.min(DARKEST, Math.max(1, DARKEST + 2 + Math.floor(Math.log2(share))));
}
