/** Graph → index: the children of every container, and the links between them. */
import { atOnce, each, type Steps } from "../shared/slices.js";
import { joinCases, type Positions, withVariants } from "./cases.js";
import {
  ancestors,
  type Contents,
  contentsOf,
  type Edge,
  type Flow,
  type Graph,
  type GraphData,
  type GraphIndex,
  type GraphNode,
  isGroup,
  type Link,
  type OnlyIn,
  ROOT,
  type TensorSpec,
} from "./graph.js";
import { findWays } from "./pass_ways.js";
import { putNames } from "./size_names.js";

/** Index a graph as stored in files. */
export function index(data: GraphData): GraphIndex {
  return atOnce(indexDataSteps(data));
}

/** The same in steps. */
export function* indexDataSteps({ marks, formerTensors, texts, annotations, ...data }: GraphData): Steps<GraphIndex> {
  const mapped = <T>(values: Record<string, T>) => new Map(Object.entries(values));
  const adjacency = mapped(data.adjacency);
  yield;
  const hierarchy = mapped(data.hierarchy);
  yield;
  const tensors = mapped<TensorSpec>(data.tensors);
  withVariants(data, tensors);
  putNames(data, tensors);
  yield;
  const passWays = findWays(data);
  return yield* indexGraphSteps({
    ...{ ...data, adjacency, hierarchy, tensors },
    parameters: mapped(data.parameters),
    ...(marks && { marks: mapped(marks) }),
    ...(formerTensors && { formerTensors: mapped(formerTensors) }),
    ...(texts && { texts: mapped(texts) }),
    ...(annotations && { annotations: mapped(annotations) }),
    ...(passWays && { passWays }),
  });
}

/** Index a graph: the children of every container in execution order, and the links between them. */
export function indexGraph(data: Graph, series?: Map<string, string[]>): GraphIndex {
  return atOnce(indexGraphSteps(data, series));
}

/** The same in steps. */
export function* indexGraphSteps(data: Graph, series: Map<string, string[]> = new Map()): Steps<GraphIndex> {
  const graph = yield* withRereadWeightsFirst(data);
  yield;
  const steps = graph.nodes.filter((node) => !isGroup(node));
  const result: GraphIndex = {
    graph,
    nodes: new Map(graph.nodes.map((node) => [node.id, node])),
    steps,
    order: positions(graph.nodes),
    parent: new Map(graph.nodes.map((node) => [node.id, graph.hierarchy.get(node.id) ?? ROOT])),
    contents: new Map([[ROOT, emptyContents()]]),
    producer: new Map(),
    series,
    assumedSizes: new Map(
      (graph.status.guesses ?? []).flatMap(({ node, value }) =>
        node !== null && node !== undefined && typeof value === "string" ? [[node, value]] : [],
      ),
    ),
    hasGroups: graph.nodes.some(isGroup),
    tiedOwners: new Set(
      [...graph.parameters.values()].filter((spec) => (spec.tied ?? []).length > 0).map((spec) => spec.owner),
    ),
  };
  yield;
  for (const node of graph.nodes) {
    childListOf(result, result.parent.get(node.id) ?? ROOT).push(node.id);
    for (const tensor of "outputs" in node && Array.isArray(node.outputs) ? node.outputs : []) {
      result.producer.set(tensor, node.id);
    }
  }
  yield;
  yield* addLinks(result);
  return result;
}

/** Node id → number of nodes before it, groups not counted. */
function positions(nodes: readonly GraphNode[]): Map<string, number> {
  const found = new Map<string, number>();
  let at = 0;
  for (const node of nodes) {
    found.set(node.id, at);
    if (!isGroup(node)) at += 1;
  }
  return found;
}

/** The graph with weights that every step of a loop reads before the loop instead of in its first step. */
function* withRereadWeightsFirst(graph: Graph): Steps<Graph> {
  const nodes = new Map(graph.nodes.map((node) => [node.id, node]));
  const early: GraphNode[] = [];
  yield* each(graph.nodes, (node) => {
    if (isReread(graph, nodes, node)) early.push(node);
  });
  return early.length === 0 ? graph : { ...graph, nodes: [...new Set([...early, ...graph.nodes])] };
}

function isReread(graph: Graph, nodes: ReadonlyMap<string, GraphNode>, { id, kind }: GraphNode): boolean {
  if (kind !== "parameter" && kind !== "buffer" && kind !== "constant") return false;
  const parent = (node: string) => graph.hierarchy.get(node) ?? ROOT;
  const beside = (graph.adjacency.get(id) ?? []).filter(({ to }) => parent(to) === parent(id));
  const uses = beside.map(({ to, argument }) => {
    const node = nodes.get(to);
    return node?.kind === "op" ? `${node.name} ${argument}` : to;
  });
  return new Set(uses).size < uses.length;
}

