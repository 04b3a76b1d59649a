/** The text on nodes and wires: names, details, tensor shapes and numbers. */
import {
  contentsOf,
  type GraphIndex,
  type GraphNode,
  type Json,
  type ModuleNode,
  type OpNode,
  ROOT,
} from "../graph/graph.js";
import { shortName } from "../graph/names.js";
import { strings } from "../shared/strings.js";
import { type Attributes, arrow, attributeSummary, listText, text } from "./module_summary.js";
import { family, type Glyph, glyph } from "./op_families.js";

/** The text of a node: its name, and a detail shown below it. */
export interface Words {
  name: string;
  detail: string;
}

/** Most characters of an argument's value. */
const MAX_VALUE = 24;

/** The error of the traced call: `RuntimeError: mat1 and mat2 shapes…`. */
export function failureText(index: GraphIndex): string {
  const { error } = index.graph.status;
  if (!error) return "";
  const message = error.message.split("\n", 1)[0] ?? "";
  return `${shortName(error.type)}: ${message}`;
}

/** The text of one node. */
export function words(index: GraphIndex, node: GraphNode): Words {
  switch (node.kind) {
    case "module":
      return { name: localName(index, node), detail: moduleDetail(index, node) };
    case "op":
      return { name: opName(node), detail: opDetail(node) };
    case "constant":
      return { name: node.name ?? "constant", detail: "" };
    case "parameter":
    case "buffer":
      return { name: localPath(index, node.id, node.name), detail: node.kind };
    default:
      return { name: node.name, detail: "" };
  }
}

/** Class with a summary such as `768 → 3072` for a leaf or a parameter count for a container; marks shared weights. */
function moduleDetail(index: GraphIndex, node: ModuleNode): string {
  const name = shortName(node.class);
  const inside = containsModules(index, node);
  const summary = inside ? "" : attributeSummary(name, node.attributes ?? {}) || weightSummary(index, node);
  const count = node.parameters.total;
  const size = inside && count > 0 ? ` · ${formatCount(count)}` : "";
  return `${name}${summary === "" ? "" : ` ${summary}`}${size}${sharing(index, node)}`;
}

function containsModules(index: GraphIndex, node: ModuleNode): boolean {
  return contentsOf(index, node.id).children.some((id) => index.nodes.get(id)?.kind === "module");
}

/** Names a layer after its class if its own name is only a number or the class: `Conv2d` with detail `3 → 32, 7×7`. */
export function byClass(index: GraphIndex, node: GraphNode, own: Words): Words {
  if (node.kind !== "module" || containsModules(index, node)) return own;
  const name = shortName(node.class);
  if (own.name !== name && !/^\d+$/.test(own.name)) return own;
  return { name, detail: own.detail.slice(name.length).replace(/^[ ·]+/, "") };
}

export const SHARED = strings.sameWeights;
const TIED = ` · ${strings.tiedToOthers}`;
export const SAME_WEIGHTS = ` · ${SHARED}`;

/** Marks modules that share weights, which the drawing cannot show otherwise. */
function sharing(index: GraphIndex, node: ModuleNode): string {
  if ((node.call ?? 1) > 1 && node.parameters.total > 0) return SAME_WEIGHTS;
  return index.tiedOwners.has(node.path) ? TIED : "";
}

/** `768 → 2304` or `512` from the weight, for layers whose attributes lack their sizes. */
function weightSummary(index: GraphIndex, node: ModuleNode): string {
  const ops = contentsOf(index, node.id).children.flatMap((id) => index.nodes.get(id) ?? []);
  const isNorm = family(node) === "normalisation";
  for (const op of ops) {
    if (op.kind !== "op") continue;
    const shapes = Object.values(op.weights ?? {}).map((weight) => index.graph.parameters.get(weight)?.shape ?? []);
    const summary = isNorm ? normWeight(shapes) : matrixWeight(shortName(op.name), shapes);
    if (summary !== "") return summary;
  }
  return "";
}

function normWeight([only, ...more]: number[][]): string {
  return only?.length === 1 && more.length === 0 ? text(only) : "";
}

function matrixWeight(op: string, shapes: number[][]): string {
  const [rows, columns] = shapes.find((shape) => shape.length === 2) ?? [];
  if (op === "linear") return arrow(columns, rows);
  return /^(addmm|matmul|mm|bmm)$/.test(op) ? arrow(rows, columns) : "";
}

