import { family, type Glyph, glyph, shortName } from "./families.js";
import { contentsOf, type GraphIndex, type GraphNode, type Json, type ModuleNode, type OpNode, ROOT } from "./graph.js";
import { word } from "./words.js";

/** The words on a node: a name, and below it what kind of thing it is. */
export interface Words {
  name: string;
  detail: string;
}

/** Longest value of an argument that still says something at a glance. */
const MAX_VALUE = 24;

/** What the model said where it failed: `RuntimeError: mat1 and mat2 shapes…`. */
export function failureText(index: GraphIndex): string {
  const { error } = index.graph.status;
  if (!error) return "";
  const message = error.message.split("\n", 1)[0] ?? "";
  return `${shortName(error.type)}: ${message}`;
}

/** Words for one node. */
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

/** `768 → 3072`-like summary for a leaf, class and parameter count for a container; what is shared is said. */
function moduleDetail(index: GraphIndex, node: ModuleNode): string {
  const name = shortName(node.class);
  const inside = holdsModules(index, node);
  const summary = inside ? "" : attributeSummary(name, node.attributes ?? {}) || weightSummary(index, node);
  const count = node.parameters.total;
  const size = inside && count > 0 ? ` · ${formatCount(count)}` : "";
  return `${name}${summary === "" ? "" : ` ${summary}`}${size}${sharing(index, node)}`;
}

function holdsModules(index: GraphIndex, node: ModuleNode): boolean {
  return contentsOf(index, node.id).children.some((id) => index.nodes.get(id)?.kind === "module");
}

/** A layer that its holder only numbers, or names as its class, is known by its class: `Conv2d`, below it `3 → 32, 7×7`. */
export function byClass(index: GraphIndex, node: GraphNode, said: Words): Words {
  if (node.kind !== "module" || holdsModules(index, node)) return said;
  const name = shortName(node.class);
  if (said.name !== name && !/^\d+$/.test(said.name)) return said;
  return { name, detail: said.detail.slice(name.length).replace(/^[ ·]+/, "") };
}

export const SHARED = word("sameWeights", "same weights");
const TIED = ` · ${word("tiedToOthers", "tied")}`;
export const SAME_WEIGHTS = ` · ${SHARED}`;

/** Two places that use one weight look alike to nobody who is not told. */
function sharing(index: GraphIndex, node: ModuleNode): string {
  if ((node.call ?? 1) > 1 && node.parameters.total > 0) return SAME_WEIGHTS;
  return index.tiedOwners.has(node.path) ? TIED : "";
}

