/** Short summaries of layers' arguments: `768 → 3072`, `3 → 64, 7×7, s2`. */

import type { Json } from "../../graph/graph.js";
import { memoByKey } from "../../shared/memo.js";

export type Attributes = Record<string, Json>;
type Get = (...names: string[]) => Json | undefined;
/** `dimensions` is 2 for `Conv2d`; 0 if the class name has no number. */
type Summary = (get: Get, dimensions: number) => string;

/** Summaries by lower-case class name; the first match wins. */
const SUMMARIES: readonly (readonly [RegExp, Summary])[] = [
  [/conv.*transpose|conv\d|^lazyconv/, convolution],
  [/linear|^conv1d$|^dense/, (get) => arrow(get("in_features", "0", "nx"), get("out_features", "1", "nf"))],
  [/embedding/, (get) => times(get("num_embeddings", "0"), get("embedding_dim", "1"))],
  [/lstm|gru|rnn/, recurrence],
  [/groupnorm/, (get) => listed(get("num_channels", "1"), suffixed(get("num_groups", "0"), " groups"))],
  [/norm/, (get) => text(get("normalized_shape", "num_features", "num_channels", "0"))],
  [/adaptive.*pool/, (get, dimensions) => prefixed("→ ", spread(get("output_size", "0"), dimensions))],
  [/pool/, pooling],
  [
    /upsample|pixelshuffle/,
    (get) => prefixed("×", get("scale_factor", "upscale_factor")) || prefixed("→ ", get("size")),
  ],
  [/dropout|droppath/, (get) => prefixed("p=", get("p", "0"))],
  [/multiheadattention/, (get) => prefixed("heads ", get("num_heads"))],
];

export function attributeSummary(className: string, attributes: Attributes): string {
  // a text isn't a size: some modules describe themselves in sentences
  const get: Get = (...names) =>
    names.map((name) => attributes[name]).find((value) => value !== undefined && isSize(value));
  const [summary, dimensions] = summaryOf(className);
  return summary === undefined ? "" : summary(get, dimensions);
}

const summaryOf = memoByKey((className: string): [summary: Summary | undefined, dimensions: number] => {
  const lower = className.toLowerCase();
  const rule = SUMMARIES.find(([names]) => names.test(lower));
  return [rule?.[1], Number(/([123])d$/.exec(lower)?.[1] ?? 0)];
});

function isSize(value: Json): boolean {
  if (Array.isArray(value)) return value.every((entry) => entry === null || isSize(entry));
  return typeof value !== "string" && typeof value !== "object";
}

function convolution(get: Get, dimensions: number): string {
  const parts = [arrow(get("in_channels", "0"), get("out_channels", "1")), window(get("kernel_size", "2"), dimensions)];
  const stride = get("stride", "3");
  if (stride !== undefined && size(stride) !== size(1) && !isOnes(stride)) parts.push(`s${single(stride)}`);
  const dilation = get("dilation");
  if (dilation !== undefined && single(dilation) !== "1") parts.push(`dilation ${single(dilation)}`);
  const groups = get("groups");
  if (typeof groups === "number" && groups > 1) {
    parts.push(groups === get("in_channels", "0") ? "depthwise" : `groups ${groups}`);
  }
  return parts.filter((part) => part !== "").join(", ");
}

function recurrence(get: Get): string {
  const layers = get("num_layers");
  const parts = [arrow(get("input_size", "0"), get("hidden_size", "1"))];
  if (typeof layers === "number" && layers > 1) parts.push(`${layers} layers`);
  if (get("bidirectional") === true) parts.push("bidirectional");
  return parts.filter((part) => part !== "").join(", ");
}

function pooling(get: Get, dimensions: number): string {
  const stride = get("stride", "1");
  const parts = [window(get("kernel_size", "0"), dimensions)];
  if (stride !== undefined && stride !== null) parts.push(`s${single(stride)}`);
  return parts.filter((part) => part !== "").join(", ");
}

function suffixed(value: Json | undefined, suffix: string): string {
  return value === undefined ? "" : text(value) + suffix;
}

function listed(...values: (Json | undefined)[]): string {
  return values
    .map(text)
    .filter((part) => part !== "")
    .join(", ");
}

/** A kernel's size: `3×3`, or `k3` for a single number. */
function window(kernel: Json | undefined, dimensions: number): string {
  if (kernel === undefined || kernel === null) return "";
  const sizes = spread(kernel, dimensions);
  return Array.isArray(sizes) && sizes.length > 1 ? size(sizes) : `k${size(sizes)}`;
}

/** Repeats a single size for every dimension. */
function spread<T extends Json | undefined>(value: T, dimensions: number): T | Json[] {
  return typeof value === "number" && dimensions > 1 ? Array.from({ length: dimensions }, () => value) : value;
}

export function arrow(from: Json | undefined, to: Json | undefined): string {
  return from === undefined || to === undefined ? "" : `${text(from)} → ${text(to)}`;
}

function times(rows: Json | undefined, columns: Json | undefined): string {
  return rows === undefined || columns === undefined ? "" : `${text(rows)} × ${text(columns)}`;
}

function prefixed(prefix: string, value: Json | undefined): string {
  return value === undefined ? "" : prefix + text(value);
}

/** `[3, 3]` → `3×3`, `7` → `7`. */
function size(value: Json): string {
  return Array.isArray(value) ? value.map(text).join("×") : text(value);
}

/** `[2, 2]` → `2`, `[1, 2]` → `1×2`. */
function single(value: Json): string {
  const all = Array.isArray(value) ? [...new Set(value.map(text))] : [text(value)];
  return all.length === 1 ? (all[0] ?? "") : size(value);
}

function isOnes(value: Json): boolean {
  return Array.isArray(value) && value.every((entry) => entry === 1);
}

export function text(value: Json | undefined): string {
  if (value === undefined || value === null) return "";
  if (Array.isArray(value)) return value.map(text).join("×");
  return typeof value === "object" ? "" : String(value);
}
