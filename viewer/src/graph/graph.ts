/**
 * A traced graph, and its index. The format's types come from the published schema: `npm run types` makes
 * `generated/format.ts`, which git does not keep and no build needs. `docs/pages/reference/format.md` explains them.
 */
import type * as format from "../../generated/format.js";
import type { Image, Node as NodeAnnotation } from "../../generated/overlay.js";

export type { InputNode, OutputNode, ParameterCount } from "../../generated/format.js";
/** The graph of a difference that has something, where the other has not. */
export type OnlyIn = "before" | "after";

/** In the union of two graphs, `only` says which of them has the edge. */
export type Edge = format.Edge & { only?: OnlyIn | undefined };
export type TensorSpec = format.TensorSpec;

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** Plain data without a schema of its own. */
type Values = Record<string, Json>;

export type ModelInfo = format.ModelInfo & { attributes?: Values };
export type ModuleNode = format.ModuleNode & { attributes?: Values };
export type OpNode = format.OpNode & { arguments?: Values };

/** Neighbours that views show as one closed box, "… 214 ops"; no trace has any. */
export interface BundleNode {
  kind: "bundle";
  id: string;
  /** How much of what it holds. */
  name: string;
  content: string;
  outputs?: string[];
}

/** A call of a function, or a `record_function`, that views show as a box; in a trace, nodes have it as their `scope`. */
export interface FunctionNode extends format.FunctionCall {
  kind: "function";
  outputs?: string[];
  /** Whether it is none, but a group that the author made. */
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

/** What a picture of a difference says of a node. */
export interface Mark {
  /** `holds`: nothing of itself, but of nodes inside. */
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

/** A graph as files and data scripts have it. */
export interface GraphData extends Omit<format.Graph, "model" | "nodes" | "adjacency"> {
  adjacency: Record<string, Edge[]>;
  model: ModelInfo;
  nodes: GraphNode[];
  /** Only in the union of two graphs: node id → what changed. */
  marks?: Record<string, Mark>;
  /** Only there: tensor of both graphs → what it was in the earlier one. */
  formerTensors?: Record<string, TensorSpec>;
  /** Only there: node of both graphs → name and detail in the earlier and in the later one, where they differ. */
  texts?: Record<string, Texts>;
  /** Only with an overlay: annotations of nodes, functions and groups. */
  annotations?: Record<string, Annotation>;
  /** The same: its images, by number from 1. */
  images?: Image[];
}

/** Parts of a graph that are found by id or name. */
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

/** A graph in maps: in a plain object, a module named `constructor` would be found where there is none. */
export interface Graph extends Omit<GraphData, keyof ById>, ById {}

/** Id of the root container; the root module's call has no node. */
export const ROOT = "";

/** A tensor on its way inside one container: from a child or the border (null) to a child or the border. */
export interface Link {
  from: string | null;
  to: string | null;
  tensor: string;
  /**
   * The port at each end: the tensor's id there. Differs from `tensor` at folded runs, which stand for all repeats, and at
   * series of inputs or outputs, which share one port.
   */
  fromPort: string;
  toPort: string;
  flow: Flow;
  only?: OnlyIn | undefined;
}

/** The direct contents of a container, independent of the state. */
export interface Contents {
  /** Ids in execution order, after weights that are read again and again. */
  children: string[];
  links: Link[];
  /** What a repeat of several children hands to the next. */
  returns?: Link[];
  /** Ports: the tensors that enter or leave, in order of first use. */
  inputs: string[];
  outputs: string[];
  /** Input port → its first use inside; equal for corresponding ports of equal containers. */
  uses: Map<string, string>;
}

/** Lookup tables of a graph, built once. */
export interface GraphIndex {
  graph: Graph;
  nodes: Map<string, GraphNode>;
  /** Nodes in execution order, after weights that are read again and again; without groups, which only some views have. */
  steps: readonly GraphNode[];
  /** Node id → position there; of a group, that of its first node. */
  order: Map<string, number>;
  /** Node id → id of the container, `ROOT` at the top. */
  parent: Map<string, string>;
  /** Container id → its contents. Containers are the root and modules with children. */
  contents: Map<string, Contents>;
  /** Tensor id → id of the node that produces it. */
  producer: Map<string, string>;
  /** Id of an input or output that stands for a series → the ids of all members. */
  series: Map<string, string[]>;
  /** Paths of modules with a weight that has several names. */
  tiedOwners: Set<string>;
  /** Op that returns a size which had to be assumed → what was assumed, as `every element`. */
  assumedSizes: Map<string, string>;
  /** Whether there are bundles or function calls. */
  hasGroups: boolean;
}

const NOTHING: Contents = { children: [], links: [], inputs: [], outputs: [], uses: new Map() };

/** The children of a container, with those of bundles and function calls in place of these. */
export function childrenOf(index: GraphIndex, id: string, replaced = isGroup): string[] {
  const { children } = contentsOf(index, id);
  if (!index.hasGroups || !children.some((child) => replaced(index.nodes.get(child)))) return children;
  return children.flatMap((child) => (replaced(index.nodes.get(child)) ? childrenOf(index, child, replaced) : [child]));
}

/** Whether a node groups others and is no module. */
export function isGroup(node: GraphNode | undefined): boolean {
  return node?.kind === "bundle" || node?.kind === "function";
}

/** The contents of a container; empty for leaves. */
export function contentsOf(index: GraphIndex, id: string): Contents {
  return index.contents.get(id) ?? NOTHING;
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
