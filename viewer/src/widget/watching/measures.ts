/** The measures that can tint nodes: a statistic of some tensors, on a scale. The colours are in recording.css. */
import { scaleThreshold } from "d3-scale";
import type { ScaleEntry } from "../../session/colour_scale.js";
import { percent } from "../../shared/amounts.js";
import { words } from "../../shared/recording_strings.js";
import type { Finding, Kind, Recording, Statistic, Tensor } from "./data.js";
import { power, short } from "./numbers.js";

export interface Measure {
  name: string;
  text: string;
  /** Kind of the tensors; undefined for all. */
  kind?: Kind;
  statistic: Statistic;
  /** By powers of ten, by shares, or on both sides of a usual value. */
  scale: "size" | "share" | "around";
}

export const MEASURES: readonly Measure[] = [
  { name: "gradient", text: words.gradientSize, kind: "gradient", statistic: "rms", scale: "size" },
  { name: "update", text: words.updateRatio, kind: "update", statistic: "ratio", scale: "around" },
  { name: "dead", text: words.deadUnits, kind: "activation", statistic: "dead", scale: "share" },
  { name: "output", text: words.outputSize, kind: "activation", statistic: "rms", scale: "size" },
  { name: "zeros", text: words.outputZeros, kind: "activation", statistic: "zeros", scale: "share" },
  { name: "weight", text: words.weightSize, kind: "parameter", statistic: "rms", scale: "size" },
  { name: "bad", text: words.notFinite, statistic: "bad", scale: "share" },
];

export interface Scale {
  palette: "size" | "around";
  /** Their steps are negative below the middle of a scale that has one. */
  entries: readonly ScaleEntry[];
  stepOf(value: number): number;
  format(value: number): string;
}

/** Updates of about a thousandth of the weights are usual. */
const USUAL = 1e-3;
const AROUND = [1e-5, 1e-4, 3e-4, 3e-3, 1e-2, 1e-1];
const SHARES = [Number.MIN_VALUE, 0.01, 0.1, 0.25, 0.5, 0.75, 0.95];
/** Number of steps; recording.css has a colour for each. */
const MOST_STEPS = 7;

const MEASURE_OF: Readonly<Record<string, string>> = {
  activation: "output",
  gradient: "gradient",
  parameter: "weight",
  parameter_gradient: "gradient",
  update: "update",
};

/** The measure that shows a finding best; undefined if any does. */
export function measureFor({ kind, what }: Finding): string | undefined {
  return kind === "dead" ? "dead" : MEASURE_OF[what];
}

/** Whether a measure includes a tensor. */
export function isMeasured(tensor: Tensor, { kind, statistic }: Measure): boolean {
  return (kind === undefined || tensor.kind === kind) && tensor.values[statistic] !== undefined;
}

/** How bad a value is compared with others of its measure. */
export function badness(value: number, { scale }: Measure): number {
  return scale === "around" ? Math.abs(Math.log10(Math.max(value, Number.MIN_VALUE) / USUAL)) : value;
}

/** The scale of a measure, equal at all steps of all runs, so that colours are comparable. */
export function scaleOf(measure: Measure, recordings: readonly Recording[]): Scale {
  if (measure.scale === "share") return stepped("size", SHARES, 0, percent);
  if (measure.scale === "around") return stepped("around", AROUND, -3, short);
  return stepped("size", decades(valuesOf(measure, recordings)), 1, short);
}

function stepped(palette: Scale["palette"], bounds: number[], first: number, format: Scale["format"]): Scale {
  const steps = [...Array(bounds.length + 1).keys()].map((i) => first + Math.round(i * stretch(bounds, first)));
  const scale = scaleThreshold<number, number>(bounds, steps);
  const entries = steps.map((step, i) => ({ step, text: boundText(bounds, i, format) }));
  return { palette, entries, stepOf: (value) => scale(value), format };
}

/** Spreads a few steps over all colours. */
function stretch(bounds: readonly number[], first: number): number {
  return first === 1 ? (MOST_STEPS - 1) / bounds.length : 1;
}

function boundText(bounds: readonly number[], i: number, format: (value: number) => string): string {
  const [low, high] = [bounds[i - 1], bounds[i]];
  if (low === undefined) return high === Number.MIN_VALUE ? format(0) : `< ${bound(high ?? 0, format)}`;
  return low === Number.MIN_VALUE ? `> ${format(0)}` : `≥ ${bound(low, format)}`;
}

function bound(value: number, format: (value: number) => string): string {
  if (format !== short) return format(value);
  const exponent = Math.floor(Math.log10(value) + 1e-9);
  const factor = Math.round(value / 10 ** exponent);
  return factor === 1 ? power(exponent) : `${factor}·${power(exponent)}`;
}

/** Powers of ten that divide the values into at most as many steps as there are colours, without a few outliers. */
function decades(values: number[]): number[] {
  const sorted = values.filter((value) => value > 0).sort((a, b) => a - b);
  const at = (part: number) => Math.log10(sorted[Math.round(part * (sorted.length - 1))] ?? 1);
  const low = Math.floor(at(0.02)) + 1;
  const high = Math.max(low, Math.ceil(at(0.98)) - 1);
  const stride = Math.ceil((high - low + 1) / (MOST_STEPS - 1));
  const count = Math.floor((high - low) / stride) + 1;
  return [...Array(count).keys()].map((i) => 10 ** (low + i * stride));
}

function valuesOf(measure: Measure, recordings: readonly Recording[]): number[] {
  const tensors = recordings.flatMap((recording) => recording.tensors.filter((tensor) => isMeasured(tensor, measure)));
  return tensors.flatMap(({ values }) => values[measure.statistic]?.filter((value) => value !== null) ?? []);
}
