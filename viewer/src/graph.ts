/** The intermediate format as the viewer reads it. The contract is `docs/graph.schema.json`; Python's `graph.py` explains it. */

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

export type Flow = "data" | "shape" | "inferred";

export interface ParameterCount {
  own: number;
  total: number;
  trainable: number;
}

export interface ModelInfo {
  name: string;
  class: string;
  parameters: ParameterCount;
  flops?: number | null;
  activation_bytes?: number | null;
  attributes?: Record<string, Json>;
  inputs?: Record<string, string>;
  outputs?: Record<string, string>;
  signature?: string | null;
  source?: string | null;
}

export interface InputNode {
  kind: "input";
  id: string;
  name: string;
  outputs?: string[];
}

export interface OutputNode {
  kind: "output";
  id: string;
  name: string;
}

export interface OpNode {
  kind: "op";
  id: string;
  name: string;
  outputs?: string[];
  arguments?: Record<string, Json>;
  weights?: Record<string, string>;
  source?: string | null;
  flops?: number | null;
  activation_bytes?: number | null;
  opaque?: boolean;
}

export interface ModuleNode {
  kind: "module";
  id: string;
  path: string;
  class: string;
  parameters: ParameterCount;
  call?: number;
  attributes?: Record<string, Json>;
  inputs?: Record<string, string>;
  outputs?: Record<string, string>;
  flops?: number | null;
  activation_bytes?: number | null;
  signature?: string | null;
  source?: string | null;
}

export interface WeightNode {
  kind: "parameter" | "buffer";
  id: string;
  name: string;
  outputs?: string[];
}

export interface ConstantNode {
  kind: "constant";
  id: string;
  name?: string | null;
  outputs?: string[];
}

export type GraphNode = InputNode | OutputNode | OpNode | ModuleNode | WeightNode | ConstantNode;

export interface Edge {
  to: string;
  tensor: string;
  argument?: string;
  flow?: Flow;
}

export interface TensorSpec {
  shape: (number | string)[] | null;
  dtype: string;
  name?: string | null;
}

export interface ParameterSpec {
  shape: number[] | null;
  dtype: string;
  owner: string;
  kind?: "parameter" | "buffer";
  trainable?: boolean;
  tied?: string[];
}

export interface Frame {
  file: string;
  line: number;
  function: string;
  code?: string;
}

export interface Status {
  state: "complete" | "partial" | "hierarchy";
  mode?: "real" | "fake" | "meta" | null;
  error?: { type: string; message: string; node?: string | null; frames?: Frame[] } | null;
  unseen?: string[];
  guesses?: { node: string | null; value: Json; reason: string }[];
  notes?: string[];
}

export interface Graph {
  format: "modeldiagrams";
  version: string;
  model: ModelInfo;
  nodes: GraphNode[];
  adjacency: Record<string, Edge[]>;
  hierarchy: Record<string, string | null>;
  tensors: Record<string, TensorSpec>;
  parameters: Record<string, ParameterSpec>;
  status: Status;
  assumptions: { subject: string; value: string; reason: string }[];
  provenance: { modeldiagrams: string; torch?: string | null; python?: string | null };
}

/** The root module's call has no node; its contents are found under this id. */
export const ROOT = "";

/** A tensor on its way inside one container: from a child or the border (null) to a child or the border. */
export interface Link {
  from: string | null;
  to: string | null;
  tensor: string;
  /**
   * The tensor as the two ends know it. Other than `tensor` where a rolled block stands for its repeats, and where a
   * series of inputs or outputs, which is one port for all its tensors, begins or ends.
   */
  fromPort: string;
  toPort: string;
  flow: Flow;
}

/** What happens directly inside one container; independent of what is expanded. */
export interface Contents {
  /** Ids in execution order. */
  children: string[];
  links: Link[];
  /** Ports of the border: tensors that enter or leave, each once, in order of first use. */
  inputs: string[];
  outputs: string[];
  /** Input port → where inside it is used first: the same for the same port of an equal container. */
  uses: Map<string, string>;
}

/** A graph, prepared for questions. Made once per graph. */
export interface GraphIndex {
  graph: Graph;
  nodes: Map<string, GraphNode>;
  /** Node id → place in execution order. */
  order: Map<string, number>;
  /** Node id → id of the container, `ROOT` at the top. */
  holder: Map<string, string>;
  /** Container id → what is directly inside. Only modules with something inside, and the root, are containers. */
  contents: Map<string, Contents>;
  /** Tensor id → id of the node that makes it. */
  producer: Map<string, string>;
  /** Id of an input or output that stands for several → their ids. */
  series: Map<string, string[]>;
  /** Paths of modules that hold a weight under more than one name. */
  tiedOwners: Set<string>;
}

const NOTHING: Contents = { children: [], links: [], inputs: [], outputs: [], uses: new Map() };

/** What is directly inside a container; nothing for a leaf. */
export function contentsOf(index: GraphIndex, id: string): Contents {
  return index.contents.get(id) ?? NOTHING;
}

