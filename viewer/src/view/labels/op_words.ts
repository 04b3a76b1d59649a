/** The text on ops: `softmax dim -1`, `× 0.125`, `> 0.5`, `[:, 0]`. */

import type { GraphIndex, Json, OpNode } from "../../graph/graph.js";
import { shortName } from "../../graph/names.js";
import { memoByKey } from "../../shared/memo.js";
import { type Attributes, text } from "./module_summary.js";
import { type Glyph, glyph } from "./op_families.js";
import { argumentsOf, factorText } from "./size_words.js";

/** Most characters of an argument's value. */
const MAX_VALUE = 24;

const SIGNS: Readonly<Record<Glyph, string>> = { add: "+", sub: "−", mul: "×", div: "÷", cat: "∥" };
/** The sign with the same effect for the opposite number. */
const OPPOSITE: Partial<Record<Glyph, Glyph>> = { add: "sub", sub: "add" };
const COMPARISONS: ReadonlyMap<string, string> = new Map(
  Object.entries({ gt: ">", lt: "<", ge: "≥", le: "≤", eq: "==", ne: "≠" }),
);

/** Arguments shown as the detail of ops; the first matching rule wins. A prefix precedes the value. */
const SHOWN_ARGUMENTS: readonly (readonly [rule: RegExp, keys: readonly string[], prefix?: string])[] = [
  [/^(transpose|swapaxes|movedim)$/, ["dim0", "dim1", "0", "1"]],
  [/^permute$/, ["dims", "0"]],
  [/^(to|type|type_as)$/, ["dtype", "0", "1"]],
  [/^(pow|float_power)$/, ["exponent", "0", "1"]],
  [/^rpow$/, ["other"], "base "],
  [/^(add|sub)$/, ["alpha"], "alpha "],
  [/^clamp_(min|max)$/, ["min", "max"]],
  [/^(topk|kthvalue)$/, ["k"]],
  [/^flip$/, ["dims"], "dim "],
  [/^roll$/, ["shifts"]],
  [/^where$/, ["other"], "else "],
  [/^(masked_fill|fill|full|full_like|new_full|nan_to_num)$/, ["value", "fill_value", "nan"]],
  [/^(leaky_relu|elu|celu|softplus|threshold|dropout)$/, ["negative_slope", "alpha", "beta", "threshold", "p"]],
  [/^(hardtanh)$/, ["min_val", "max_val"]],
  [/^interpolate$/, ["scale_factor"], "×"],
  [/pool\d?d?$/, ["kernel_size", "output_size"]],
  [/^(tril|triu|diagonal)$/, ["diagonal", "offset"]],
  [/^(quantile|lerp|addcmul|addcdiv|round)$/, ["q", "weight", "value", "decimals"]],
  [/^(repeat_interleave|one_hot)$/, ["repeats", "num_classes"]],
];

/** Arguments shown with their names: `min 0, max 1`. */
const NAMED_ARGUMENTS: readonly (readonly [rule: RegExp, keys: readonly string[]])[] = [
  [/^(clamp|clip)$/, ["min", "max"]],
  [/^((vector_|matrix_|re)?norm|[cp]?dist)$/, ["p", "ord", "dim"]],
];
/** The `p` of norms by default. */
const USUAL_NORM = "fro";

/** The name of an op, and its arguments. */
export function opWords(index: GraphIndex, node: OpNode): { name: string; detail: string } {
  const kind = kindOf(node.name);
  const args = argumentsOf(index, node);
  const key = operandKey(node.arguments ?? {});
  const operand = key === undefined ? undefined : args[key];
  const name = opName(node, kind, args, operand);
  return { name, detail: opDetail(args, kind, name === kind.name ? operand : undefined) };
}

/** What follows from the name of an op. */
interface Kind {
  name: string;
  sign: Glyph | undefined;
  rule: (typeof SHOWN_ARGUMENTS)[number] | undefined;
  named: readonly string[] | undefined;
}

const kindOf = memoByKey((full: string): Kind => {
  const name = shortName(full);
  const rule = SHOWN_ARGUMENTS.find(([names]) => names.test(name));
  const named = NAMED_ARGUMENTS.find(([names]) => names.test(name))?.[1];
  return { name, sign: glyph(full), rule, named };
});

