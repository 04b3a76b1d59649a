/** A graph for comparisons: a tree of items in execution order, each with its sources and readers. */
import type { GraphData, GraphNode, Json } from "../graph/graph.js";
import { shortName } from "../graph/names.js";

export type Values = Record<string, Json>;
export type TensorShape = readonly (number | string)[] | null;

export interface Source {
  argument: string;
  from: DiffItem;
  /** Index of the tensor among the outputs. */
  output: number;
}

export interface Reader {
  argument: string;
  to: DiffItem;
  output: number;
}

/** The model, a module call, an op, a weight, an input or an output. */
export interface DiffItem {
  kind: GraphNode["kind"];
  id: string;
  /** Its own path for a module, else that of the module around it; for inputs, outputs and weights, their name. */
  path: string;
  /** Its name in its parent. */
  name: string;
  /** Short name of the class or the function. */
  label: string;
  /** Number of a module's call; 1 for others. */
  call: number;
  /** Position in preorder: the contents of an item follow it. */
  position: number;
  /** Number of items inside, itself included. */
  size: number;
  parent: DiffItem | null;
  children: DiffItem[];
  attributes: Values;
  arguments: Values;
  weights: Record<string, string>;
  shapes: TensorShape[];
  dtypes: string[];
  sources: Source[];
  readers: Reader[];
  own: number;
  total: number;
}

export interface Side {
  data: GraphData;
  root: DiffItem;
  /** In preorder. */
  items: DiffItem[];
  /** In the order of the file, which is execution order; without the root. */
  steps: DiffItem[];
  byId: Map<string, DiffItem>;
  parameters: Keys;
}

/** Weights by their keys in the state dict. */
export type Keys = ReadonlyMap<string, GraphData["parameters"][string]>;

export function side(data: GraphData): Side {
  const tensors = new Map(Object.entries(data.tensors));
  const root = rootOf(data);
  const byId = new Map<string, DiffItem>([["", root]]);
  const hierarchy = new Map(Object.entries(data.hierarchy));
  const steps = data.nodes.map((node) => {
    const parent = byId.get(hierarchy.get(node.id) ?? "") ?? root;
    const item = itemOf(node, parent);
    for (const tensor of "outputs" in node && Array.isArray(node.outputs) ? node.outputs : []) {
      item.shapes.push(tensors.get(tensor)?.shape ?? null);
      item.dtypes.push(tensors.get(tensor)?.dtype ?? "");
    }
    parent.children.push(item);
    byId.set(node.id, item);
    return item;
  });
  connect(data, byId);
  return { data, root, items: preorder(root), steps, byId, parameters: new Map(Object.entries(data.parameters)) };
}

const EMPTY = { call: 1, position: 0, size: 1, own: 0, total: 0 };

function blank(): Pick<DiffItem, "children" | "shapes" | "dtypes" | "sources" | "readers"> {
  return { children: [], shapes: [], dtypes: [], sources: [], readers: [] };
}

function rootOf({ model }: GraphData): DiffItem {
  const { own, total } = model.parameters;
  const facts = { attributes: model.attributes ?? {}, arguments: {}, weights: {}, label: shortName(model.class) };
  return { ...EMPTY, ...blank(), ...facts, kind: "module", id: "", path: "", name: "", parent: null, own, total };
}

function itemOf(node: GraphNode, parent: DiffItem): DiffItem {
  const item = {
    ...EMPTY,
    ...blank(),
    kind: node.kind,
    id: node.id,
    parent,
    attributes: {},
    arguments: {},
    weights: {},
  };
  if (node.kind === "module") {
    const { own, total } = node.parameters;
    const attributes = node.attributes ?? {};
    const name = nameIn(parent, node.path);
    return {
      ...item,
      path: node.path,
      name,
      label: shortName(node.class),
      call: node.call ?? 1,
      attributes,
      own,
      total,
    };
  }
  if (node.kind === "op") {
    const { arguments: given = {}, weights = {} } = node;
    const name = node.id.slice(node.id.lastIndexOf("/") + 1);
    return { ...item, path: parent.path, name, label: opLabel(node.name), arguments: given, weights };
  }
  const name = "name" in node ? (node.name ?? "") : "";
  return { ...item, path: name, name: nameIn(parent, name), label: node.kind };
}

function nameIn({ path }: DiffItem, name: string): string {
  return path !== "" && name.startsWith(`${path}.`) ? name.slice(path.length + 1) : name;
}

const SAME_OP: Readonly<Record<string, string>> = {
  radd: "add",
  iadd: "add",
  rmul: "mul",
  imul: "mul",
  truediv: "div",
  itruediv: "div",
  isub: "sub",
  concat: "cat",
  concatenate: "cat",
};

/** `torch.Tensor.add_`, `torch.Tensor.__radd__` and `torch.add` are one op. */
function opLabel(name: string): string {
  const label = shortName(name);
  return Object.hasOwn(SAME_OP, label) ? (SAME_OP[label] ?? label) : label;
}

function connect({ adjacency }: GraphData, byId: ReadonlyMap<string, DiffItem>): void {
  for (const [id, edges] of Object.entries(adjacency)) {
    const from = byId.get(id);
    for (const { to, tensor, argument = "" } of edges) {
      const reader = byId.get(to);
      if (from === undefined || reader === undefined) continue;
      const output = Number(tensor.slice(tensor.lastIndexOf(":") + 1));
      from.readers.push({ argument, to: reader, output });
      reader.sources.push({ argument, from, output });
    }
  }
}

/** Numbers and counts all items. Without recursion: models nest deeply. */
function preorder(root: DiffItem): DiffItem[] {
  const found: DiffItem[] = [];
  const waiting = [root];
  for (let item = waiting.pop(); item !== undefined; item = waiting.pop()) {
    item.position = found.length;
    found.push(item);
    for (let i = item.children.length - 1; i >= 0; i -= 1) waiting.push(item.children[i] as DiffItem);
  }
  for (const item of [...found].reverse()) if (item.parent !== null) item.parent.size += item.size;
  for (const item of found) if (item.sources.length > 1) item.sources.sort((a, b) => compare(a.argument, b.argument));
  return found;
}

/** The value under a name that may also be a property of every object. */
export function own(values: Values, name: string): Json {
  return Object.hasOwn(values, name) ? (values[name] ?? null) : null;
}

/** By code units: equal everywhere, unlike `localeCompare`. */
export function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

export function isInside(item: DiffItem, { position, size }: DiffItem): boolean {
  return item.position >= position && item.position < position + size;
}

/** The items inside an item, in preorder. */
export function inside({ items }: Side, { position, size }: DiffItem): DiffItem[] {
  return items.slice(position + 1, position + size);
}

/** Whether a module contains no other module that does anything: PyTorch layers, and containers that call nothing. */
export function isLeaf({ kind, children }: DiffItem): boolean {
  return kind === "module" && children.every((child) => child.kind !== "module");
}

export function isModule({ kind }: DiffItem): boolean {
  return kind === "module";
}

export function isOpOrModule({ kind }: DiffItem): boolean {
  return kind === "op" || kind === "module";
}
