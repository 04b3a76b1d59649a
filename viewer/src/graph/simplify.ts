/**
 * Removes plumbing that a figure in a paper would omit, such as reshapes, and reconnects its neighbours. Does not
 * modify the trace; readers can show everything (`State.plumbing`).
 */

import { append } from "./append.js";
import type { Edge, Graph, GraphNode, OpNode, TensorSpec } from "./graph.js";
import { shortName } from "./names.js";
import { foldSeries, type Simplified } from "./series.js";

/** Ops that return their input unchanged or as another view. */
const PASSING =
  /^(view|view_as|reshape|transpose|permute|contiguous|squeeze|unsqueeze|flatten|unflatten|expand|expand_as|to|type|type_as|float|half|bfloat16|t|movedim|swapaxes|clone|detach|alias|identity|dropout|feature_dropout|requires_grad|pin_memory|broadcast_to|rearrange|cuda|cpu|mT|T|adjoint)$/;
/** Ops that select or join; passing if the output has as many elements as the input. */
const PICKING = /^(getitem|select|narrow|slice|cat|concat|concatenate|pad)$/;
/** Ops that are passing with this operand. */
const NEUTRAL: readonly (readonly [RegExp, number])[] = [
  [/^(r|i)?mul$|^i?(true)?div$/, 1],
  [/^(r|i)?add$|^i?sub$/, 0],
];
/** Ops that may insert an axis of size 1. */
const INSERTS_AXIS = /^(unsqueeze|getitem)$/;
/** Ops that produce new values without a tensor input. */
const RANDOM = /rand|normal|bernoulli|multinomial|uniform|poisson/;

/** Merge series of inputs and outputs; without `plumbing`, also remove plumbing and ops that only use constants. */
export function simplify(graph: Graph, plumbing: boolean): Simplified {
  return foldSeries(plumbing ? graph : asLayer(withoutPlumbing(withoutConstants(graph))));
}

// -- a layer by itself ------------------------------------------------------------------------------------------------

/** Turns a model that is a single PyTorch layer with one op into that layer's box, with the op's id. */
function asLayer(graph: Graph): Graph {
  const { model, nodes } = graph;
  const [op, ...more] = nodes.filter(({ kind }) => kind === "op" || kind === "module");
  if (op?.kind !== "op" || more.length > 0 || !model.class.startsWith("torch.nn.modules.")) return graph;
  const { attributes = {}, class: name, parameters } = model;
  const layer: GraphNode = { kind: "module", id: op.id, path: "", class: name, attributes, parameters };
  const weights = nodes.filter(({ kind }) => kind === "parameter" || kind === "buffer");
  const boxed = nodes.map((node) => (node === op ? layer : node));
  return without({ ...graph, nodes: boxed }, new Set(weights.map(({ id }) => id)));
}

// -- computed from constants ------------------------------------------------------------------------------------------

/** Removes ops that depend on no input, no parameter and no module that shows, such as position indices and masks. */
function withoutConstants(graph: Graph): Graph {
  const constants = constantNodes(graph);
  const kept = withFollowing(graph, modulesWhollyIn(graph, constants));
  const removed = new Set([...constants].filter((id) => !kept.has(id)));
  // a model that only uses constants (such as a generator or a table) stays as it is
  const hasVariableOps = graph.nodes.some((node) => node.kind === "op" && !constants.has(node.id));
  return hasVariableOps ? without(withConstantNames(graph, removed), removed) : graph;
}

/** Shows the names of removed constants at the ops that use them, like weights. */
function withConstantNames(graph: Graph, removed: ReadonlySet<string>): Graph {
  const used = new Map<string, Record<string, string>>();
  for (const node of graph.nodes) {
    if (!removed.has(node.id) || (node.kind !== "buffer" && node.kind !== "constant") || !node.name) continue;
    for (const { to, argument } of graph.adjacency.get(node.id) ?? []) {
      used.set(to, { ...used.get(to), [argument ?? ""]: node.name });
    }
  }
  const named = (node: GraphNode): GraphNode =>
    node.kind === "op" && used.has(node.id) ? { ...node, weights: { ...node.weights, ...used.get(node.id) } } : node;
  return used.size === 0 ? graph : { ...graph, nodes: graph.nodes.map(named) };
}

function constantNodes(graph: Graph): Set<string> {
  const variable = new Set<string>();
  const writers = writersOf(graph);
  const error = graph.status.error?.node;
  for (const node of graph.nodes) {
    const source = node.kind === "input" || node.kind === "parameter" || node.kind === "output" || node.id === error;
    const edges = graph.adjacency.get(node.id) ?? [];
    if (source || (node.kind === "op" && isVariable(node, edges))) variable.add(node.id);
    if (!variable.has(node.id)) continue;
    for (const edge of edges) if (isDrawn(edge, writers)) variable.add(edge.to);
  }
  return new Set(graph.nodes.filter((node) => node.kind !== "module" && !variable.has(node.id)).map((node) => node.id));
}

/** Ops that write into a tensor which is read later. */
function writersOf(graph: Graph): Set<string> {
  const writers = graph.nodes.filter((node) => node.kind === "op" && isInPlace(node) && graph.adjacency.has(node.id));
  return new Set(writers.map(({ id }) => id));
}