/** @param operand the number, or the name of a size, that the op combines its tensor with */
function opName(node: OpNode, { name, sign }: Kind, args: Attributes, operand: Json | undefined): string {
  // without a key, the index is a tensor
  if (name === "getitem") return indexedWeight(node, args) ?? indexText(args.key) ?? "index";
  if (name === "setitem") return assignmentText(args);
  const comparison = COMPARISONS.get(name);
  if (comparison !== undefined && operand !== undefined) return `${comparison} ${operandText(operand)}`;
  if (sign === undefined) return name;
  // `1 - x` is a call of `x.__rsub__(1)`
  if (operand !== undefined)
    return name.startsWith("r") ? `${operandText(operand)} ${SIGNS[sign]}` : signed(sign, operand);
  return withWeight(node, sign) ?? name;
}

/** `pos_embed[:, 0]` for a part of a weight. */
function indexedWeight({ weights = {} }: OpNode, args: Attributes): string | undefined {
  const [weight] = Object.values(weights);
  return weight && `${weight.slice(weight.lastIndexOf(".") + 1)}${indexText(args.key) ?? "[…]"}`;
}

/** `× scale`; undefined unless the op combines one tensor with one weight. */
function withWeight({ name, weights = {} }: OpNode, sign: Glyph): string | undefined {
  const [weight, ...more] = Object.entries(weights);
  if (weight === undefined || more.length > 0) return undefined;
  const known = weight[1].slice(weight[1].lastIndexOf(".") + 1);
  const first = /^(self|input)$/.test(weight[0]) && (sign === "sub" || sign === "div");
  return first !== shortName(name).startsWith("r") ? `${known} ${SIGNS[sign]}` : `${SIGNS[sign]} ${known}`;
}

/** `- -0.4` becomes `+ 0.4`. */
function signed(sign: Glyph, value: Json): string {
  const opposite = typeof value === "number" && value < 0 ? OPPOSITE[sign] : undefined;
  return opposite === undefined
    ? `${SIGNS[sign]} ${operandText(value)}`
    : `${SIGNS[opposite]} ${operandText(-Number(value))}`;
}

/** With the minus sign of formulas. */
function operandText(value: Json): string {
  return typeof value === "number" ? numberText(value).replace(/^-/, "−") : factorText(text(value));
}

/** Names of tensors in an index. */
const INDICES = "ijklmn";

/** `["::", 0]` → `[:, 0]`: an index as in Python, with tensors as `i`, `j`; undefined if it is too long. */
function indexText(key: Json | undefined): string | undefined {
  if (key === undefined) return undefined;
  let tensors = 0;
  const part = (entry: Json): string => {
    if (entry === null) return "None";
    if (entry === "tensor") return INDICES[tensors++] ?? "…";
    return typeof entry === "string" ? entry.replace(/:$/, "") : JSON.stringify(entry);
  };
  const written = `[${(Array.isArray(key) ? key : [key]).map(part).join(", ")}]`;
  return written.length <= MAX_VALUE ? written : undefined;
}

/** `y[:, 0] = 1` as `[:, 0] = 1`. */
function assignmentText({ key, value }: Attributes): string {
  const at = indexText(key);
  return `${at === undefined ? "setitem" : `${at} =`} ${valueText(value)}`.trim();
}

/** The argument that is a number which an op combines its tensor with. */
export function operandKey(args: Attributes): string | undefined {
  return OPERANDS.find((key) => typeof args[key] === "number");
}

const OPERANDS = ["other", "1", "0", "input"];

/** @param operand what the op combines its tensor with, unless the name says it */
function opDetail(args: Attributes, { rule, named }: Kind, operand: Json | undefined): string {
  if (named !== undefined) {
    const shown = named.filter((key) => !(key === "p" && args[key] === USUAL_NORM));
    return joined(shown.map((key) => prefixed(`${key} `, valueText(args[key]))));
  }
  if (rule !== undefined) return prefixed(rule[2] ?? "", joined(rule[1].map((key) => valueText(args[key]))));
  const axis = valueText(args.dim ?? args.axis);
  return axis === "" ? oneText(operand) : `dim ${axis}`;
}

function joined(parts: string[]): string {
  return parts.filter((part) => part !== "").join(", ");
}

function prefixed(prefix: string, value: string): string {
  return value === "" ? "" : prefix + value;
}

/** The text of an argument; empty if it is too long. */
function valueText(value: Json | undefined): string {
  const written = Array.isArray(value) ? value.map(valueText).join(", ") : oneText(value);
  return written.length <= MAX_VALUE ? written : "";
}

function oneText(value: Json | undefined): string {
  return typeof value === "number" ? numberText(value) : text(value).replace("torch.", "");
}

/** At most four decimals; large and tiny numbers as `1e9`. */
function numberText(value: number): string {
  const size = Math.abs(value);
  if (size >= 1e6 || (size > 0 && size < 5e-5)) {
    return value.toExponential(2).replace(/\.?0*e\+?/, "e");
  }
  return String(Math.round(value * 10000) / 10000);
}