/** `768 → 2304` or `512` from the weight itself, for layers that do not say it in their `extra_repr`. */
function weightSummary(index: GraphIndex, node: ModuleNode): string {
  const ops = contentsOf(index, node.id).children.flatMap((id) => index.nodes.get(id) ?? []);
  const isNorm = family(node) === "normalisation";
  for (const op of ops) {
    if (op.kind !== "op") continue;
    const shapes = Object.values(op.weights ?? {}).map((weight) => index.graph.parameters[weight]?.shape ?? []);
    const said = isNorm ? normWeight(shapes) : matrixWeight(shortName(op.name), shapes);
    if (said !== "") return said;
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

/** The module's name as its holder knows it: `encoder.layer.3` inside `encoder` is `layer.3`. */
export function localName(index: GraphIndex, node: ModuleNode): string {
  const name = localPath(index, node.id, node.path);
  return name === "" ? shortName(node.class) : name;
}

function localPath(index: GraphIndex, id: string, path: string): string {
  const holder = index.nodes.get(index.holder.get(id) ?? ROOT);
  const prefix = holder?.kind === "module" ? `${holder.path}.` : "";
  return path.startsWith(prefix) ? path.slice(prefix.length) : path;
}

// -- module arguments -------------------------------------------------------------------------------------------------

type Attributes = Record<string, Json>;
type Get = (...names: string[]) => Json | undefined;
/** `dimensions` is 2 for `Conv2d`; 0 where the class does not say. */
type Summary = (get: Get, dimensions: number) => string;

/** What matters of a leaf's arguments, by lower-case class name. First match wins. */
const SUMMARIES: readonly (readonly [RegExp, Summary])[] = [
  [/^conv.*transpose|^conv\d|^lazyconv/, convolution],
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

function attributeSummary(className: string, attributes: Attributes): string {
  const get: Get = (...names) => names.map((name) => attributes[name]).find((value) => value !== undefined);
  const lower = className.toLowerCase();
  const found = SUMMARIES.find(([rule]) => rule.test(lower));
  return found === undefined ? "" : found[1](get, Number(/([123])d$/.exec(lower)?.[1] ?? 0));
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

/** A kernel's size: `3×3`; a number alone would not say what it is: `k3`. */
function window(kernel: Json | undefined, dimensions: number): string {
  if (kernel === undefined || kernel === null) return "";
  const sizes = spread(kernel, dimensions);
  return Array.isArray(sizes) && sizes.length > 1 ? size(sizes) : `k${size(sizes)}`;
}

/** One size for all dimensions, for each. */
function spread<T extends Json | undefined>(value: T, dimensions: number): T | Json[] {
  return typeof value === "number" && dimensions > 1 ? Array.from({ length: dimensions }, () => value) : value;
}

function arrow(from: Json | undefined, to: Json | undefined): string {
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

function listText(value: Json | undefined): string {
  return Array.isArray(value) ? value.map(text).join(", ") : text(value);
}

function text(value: Json | undefined): string {
  if (value === undefined || value === null) return "";
  if (Array.isArray(value)) return value.map(text).join("×");
  return typeof value === "object" ? "" : String(value);
}

// -- ops --------------------------------------------------------------------------------------------------------------

const SIGNS: Readonly<Record<Glyph, string>> = { add: "+", sub: "−", mul: "×", div: "÷", cat: "∥" };

/** Arguments worth a word, by op; everything else would be noise on the picture. */
const TELLING: readonly (readonly [RegExp, readonly string[]])[] = [
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
  // with no key that could be written, it is a tensor that says which
  if (name === "getitem") return indexText(node.arguments?.key) ?? "index";
  const sign = glyph(node.name);
  if (sign === undefined) return name;
  const scalar = scalarOperand(node.arguments ?? {});
  // `1 - x` is a call of `x.__rsub__(1)`
  if (scalar !== undefined) return name.startsWith("r") ? `${scalar} ${SIGNS[sign]}` : `${SIGNS[sign]} ${scalar}`;
  const [held, ...more] = Object.entries(node.weights ?? {});
  if (held === undefined || more.length > 0) return name;
  const known = held[1].slice(held[1].lastIndexOf(".") + 1);
  const first = /^(self|input)$/.test(held[0]) && (sign === "sub" || sign === "div");
  return first !== name.startsWith("r") ? `${known} ${SIGNS[sign]}` : `${SIGNS[sign]} ${known}`;
}

/** `["::", 0]` → `[:, 0]`: an index as it is written; undefined where it does not fit on a node. */
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
  const keys = TELLING.find(([rule]) => rule.test(name))?.[1] ?? [];
  const values = keys.map((key) => listText(args[key])).filter((value) => value !== "" && value.length <= MAX_VALUE);
  if (values.length === 0) return "";
  return keys[0] === "dim" ? `dim ${values[0]}` : values.join(", ").replace("torch.", "");
}

// -- tensors and numbers ----------------------------------------------------------------------------------------------

/** Dtypes that go without saying. */
const USUAL_DTYPES = new Set(["float32", "bfloat16", "float16"]);

/** `1×16×768`, with the dtype where it is not a plain float: `1×16 int64`. */
export function tensorLabel(index: GraphIndex, tensor: string): string {
  const spec = index.graph.tensors[tensor];
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

/** `124439808` → `124M`: three digits are enough at a glance. */
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