function isInPlace({ name }: OpNode): boolean {
  return name.endsWith("_") && !name.endsWith("__");
}

/** Whether values flow along an edge, or it leads to an op that overwrites them for later readers. */
function isDrawn({ to, flow }: Edge, writers: ReadonlySet<string>): boolean {
  return flow !== "shape" || writers.has(to);
}

/** Whether an op uses weights or random numbers. Counters such as `num_batches_tracked` are not variable. */
function isVariable(node: OpNode, edges: Edge[]): boolean {
  if (edges.length === 0 && isInPlace(node)) return false;
  return Object.keys(node.weights ?? {}).length > 0 || node.opaque === true || RANDOM.test(shortName(node.name));
}

/** Modules with only these nodes inside, such as rotary tables; they stay as one box. */
function modulesWhollyIn(graph: Graph, nodes: ReadonlySet<string>): Set<string> {
  const whole = new Set(graph.nodes.filter((node) => node.kind === "module").map((node) => node.id));
  for (const node of graph.nodes) {
    if (node.kind === "module" || nodes.has(node.id)) continue;
    for (
      let at = graph.hierarchy.get(node.id) ?? null;
      at !== null && whole.has(at);
      at = graph.hierarchy.get(at) ?? null
    ) {
      whole.delete(at);
    }
  }
  return whole;
}

/** The nodes inside modules, and those that use what the modules return: a box without its readers would be untrue. */
function withFollowing(graph: Graph, modules: ReadonlySet<string>): Set<string> {
  const found = new Set<string>();
  for (const { id } of graph.nodes) {
    if (modules.has(graph.hierarchy.get(id) ?? "")) found.add(id);
    if (!found.has(id)) continue;
    for (const edge of graph.adjacency.get(id) ?? []) if (edge.flow !== "shape") found.add(edge.to);
  }
  return found;
}

// -- plumbing ---------------------------------------------------------------------------------------------------------

interface Source {
  node: string;
  tensor: string;
}

/** A passing op: its short name, the source of its tensor, its direct predecessor, and its output. */
interface Passed {
  name: string;
  source: Source;
  before: Source;
  after: string;
}

/** Removes passing ops: their sources feed their readers, all with the source's tensor. */
function withoutPlumbing(graph: Graph): Graph {
  const passed = passedNodes(graph);
  const labelled = labelTensors(graph, passed);
  const writers = writersOf(graph);
  const passedOn = new Map<string, Edge[]>();
  const readAs = new Map<string, TensorSpec[]>();
  for (const node of graph.nodes) {
    const source = passed.get(node.id)?.source;
    for (const edge of (graph.adjacency.get(node.id) ?? []).filter(
      (edge) => !passed.has(edge.to) && isDrawn(edge, writers),
    )) {
      const tensor = source?.tensor ?? edge.tensor;
      const spec = graph.tensors.get(labelled.get(node.id) ?? edge.tensor);
      if (spec !== undefined) append(readAs, tensor, spec);
      append(passedOn, source?.node ?? node.id, {
        ...edge,
        tensor,
        flow: edge.flow === "inferred" ? "inferred" : "data",
      });
    }
  }
  return without({ ...graph, adjacency: passedOn, tensors: tensorsAsRead(graph, readAs) }, new Set(passed.keys()));
}

/** Inputs keep their shape, which readers copy to call the model. */
function tensorsAsRead(graph: Graph, readAs: Map<string, TensorSpec[]>): Graph["tensors"] {
  const tensors = new Map(graph.tensors);
  const given = new Set(graph.nodes.flatMap((node) => (node.kind === "input" ? (node.outputs ?? []) : [])));
  for (const [tensor, specs] of readAs) {
    const spec = commonSpec(specs);
    if (spec !== undefined && !given.has(tensor)) tensors.set(tensor, spec);
  }
  return tensors;
}

/**
 * Passing op → the tensor whose shape labels the wire from its source. Only reshapes inside the source's container count:
 * a norm keeps its shape if the next linear layer begins with a `view`, but a projection shows the heads that its parent
 * splits it into. Copies, such as repeated heads, don't count.
 */
function labelTensors(graph: Graph, passed: Map<string, Passed>): Map<string, string> {
  const emptied = emptiedModules(graph, new Set(passed.keys()));
  const labelled = new Map<string, string>();
  const outside = new Set<string>();
  for (const [id, { name, source, before, after }] of passed) {
    const last = labelled.get(before.node) ?? source.tensor;
    const [was, is] = [before.tensor, after].map((tensor) => graph.tensors.get(tensor));
    const parent = visibleParent(graph, emptied, id);
    if (outside.has(before.node) || count(was) !== count(is) || !isInside(graph, source.node, parent)) outside.add(id);
    const isSame = commonSpec([was, is]) !== undefined || (INSERTS_AXIS.test(name) && hasMoreOnes(was, is));
    labelled.set(id, outside.has(id) || isSame ? last : after);
  }
  return labelled;
}