/** Prepare a graph: children in order, and for every container the links inside it. */
export function index(graph: Graph, series: Map<string, string[]> = new Map()): GraphIndex {
  const result: GraphIndex = {
    graph,
    nodes: new Map(graph.nodes.map((node) => [node.id, node])),
    order: new Map(graph.nodes.map((node, i) => [node.id, i])),
    holder: new Map(graph.nodes.map((node) => [node.id, graph.hierarchy[node.id] ?? ROOT])),
    contents: new Map([[ROOT, emptyContents()]]),
    producer: new Map(),
    series,
    tiedOwners: new Set(
      Object.values(graph.parameters)
        .filter((spec) => (spec.tied ?? []).length > 0)
        .map((spec) => spec.owner),
    ),
  };
  for (const node of graph.nodes) {
    childrenOf(result, result.holder.get(node.id) ?? ROOT).push(node.id);
    for (const tensor of "outputs" in node && Array.isArray(node.outputs) ? node.outputs : []) {
      result.producer.set(tensor, node.id);
    }
  }
  addLinks(result);
  return result;
}

function emptyContents(): Contents {
  return { children: [], links: [], inputs: [], outputs: [], uses: new Map() };
}

function childrenOf(result: GraphIndex, id: string): string[] {
  let contents = result.contents.get(id);
  if (contents === undefined) {
    contents = emptyContents();
    result.contents.set(id, contents);
  }
  return contents.children;
}

/** Cut every edge at the borders it crosses: one link in each container on the way, one per port and pair of ends. */
function addLinks(result: GraphIndex): void {
  const links = new Map<string, Map<string, Link>>();
  for (const { source, edge } of edgesByUse(result)) addEdge(result, links, source, edge);
  for (const [container, found] of links) {
    const contents = contentsOf(result, container);
    contents.links = [...found.values()];
    contents.inputs = distinct(contents.links.filter((link) => link.from === null).map((link) => link.fromPort));
    contents.outputs = distinct(contents.links.filter((link) => link.to === null).map((link) => link.toPort));
  }
}

function addEdge(result: GraphIndex, links: Map<string, Map<string, Link>>, source: string, edge: Edge): void {
  const series = [edge.to, source].find((id) => result.series.has(id));
  const toPort = series === undefined ? edge.tensor : seriesPort(series);
  for (const [container, from, to] of crossings(result, source, edge.to)) {
    // the op that makes a member of a series gives that tensor; only from its container on is it one of many
    const fromPort = from === source && series !== source ? edge.tensor : toPort;
    addLink(links, container, { from, to, tensor: edge.tensor, fromPort, toPort, flow: edge.flow ?? "data" });
    if (from === null) noteUse(result, container, fromPort, edge);
  }
}

function noteUse(result: GraphIndex, container: string, port: string, edge: Edge): void {
  const { uses } = contentsOf(result, container);
  const offset = (result.order.get(edge.to) ?? 0) - (result.order.get(container) ?? 0);
  if (!uses.has(port)) uses.set(port, `${offset} ${edge.argument ?? ""}`);
}

/** Edges in the order in which their tensors are used, so that equal containers have equal ports in equal order. */
function edgesByUse(result: GraphIndex): { source: string; edge: Edge }[] {
  const place = (id: string) => result.order.get(id) ?? 0;
  const edges = result.graph.nodes.flatMap((node) =>
    (result.graph.adjacency[node.id] ?? []).map((edge) => ({ source: node.id, edge })),
  );
  return edges.sort(
    (a, b) =>
      place(a.edge.to) - place(b.edge.to) ||
      compare(a.edge.argument ?? "", b.edge.argument ?? "") ||
      place(a.source) - place(b.source),
  );
}

/** By code units: no locale has a say. */
function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

const SERIES = "series:";

/** The one port that all tensors of a series share. */
function seriesPort(id: string): string {
  return SERIES + id;
}

function distinct(ports: string[]): string[] {
  return [...new Set(ports)];
}

function addLink(links: Map<string, Map<string, Link>>, container: string, link: Link): void {
  let inside = links.get(container);
  if (inside === undefined) {
    inside = new Map();
    links.set(container, inside);
  }
  const key = JSON.stringify([link.from, link.to, link.fromPort, link.toPort]);
  const known = inside.get(key);
  if (known === undefined) inside.set(key, link);
  else if (link.flow === "data") known.flow = "data";
}

type Crossing = [container: string, from: string | null, to: string | null];

/** The containers an edge runs through, from its source outwards to the common one and inwards to its target. */
function crossings(result: GraphIndex, source: string, target: string): Crossing[] {
  const up = ancestors(result, source);
  const down = ancestors(result, target);
  // both lists end with ROOT: drop what is common to find where they part
  let common = 1;
  while (common < up.length && common < down.length && up[up.length - 1 - common] === down[down.length - 1 - common]) {
    common += 1;
  }
  const outer = up[up.length - common] ?? ROOT;
  const outwards = [source, ...up.slice(0, up.length - common)];
  const inwards = [target, ...down.slice(0, down.length - common)];
  const found: Crossing[] = [];
  for (let i = 0; i + 1 < outwards.length; i += 1) found.push([outwards[i + 1] ?? ROOT, outwards[i] ?? null, null]);
  found.push([outer, outwards[outwards.length - 1] ?? null, inwards[inwards.length - 1] ?? null]);
  for (let i = inwards.length - 1; i > 0; i -= 1) found.push([inwards[i] ?? ROOT, null, inwards[i - 1] ?? null]);
  return found;
}

/** Containers that hold a node, innermost first, `ROOT` last. */
export function ancestors(result: GraphIndex, id: string): string[] {
  const found: string[] = [];
  let at = id;
  while (at !== ROOT) {
    at = result.holder.get(at) ?? ROOT;
    found.push(at);
  }
  return found;
}
