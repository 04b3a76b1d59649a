/** Tensors and numbers as text. A file of its own: scripts that load later need it without the rest of the view. */
import type { GraphIndex, TensorSpec } from "../../graph/graph.js";
import { memoInObject } from "../../shared/memo.js";
import type { Wire } from "../frame.js";

/** Dtypes that labels omit. */
const USUAL_DTYPES = new Set(["float32", "bfloat16", "float16"]);

/** Assumptions that give the largest possible size. */
const UPPER_BOUNDS = new Set(["every element", "all different"]);

/** A wire with its label in the earlier of two graphs if that differs. */
export function withFormer(index: GraphIndex, wire: Wire): Wire {
  const spec = index.graph.formerTensors?.get(wire.tensor);
  return spec === undefined ? wire : { ...wire, former: labelOf(index, wire.tensor, spec) };
}

/** `1×16×768`; with unusual dtypes `1×16 int64`; with an assumed size `≤ 64×3` or `≈ 8`. */
export const tensorLabel = memoInObject((index: GraphIndex, tensor: string) =>
  labelOf(index, tensor, index.graph.tensors.get(tensor)),
);

function labelOf(index: GraphIndex, tensor: string, spec: TensorSpec | undefined): string {
  if (spec === undefined) return "";
  const shape = spec.shape === null ? "" : spec.shape.length === 0 ? "scalar" : spec.shape.join("×");
  const assumed = index.assumedSizes.size === 0 ? undefined : index.assumedSizes.get(index.producer.get(tensor) ?? "");
  const sign = assumed === undefined || shape === "" ? "" : UPPER_BOUNDS.has(assumed) ? "≤ " : "≈ ";
  return `${sign}${shape} ${USUAL_DTYPES.has(spec.dtype) ? "" : spec.dtype}`.trim();
}

const UNITS: readonly (readonly [number, string])[] = [
  [1e12, "T"],
  [1e9, "B"],
  [1e6, "M"],
  [1e3, "K"],
];

/** `124439808` → `124M`. */
export function formatCount(count: number): string {
  for (const [unit, letter] of UNITS) {
    // 999,600 is 1.0M, not 1000K
    if (count >= unit * 0.9995) return `${threeDigits(count / unit)}${letter}`;
  }
  return String(count);
}

function threeDigits(value: number): string {
  const factor = value < 9.995 ? 100 : value < 99.95 ? 10 : 1;
  return String(Math.round(value * factor) / factor);
}
