/** Nodes, tensors and amounts as words. */
import type { GraphIndex, GraphNode } from "../graph/graph.js";
import { withNumbers } from "../graph/size_names.js";
import type { words } from "../shared/explore_strings.js";
import { fill, strings } from "../shared/strings.js";
import { tensorLabel } from "../view/labels/labels.js";

/** A fact about a node. */
export interface Detail {
  /** A key of the messages. */
  label: keyof typeof words;
  lines: string[];
  /** File and line of each of the lines; empty for none. */
  places?: string[];
  /** A picture below each of the lines, where there is one. */
  pictures?: (Thumbnail | undefined)[];
}

export interface Thumbnail {
  /** A `data:` URL. */
  source: string;
  /** What it shows. */
  text: string;
}

/** `T = 8192, B = 4`: the sizes of inputs that aren't those of the pass. */
export function sizesInWords({ graph: { atSizes } }: GraphIndex): string {
  return [...(atSizes?.changed ?? [])].map((pair) => pair.join(" = ")).join(", ");
}

/** The class of a module, the function of an op, the contents of a bundle, else the kind of node. */
export function typeOf(node: GraphNode): string {
  if (node.kind === "module") return node.class;
  if (node.kind === "bundle") return node.content;
  if (node.kind === "function") return node.function ?? (node.group ? "group" : "record_function");
  return node.kind === "op" ? node.name : node.kind;
}

/** The name of a node: a module's dotted path, a weight's name. */
export function pathOf(node: GraphNode): string {
  if (node.kind === "op" || node.kind === "function") return node.id;
  if (node.kind !== "module") return node.name ?? node.id;
  return (node.call ?? 1) > 1 ? `${node.path} · ${fill(strings.call, node.call ?? 1)}` : node.path;
}

/** A tensor as `name: 1×16×768 float32`, or `name: B×T×768 = 1×16×768 float32`. */
export function tensorText(index: GraphIndex, tensor: string, name?: string): string {
  const spec = index.graph.tensors.get(tensor);
  const look = spec === undefined ? "" : `${shapeOf(index, tensor, spec.dtype)} ${spec.dtype}`;
  return [name ?? spec?.name, look].filter(Boolean).join(": ");
}

function shapeOf(index: GraphIndex, tensor: string, dtype: string): string {
  const [names, numbers] = [index, withNumbers(index)].map((each) =>
    tensorLabel(each, tensor).replace(` ${dtype}`, ""),
  );
  if (names === numbers || names === undefined || numbers === undefined) return names ?? "";
  const [, sign = "=", size] = /^(?:([≤≈]) )?(.*)$/.exec(numbers) ?? [];
  return /^[≤≈]/.test(names) ? `${names} = ${size}` : `${names} ${sign} ${size}`;
}
