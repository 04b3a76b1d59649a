/** The text on nodes and wires: names, details, tensor shapes and numbers. */

import { boundsOf, UPPER_BOUNDS } from "../../graph/bounds.js";
import {
  childrenOf,
  type GraphIndex,
  type GraphNode,
  isGroup,
  type ModuleNode,
  type OpNode,
  ROOT,
  type TensorSpec,
} from "../../graph/graph.js";
import { shortName } from "../../graph/names.js";
import { formatCount } from "../../shared/amounts.js";
import { memoByObject, memoInObject } from "../../shared/memo.js";
import { strings } from "../../shared/strings.js";
import type { Wire } from "../frame.js";
import { usesSameWeights } from "../repeats/used_weights.js";
import { classWords, isPlain, wrappedLayer } from "./container_words.js";
import { arrow, attributeSummary, text } from "./module_summary.js";
import { family } from "./op_families.js";
import { opWords } from "./op_words.js";
import { dimensionText, isCounted, shapeText } from "./size_words.js";
import { decisionWords } from "./way_words.js";

/** The text of a node: its name, and a detail shown below it. */
export interface Words {
  name: string;
  detail: string;
}

/** The error of the traced call: `RuntimeError: mat1 and mat2 shapes…`. */
export function failureText(index: GraphIndex): string {
  const { error } = index.graph.status;
  if (!error) return "";
  const message = error.message.split("\n", 1)[0] ?? "";
  return `${shortName(error.type)}: ${message}`;
}

/** The text of one node. @param informative a module that shares the node's box and whose class says more */
export function nodeWords(index: GraphIndex, node: GraphNode, informative: GraphNode = node): Words {
  const own = wordsOf(index, node, informative);
  const name = index.graph.annotations?.get(node.id)?.rename;
  return name == null ? own : { ...own, name };
}

function wordsOf(index: GraphIndex, node: GraphNode, informative: GraphNode): Words {
  switch (node.kind) {
    case "module":
      return { name: localName(index, node), detail: moduleDetail(index, node, informative) };
    case "op": {
      const decision = decisionWords(index, node.id);
      if (decision !== undefined) return decision;
      const { name, detail } = opWords(index, node);
      const layers = heldBy(index, node).filter((layer) => layer !== name);
      return { name, detail: detail || layers.join(", ") };
    }
    case "constant":
      return { name: node.name ?? "constant", detail: "" };
    case "function":
      return { name: node.name, detail: node.group ? "" : node.function ? "function" : "record_function" };
    case "bundle":
      return { name: node.name, detail: node.content };
    case "parameter":
    case "buffer":
      return { name: localPath(index, node.id, node.name), detail: node.kind };
    default:
      return { name: node.name, detail: "" };
  }
}

/** The layers next to an op whose weights it uses although they aren't called. */
function heldBy(index: GraphIndex, { id, weights = {} }: OpNode): string[] {
  const used = Object.values(weights);
  // most ops use none
  if (used.length === 0) return [];
  const around = pathAround(index, id);
  const layers = used.flatMap((weight) => {
    const owner = index.graph.parameters.get(weight)?.owner ?? "";
    return owner !== "" && owner.startsWith(around) ? [owner.slice(around.length)] : [];
  });
  return [...new Set(layers)];
}

/**
 * Longest text with which a container that lists its contents also has a count of weights: rows of branches would get wide.
 * It doesn't depend on the count, so that equal stages have equal labels.
 */
const LONG = 13;

const detailsOf = memoByObject((_: GraphIndex) => new Map<string, string>());

function moduleDetail(index: GraphIndex, node: ModuleNode, informative: GraphNode): string {
  const known = detailsOf(index);
  const key = node === informative ? node.id : `${node.id}\n${informative.id}`;
  const detail = known.get(key) ?? detailOf(index, node, informative);
  known.set(key, detail);
  return detail;
}

/** The class with a summary such as `768 → 3072` for a layer or its wrapper, or with a parameter count for a container. */
function detailOf(index: GraphIndex, node: ModuleNode, informative: GraphNode): string {
  const holder = informative.kind === "module" ? informative : node;
  const inside = containsModules(index, node);
  const words = inside
    ? wrapperWords(index, node, holder) || contentWords(index, node, holder)
    : layerWords(index, node, holder);
  return `${words}${sharing(index, node)}`;
}