function emptyContents(): Contents {
  return { children: [], links: [], inputs: [], outputs: [], uses: new Map() };
}

function childListOf(result: GraphIndex, id: string): string[] {
  let contents = result.contents.get(id);
  if (contents === undefined) {
    contents = emptyContents();
    result.contents.set(id, contents);
  }
  return contents.children;
}

/** Cut every edge at the borders it crosses: one link per container, pair of ends and port. */
function* addLinks(result: GraphIndex): Steps<void> {
  const links = new Map<string, Map<string, Link>>();
  const edges = edgesByUse(result);
  yield;
  yield* each(edges, ({ source, edge }) => {
    addEdge(result, links, source, edge);
  });
  yield* each(links, ([container, found]) => {
    const contents = contentsOf(result, container);
    contents.links = [...found.values()];
    contents.inputs = distinct(contents.links.filter((link) => link.from === null).map((link) => link.fromPort));
    contents.outputs = distinct(contents.links.filter((link) => link.to === null).map((link) => link.toPort));
  });
}

function addEdge(result: GraphIndex, links: Map<string, Map<string, Link>>, source: string, edge: Edge): void {
  const series = [edge.to, source].find((id) => result.series.has(id));
  const toPort = series === undefined ? edge.tensor : seriesPort(series);
  for (const [container, from, to] of crossings(result, source, edge.to)) {
    // the op that makes a member of a series has its own port: the series begins in its container
    const fromPort = from === source && !result.series.has(source) ? edge.tensor : toPort;
    addLink(links, container, {
      from,
      to,
      tensor: edge.tensor,
      fromPort,
      toPort,
      flow: edge.flow ?? "data",
      ...onlyIn(edge),
      ...(edge.cases?.length && { cases: edge.cases }),
    });
    if (from === null) noteUse(result, container, fromPort, edge);
  }
}

function noteUse(result: GraphIndex, container: string, port: string, edge: Edge): void {
  const { uses } = contentsOf(result, container);
  const offset = (result.order.get(edge.to) ?? 0) - (result.order.get(container) ?? 0);
  if (!uses.has(port)) uses.set(port, `${offset} ${edge.argument ?? ""}`);
}

/** Edges in order of use, so that equal containers list their ports in the same order. */
function edgesByUse(result: GraphIndex): { source: string; edge: Edge }[] {
  const position = (id: string) => result.order.get(id) ?? 0;
  const edges = result.graph.nodes.flatMap((node) =>
    (result.graph.adjacency.get(node.id) ?? []).map((edge) => ({ source: node.id, edge })),
  );
  return edges.sort(
    (a, b) =>
      position(a.edge.to) - position(b.edge.to) ||
      compare(a.edge.argument ?? "", b.edge.argument ?? "") ||
      position(a.source) - position(b.source),
  );
}

/** By code units, independent of the locale. */
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
  addStrongest(inside, key, link);
}

/** From the weakest. */
const FLOWS: readonly (Flow | "return")[] = ["return", "shape", "inferred", "data"];

interface Flowing {
  flow: Flow | "return";
  only?: OnlyIn | undefined;
  cases?: Positions;
}

/** Adds a link. If its key is taken, the stronger flow counts: where values flow, a shape may flow too. */
export function addStrongest<T extends Flowing>(links: Map<string, T>, key: string, link: T): void {
  const known = links.get(key);
  if (known === undefined) {
    links.set(key, link);
    return;
  }
  if (FLOWS.indexOf(link.flow) > FLOWS.indexOf(known.flow)) links.set(key, { ...known, flow: link.flow });
  if (known.cases !== link.cases) {
    const cases = joinCases(known.cases, link.cases);
    links.set(key, { ...(links.get(key) ?? known), cases });
  }
  // one link in each of two graphs: the merged link is in both
  if (known.only !== link.only) links.set(key, { ...(links.get(key) ?? known), only: undefined });
}

function onlyIn({ only }: Edge): { only?: OnlyIn } {
  return only === undefined ? {} : { only };
}

type Crossing = [container: string, from: string | null, to: string | null];

/** The containers that an edge crosses: outwards from its source to the common ancestor, then inwards to its target. */
function crossings(result: GraphIndex, source: string, target: string): Crossing[] {
  const up = ancestors(result, source);
  const down = ancestors(result, target);
  // both lists end with ROOT: strip the common part
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
