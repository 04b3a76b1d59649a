import type * as format from "../../generated/format.js";
import type { Image, Node as NodeAnnotation, Numbers } from "../../generated/overlay.js";

/**
 * A traced graph and its index. The types of the format are generated from the published schema: `npm run types` writes
 * `generated/format.ts`. `docs/pages/reference/format.md` explains them.
 */

export type { InputNode, OutputNode, ParameterCount } from "../../generated/format.js";
/** In a difference: which of the two graphs has something that the other lacks. */
export type OnlyIn = "before" | "after";

/** In the union of two graphs, `only` names the graph that has the edge. */
export type Edge = format.Edge & { only?: OnlyIn | undefined };
export type TensorSpec = format.TensorSpec & {
  /** With several cases that differ: what it is in each shown one, or null where that case has no such tensor. */
  variants?: readonly (format.TensorSpec | null)[];
  /** An expression for each dimension, null for a number; absent if all are numbers. */
  names?: readonly (string | null)[] | undefined;
};

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** Plain data without a schema of its own. */
type Values = Record<string, Json>;

type ModelInfo = format.ModelInfo & { attributes?: Values };
export type ModuleNode = format.ModuleNode & { attributes?: Values };
export type OpNode = format.OpNode & { arguments?: Values };

/** Neighbours that views show as one closed box, "… 214 ops". Traces have none. */
export interface BundleNode {
  kind: "bundle";
  id: string;
  /** What it holds: "… 214 ops". */
  name: string;
  content: string;
  outputs?: string[];
  cases?: number[];
  /** Set for a convolution with its normalisation and activation. */
  layers?: true;
  /** For modules of one class side by side: one of them. */
  fan?: string;
}

/** A call of a function, or a `record_function` scope, that views show as a box. In a trace it is the `scope` of nodes. */
export interface FunctionNode extends format.FunctionCall {
  kind: "function";
  outputs?: string[];
  /** Set for a group made by the author. */
  group?: true;
}

export type GraphNode =
  | format.InputNode
  | format.OutputNode
  | OpNode
  | ModuleNode
  | format.ParameterNode
  | format.BufferNode
  | format.ConstantNode
  | BundleNode
  | FunctionNode;

export type Flow = NonNullable<format.Edge["flow"]>;

/** What the picture of a difference shows at a node. */
export interface Mark {
  /** `holds`: only nodes inside it changed. */
  status: "added" | "removed" | "changed" | "holds";
  words: string;
  /** Positions in the list of changes. */
  changes: number[];
}

/** An author's annotations of a node, function call or group. */
export interface Annotation extends NodeAnnotation {
  /** Numbers of its notes. */
  notes?: number[];
  /** Numbers of its images. */
  images?: number[];
  /** Equal for containers with equal annotations inside; absent without any. */
  key?: string;
}

type Text = readonly [name: string, detail: string];
export type Texts = readonly [before: Text, after: Text];

/** A graph as stored in files and data scripts. */
export interface GraphData extends Omit<format.Graph, "model" | "nodes" | "adjacency"> {
  adjacency: Record<string, Edge[]>;
  model: ModelInfo;
  nodes: GraphNode[];
  /** Only in the union of two graphs: node id → what changed. */
  marks?: Record<string, Mark>;
  /** Only there: tensor in both graphs → its spec in the earlier one. */
  formerTensors?: Record<string, TensorSpec>;
  /** Only there: node in both graphs → its name and detail before and after, where they differ. */
  texts?: Record<string, Texts>;
  /** Only with an overlay: annotations of nodes, functions and groups. */
  annotations?: Record<string, Annotation>;
  /** Only with an overlay: its images, numbered from 1. */
  images?: Image[];
  /** Only with an overlay: numbers that its author gives to nodes. */
  numbers?: Numbers[];
}

/** A place in the code that leads on in several ways. */
export type Way = NonNullable<GraphData["ways"]>[number];

/** What a trace says of them. */
export interface PassWays {
  /** Op that reads a value → the way that waited for it; one op of several that one condition reads. */
  decisions: ReadonlyMap<string, Way>;
  /** Container → loops in it that ran until a value ended them, and the ops that read it. */
  loops: ReadonlyMap<string, readonly { way: Way; reads: readonly string[] }[]>;
  /** Module call → `3 of 8 experts`: lists in it that ran in part. */
  partly: ReadonlyMap<string, readonly Part[]>;
}

/** How many of a list ran. */
export interface Part {
  ran: number;
  of: number;
  /** Name of the list; empty for the module's own children. */
  list: string;
}

/** Parts of a graph that are looked up by id or name. */
interface ById {
  adjacency: ReadonlyMap<string, Edge[]>;
  hierarchy: ReadonlyMap<string, string | null>;
  tensors: ReadonlyMap<string, TensorSpec>;
  parameters: ReadonlyMap<string, format.ParameterSpec>;
  marks?: ReadonlyMap<string, Mark>;
  formerTensors?: ReadonlyMap<string, TensorSpec>;
  texts?: ReadonlyMap<string, Texts>;
  annotations?: ReadonlyMap<string, Annotation>;
}