function layerWords(index: GraphIndex, node: ModuleNode, holder: ModuleNode): string {
  const [name, sizes] = [classWords(index, holder), layerSizes(index, node)];
  return sizes === "" ? name : `${name} ${sizes}`;
}

/** `768 → 3072`, `3 → 64, 7×7, s2`. */
export function layerSizes(index: GraphIndex, node: ModuleNode): string {
  return attributeSummary(shortName(node.class), node.attributes ?? {}) || weightSummary(index, node);
}

/** `ConvNormAct 3 → 64, 7×7`; for a `Sequential`, `Conv2d 3 → 64, 7×7, …`. Empty unless a container wraps one layer. */
function wrapperWords(index: GraphIndex, node: ModuleNode, holder: ModuleNode): string {
  const layer = wrappedLayer(index, node);
  const sizes = layer === undefined ? "" : layerSizes(index, layer);
  if (layer === undefined || sizes === "") return "";
  return isPlain(holder) ? `${shortName(layer.class)} ${sizes}, …` : `${shortName(holder.class)} ${sizes}`;
}

function contentWords(index: GraphIndex, node: ModuleNode, holder: ModuleNode): string {
  const [name, count] = [classWords(index, holder), node.parameters.total];
  const all = count > 0 ? ` · ${formatCount(count)}` : "";
  return /[×,]/.test(name) && name.length > LONG ? name : `${name}${all}`;
}

function containsModules(index: GraphIndex, node: ModuleNode): boolean {
  return childrenOf(index, node.id).some((id) => index.nodes.get(id)?.kind === "module");
}

/** Names a layer after its class if its own name is a number or the class: `Conv2d` with detail `3 → 32, 7×7`. */
export function byClass(index: GraphIndex, node: GraphNode, own: Words): Words {
  if (node.kind !== "module" || index.graph.annotations?.get(node.id)?.rename != null) return own;
  const name = shortName(node.class);
  if ((own.name !== name && !/^\d+$/.test(own.name)) || containsModules(index, node)) return own;
  return { name, detail: own.detail.slice(name.length).replace(/^[ ·]+/, "") };
}

export const SHARED = strings.sameWeights;
const TIED = ` · ${strings.tiedToOthers}`;
export const SAME_WEIGHTS = ` · ${SHARED}`;

/** The mark for modules that share weights. */
function sharing(index: GraphIndex, node: ModuleNode): string {
  if (usesSameWeights(index, node)) return SAME_WEIGHTS;
  return index.tiedOwners.has(node.path) ? TIED : "";
}

/** `768 → 2304` or `512`, from the weight, for layers without attributes for their sizes. */
function weightSummary(index: GraphIndex, node: ModuleNode): string {
  const ops = childrenOf(index, node.id).flatMap((id) => index.nodes.get(id) ?? []);
  const used = ops.flatMap((op) => {
    const weights = op.kind === "op" ? Object.values(op.weights ?? {}) : [];
    const shapes = weights.map((weight) => index.graph.parameters.get(weight)?.shape ?? []);
    return op.kind === "op" && shapes.length > 0 ? [{ op: shortName(op.name), shapes }] : [];
  });
  if (family(node) === "normalisation") return firstOf(used.map(({ shapes }) => normWeight(shapes)));
  const matrices = used.filter(({ shapes }) => shapes.some((shape) => shape.length === 2));
  // with several matrices, none of them describes the module
  if (matrices.length > 1) return widths(index, node);
  return firstOf(matrices.map(({ op, shapes }) => matrixWeight(op, shapes)));
}

function firstOf(summaries: string[]): string {
  return summaries.find((summary) => summary !== "") ?? "";
}