/** The module's path relative to its parent: `encoder.layer.3` inside `encoder` is `layer.3`. */
export function localName(index: GraphIndex, node: ModuleNode): string {
  const name = localPath(index, node.id, node.path);
  return name === "" ? shortName(node.class) : name;
}

function localPath(index: GraphIndex, id: string, path: string): string {
  const parent = index.nodes.get(index.parent.get(id) ?? ROOT);
  const prefix = parent?.kind === "module" ? `${parent.path}.` : "";
  return path.startsWith(prefix) ? path.slice(prefix.length) : path;
}

// -- ops --------------------------------------------------------------------------------------------------------------

const SIGNS: Readonly<Record<Glyph, string>> = { add: "+", sub: "−", mul: "×", div: "÷", cat: "∥" };

/** Arguments shown in the detail, by op. */
const SHOWN_ARGUMENTS: readonly (readonly [RegExp, readonly string[]])[] = [
  [
    /^(softmax|log_softmax|mean|sum|cat|concat|stack|argmax|max|min|cumsum|chunk|split|unbind|flatten|norm)$/,
    ["dim", "axis"],
  ],
  [/^(transpose|swapaxes|movedim)$/, ["dim0", "dim1", "0", "1"]],
  [/^(permute)$/, ["dims", "0"]],
  [/^pow$/, ["exponent", "0", "1"]],
  [/^(to|type|type_as)$/, ["dtype", "0", "1"]],
];

function opName(node: OpNode): string {
  const name = shortName(node.name);
  // without a written key, the index is a tensor
  if (name === "getitem") return indexText(node.arguments?.key) ?? "index";
  const sign = glyph(node.name);
  if (sign === undefined) return name;
  const scalar = scalarOperand(node.arguments ?? {});
  // `1 - x` is a call of `x.__rsub__(1)`
  if (scalar !== undefined) return name.startsWith("r") ? `${scalar} ${SIGNS[sign]}` : `${SIGNS[sign]} ${scalar}`;
  const [weight, ...more] = Object.entries(node.weights ?? {});
  if (weight === undefined || more.length > 0) return name;
  const known = weight[1].slice(weight[1].lastIndexOf(".") + 1);
  const first = /^(self|input)$/.test(weight[0]) && (sign === "sub" || sign === "div");
  return first !== name.startsWith("r") ? `${known} ${SIGNS[sign]}` : `${SIGNS[sign]} ${known}`;
}

/** `["::", 0]` → `[:, 0]`: an index as in Python; undefined if it is too long. */
function indexText(key: Json | undefined): string | undefined {
  if (key === undefined) return undefined;
  const part = (entry: Json): string =>
    entry === null ? "None" : typeof entry === "string" ? entry.replace(/:$/, "") : JSON.stringify(entry);
  const written = `[${(Array.isArray(key) ? key : [key]).map(part).join(", ")}]`;
  return written.length <= MAX_VALUE ? written : undefined;
}

function scalarOperand(args: Attributes): string | undefined {
  for (const key of ["other", "1", "0", "input"]) {
    const value = args[key];
    if (typeof value === "number") return formatNumber(value);
  }
  return undefined;
}

function opDetail(node: OpNode): string {
  const name = shortName(node.name);
  const args = node.arguments ?? {};
  const keys = SHOWN_ARGUMENTS.find(([rule]) => rule.test(name))?.[1] ?? [];
  const values = keys.map((key) => listText(args[key])).filter((value) => value !== "" && value.length <= MAX_VALUE);
  if (values.length === 0) return "";
  return keys[0] === "dim" ? `dim ${values[0]}` : values.join(", ").replace("torch.", "");
}

// -- tensors and numbers ----------------------------------------------------------------------------------------------

/** Dtypes that labels omit. */
const USUAL_DTYPES = new Set(["float32", "bfloat16", "float16"]);

/** `1×16×768`, with unusual dtypes: `1×16 int64`. */
export function tensorLabel(index: GraphIndex, tensor: string): string {
  const spec = index.graph.tensors.get(tensor);
  if (spec === undefined) return "";
  const shape = spec.shape === null ? "" : spec.shape.length === 0 ? "scalar" : spec.shape.join("×");
  return USUAL_DTYPES.has(spec.dtype) ? shape : `${shape} ${spec.dtype}`.trim();
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

/** At most four decimals. */
function formatNumber(value: number): string {
  const rounded = Math.round(value * 10000) / 10000;
  return String(rounded === 0 && value !== 0 ? value : rounded).slice(0, MAX_VALUE);
}