/** Whether the shapes differ only in axes of size 1, inserted for broadcasting. */
function hasMoreOnes(before: TensorSpec | undefined, after: TensorSpec | undefined): boolean {
  const [was, is] = [before?.shape ?? [], after?.shape ?? []];
  const relevant = (shape: readonly (number | string)[]) => shape.filter((size) => size !== 1).join();
  return is.length > was.length && relevant(was) === relevant(is);
}

function visibleParent(graph: Graph, emptied: ReadonlySet<string>, id: string): string | null {
  let at = graph.hierarchy.get(id) ?? null;
  while (at !== null && emptied.has(at)) at = graph.hierarchy.get(at) ?? null;
  return at;
}

function isInside(graph: Graph, id: string, parent: string | null): boolean {
  let at = graph.hierarchy.get(id) ?? null;
  while (at !== null && at !== parent) at = graph.hierarchy.get(at) ?? null;
  return at === parent;
}

/** The shape and dtype of a tensor at its readers, if all agree. */
function commonSpec([first, ...others]: (TensorSpec | undefined)[]): TensorSpec | undefined {
  const look = (spec: TensorSpec | undefined) => JSON.stringify([spec?.shape, spec?.dtype]);
  return others.every((other) => look(other) === look(first)) ? first : undefined;
}

function passedNodes(graph: Graph): Map<string, Passed> {
  const incoming = incomingData(graph);
  const error = graph.status.error?.node;
  const passed = new Map<string, Passed>();
  for (const node of graph.nodes) {
    const [only, ...more] = incoming.get(node.id) ?? [];
    if (node.kind !== "op" || node.id === error || only === undefined || more.length > 0) continue;
    const made = node.outputs?.[0] ?? "";
    const [before, after] = [graph.tensors.get(only.tensor), graph.tensors.get(made)];
    if (!passes(node, before, after) && !doesNothing(graph, node, before, after)) continue;
    const name = shortName(node.name);
    passed.set(node.id, { name, source: passed.get(only.node)?.source ?? only, before: only, after: made });
  }
  return passed;
}

function incomingData(graph: Graph): Map<string, Source[]> {
  const incoming = new Map<string, Source[]>();
  for (const node of graph.nodes) {
    for (const edge of graph.adjacency.get(node.id) ?? []) {
      if (edge.flow === "shape") continue;
      append(incoming, edge.to, { node: node.id, tensor: edge.tensor });
    }
  }
  return incoming;
}

function passes(node: OpNode, before: TensorSpec | undefined, after: TensorSpec | undefined): boolean {
  if ((node.outputs ?? []).length !== 1) return false;
  const name = shortName(node.name);
  if (PASSING.test(name)) return node.arguments?.training !== true;
  if (NEUTRAL.some(([op, value]) => op.test(name) && node.arguments?.other === value)) return true;
  return PICKING.test(name) && count(before) !== null && count(before) === count(after);
}

/** Whether a module returned its input: the tracer puts one op inside, named after the module's class. */
function doesNothing(graph: Graph, node: OpNode, before?: TensorSpec, after?: TensorSpec): boolean {
  const parent = graph.hierarchy.get(node.id);
  if (!parent || `${parent}/${shortName(node.name)}` !== node.id || (node.outputs ?? []).length !== 1) return false;
  return /^(Identity|.*Drop(out|Path).*)$/.test(shortName(node.name)) && commonSpec([before, after]) !== undefined;
}

/** Number of elements; null if a size is symbolic. */
function count(spec: TensorSpec | undefined): number | null {
  if (spec?.shape == null) return null;
  return spec.shape.reduce<number | null>(
    (all, size) => (all === null || typeof size === "string" ? null : all * size),
    1,
  );
}

// -- leaving out ------------------------------------------------------------------------------------------------------

/** The graph without some nodes, their edges, and modules that become empty. */
function without(graph: Graph, removed: ReadonlySet<string>): Graph {
  if (removed.size === 0) return graph;
  const emptied = emptiedModules(graph, removed);
  const nodes = graph.nodes.filter((node) => !removed.has(node.id) && !emptied.has(node.id));
  const adjacency = new Map<string, Edge[]>();
  for (const node of nodes) {
    const edges = (graph.adjacency.get(node.id) ?? []).filter((edge) => !removed.has(edge.to));
    if (edges.length > 0) adjacency.set(node.id, edges);
  }
  return { ...graph, nodes, adjacency };
}

function emptiedModules(graph: Graph, removed: ReadonlySet<string>): Set<string> {
  const emptied = new Set<string>();
  const nonEmpty = new Set<string>();
  for (const node of graph.nodes) {
    if (node.kind === "module" || removed.has(node.id)) continue;
    for (
      let at = graph.hierarchy.get(node.id) ?? null;
      at !== null && !nonEmpty.has(at);
      at = graph.hierarchy.get(at) ?? null
    ) {
      nonEmpty.add(at);
    }
  }
  for (const id of removed) {
    for (
      let at = graph.hierarchy.get(id) ?? null;
      at !== null && !nonEmpty.has(at);
      at = graph.hierarchy.get(at) ?? null
    )
      emptied.add(at);
  }
  return emptied;
}