/** The last sizes of the only tensor that enters a module and of the only one that leaves it. */
function widths(index: GraphIndex, { inputs = {}, outputs = {} }: ModuleNode): string {
  const [into, out] = [inputs, outputs].map((tensors) => {
    const [only, ...more] = Object.values(tensors).flatMap((tensor) => index.graph.tensors.get(tensor) ?? []);
    const rank = only?.shape?.length ?? 0;
    return only === undefined || more.length > 0 || rank < 2 ? undefined : dimensionText(index.graph, only, rank - 1);
  });
  return arrow(into, out);
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
  const name = index.graph.annotations?.get(node.id)?.rename ?? localPath(index, node.id, node.path);
  return name === "" ? shortName(node.class) : name;
}

function localPath(index: GraphIndex, id: string, path: string): string {
  const around = pathAround(index, id);
  return path.startsWith(around) ? path.slice(around.length) : path;
}

/** The path of the module around a node with a dot at the end; empty at the top. */
function pathAround(index: GraphIndex, id: string): string {
  let parent = index.nodes.get(index.parent.get(id) ?? ROOT);
  while (parent !== undefined && isGroup(parent)) parent = index.nodes.get(index.parent.get(parent.id) ?? ROOT);
  return parent?.kind === "module" ? `${parent.path}.` : "";
}

// -- tensors and numbers ----------------------------------------------------------------------------------------------

/** Dtypes that labels omit. */
const USUAL_DTYPES = new Set(["float32", "bfloat16", "float16"]);

/** A wire with its label in the earlier of two graphs if that differs. */
export function withFormer(index: GraphIndex, wire: Wire): Wire {
  const spec = index.graph.formerTensors?.get(wire.tensor);
  return spec === undefined ? wire : { ...wire, former: labelOf(index, wire.tensor, spec) };
}

/** `1×16×768` or `B×T×768`; with unusual dtypes `1×16 int64`; with an assumed size `≤ 64×3` or `≈ 8`. */
export const tensorLabel = memoInObject((index: GraphIndex, tensor: string) =>
  labelOf(index, tensor, index.graph.tensors.get(tensor)),
);

/** Of a size that was assumed, or depends on such; needless before one with a name that says so. */
function signOf(index: GraphIndex, tensor: string): string {
  const assumed = index.assumedSizes.size === 0 ? undefined : index.assumedSizes.get(index.producer.get(tensor) ?? "");
  if (assumed !== undefined) return UPPER_BOUNDS.has(assumed) ? "≤ " : "≈ ";
  const { tensors, sign } = boundsOf(index);
  return tensors.has(tensor) ? sign : "";
}

/** The shape in each shown case, empty where it has none; undefined if all are equal. */
export function sizesOf(index: GraphIndex, tensor: string): string[] | undefined {
  const { variants } = index.graph.tensors.get(tensor) ?? {};
  const sizes = variants?.map((spec) => (spec === null ? "" : labelOf(index, tensor, spec)));
  return sizes !== undefined && new Set(sizes).size > 1 ? sizes : undefined;
}

/** Most shapes of one tensor that a label lists. */
const MOST_SIZES = 3;

/** `1×16 | 1×1`: the shapes that cases give a tensor. */
export function together(sizes: readonly string[]): string {
  const distinct = [...new Set(sizes.filter((size) => size !== ""))];
  // one dtype of all is written once
  const dtypes = new Set(distinct.map((size) => / \w+$/.exec(size)?.[0] ?? ""));
  const [dtype = ""] = dtypes.size === 1 ? dtypes : [];
  const shapes = distinct.map((size) => size.slice(0, size.length - dtype.length));
  const listed = shapes.length > MOST_SIZES ? [...shapes.slice(0, MOST_SIZES - 1), "…"] : shapes;
  return listed.join(" | ") + dtype;
}

function labelOf(index: GraphIndex, tensor: string, spec: TensorSpec | undefined): string {
  if (spec === undefined) return "";
  if (spec.variants !== undefined)
    return together(spec.variants.map((own) => (own === null ? "" : labelOf(index, tensor, own))));
  const shape = shapeText(index, spec);
  return `${shape === "" || isCounted(index, spec) ? "" : signOf(index, tensor)}${shape} ${USUAL_DTYPES.has(spec.dtype) ? "" : spec.dtype}`.trim();
}