/** A graph with maps instead of plain objects, which would find a module named `constructor` where there is none. */
export interface Graph extends Omit<GraphData, keyof ById>, ById {
  /** What the trace says of the ways through the code. */
  passWays?: PassWays;
  /** Only at other sizes than those of the pass. */
  atSizes?: AtSizes;
}

/** What a graph at other sizes of its inputs needs beside their numbers. */
export interface AtSizes {
  /** Name → size, where it isn't that of the pass. */
  changed: ReadonlyMap<string, number>;
  /** Node in a loop → how often the loop calls it; and how many of these calls it stands for, as it may be one of several. */
  times: ReadonlyMap<string, number>;
  calls: ReadonlyMap<string, number>;
  /** Node, function call or `ROOT` → `≥ `, `≤ ` or `≈ ` before its costs, if they have a sign. */
  signs: Record<"flops" | "memory", ReadonlyMap<string, string>>;
}

/** Id of the root container; the root module's call has no node. */
export const ROOT = "";

/** A tensor's way inside one container, from a child or the border (null) to a child or the border. */
export interface Link {
  from: string | null;
  to: string | null;
  tensor: string;
  /**
   * The port at each end: the tensor's id there. It differs from `tensor` at folded runs, which represent all repeats, and
   * at series of inputs or outputs, which share one port.
   */
  fromPort: string;
  toPort: string;
  flow: Flow;
  only?: OnlyIn | undefined;
  /** Positions of the cases that have it; absent for all. */
  cases?: readonly number[] | undefined;
}

/** The direct contents of a container, independent of the state. */
export interface Contents {
  /** Ids in execution order, after weights that are read repeatedly. */
  children: string[];
  links: Link[];
  /** What a repeat of several children passes to the next. */
  returns?: Link[];
  /** Ports, in order of first use. */
  inputs: string[];
  outputs: string[];
  /** Input port → its first use inside; equal for corresponding ports of equal containers. */
  uses: Map<string, string>;
}

/** Lookup tables for a graph. */
export interface GraphIndex {
  graph: Graph;
  nodes: Map<string, GraphNode>;
  /** Nodes without groups in execution order, after weights that are read repeatedly. */
  steps: readonly GraphNode[];
  /** Node id → position in `steps`; a group has that of its first node. */
  order: Map<string, number>;
  /** Node id → id of the container, `ROOT` at the top. */
  parent: Map<string, string>;
  /** Container id → its contents. Containers are the root and modules with children. */
  contents: Map<string, Contents>;
  /** Tensor id → id of the node that produces it. */
  producer: Map<string, string>;
  /** Id of an input or output that represents a series → the ids of all members. */
  series: Map<string, string[]>;
  /** Paths of modules with tied weights. */
  tiedOwners: Set<string>;
  /** Op that returns a size which had to be assumed → the assumption, such as `every element`. */
  assumedSizes: Map<string, string>;
  /** Whether there are bundles or function calls. */
  hasGroups: boolean;
}

/** Whether a node is a convolution with its normalisation and activation. */
export function isLayers(node: GraphNode | undefined): boolean {
  return node?.kind === "bundle" && node.layers === true;
}

const NOTHING: Contents = { children: [], links: [], inputs: [], outputs: [], uses: new Map() };

/** The children of a container, with bundles and function calls replaced by their children. */
export function childrenOf(index: GraphIndex, id: string, replaced = isGroup): string[] {
  const { children } = contentsOf(index, id);
  if (!index.hasGroups || !children.some((child) => replaced(index.nodes.get(child)))) return children;
  return children.flatMap((child) => (replaced(index.nodes.get(child)) ? childrenOf(index, child, replaced) : [child]));
}

/** Whether a node is a bundle or a function call. */
export function isGroup(node: GraphNode | undefined): boolean {
  return node?.kind === "bundle" || node?.kind === "function";
}

/** The contents of a container; empty for leaves. */
export function contentsOf(index: GraphIndex, id: string): Contents {
  return index.contents.get(id) ?? NOTHING;
}

/** Whether nodes of a kind are weights: parameters or buffers. */
export function isWeight(kind: GraphNode["kind"] | undefined): boolean {
  return kind === "parameter" || kind === "buffer";
}

/** Whether nodes of a kind have the same value in every pass. */
export function isFixed(kind: GraphNode["kind"] | undefined): boolean {
  return isWeight(kind) || kind === "constant";
}

/** The modules around a node, innermost first. */
export function* containersOf(hierarchy: ReadonlyMap<string, string | null>, id: string): Iterable<string> {
  for (let at = hierarchy.get(id) ?? null; at !== null; at = hierarchy.get(at) ?? null) yield at;
}

/** The containers of a node, innermost first, `ROOT` last. */
export function ancestors(result: GraphIndex, id: string): string[] {
  const found: string[] = [];
  let at = id;
  while (at !== ROOT) {
    at = result.parent.get(at) ?? ROOT;
    found.push(at);
  }
  return found;
}

/** What a module contributes: FLOPs or, if the trace didn't count them, parameters. */
export function costOf({ graph }: GraphIndex, of: ModuleNode | ModelInfo): number {
  return graph.model.flops ? (of.flops ?? 0) : of.parameters.total;
}
