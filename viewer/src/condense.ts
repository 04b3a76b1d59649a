/**
 * Graph → quieter Graph: what no figure in a paper would show is left out, and what flowed through it flows past.
 * The trace is not changed; a reader can ask for everything (`State.plumbing`).
 */
import { append } from "./append.js";
import { shortName } from "./families.js";
import type { Edge, Graph, GraphNode, InputNode, OpNode, OutputNode, TensorSpec } from "./graph.js";

/** A graph for showing. */
export interface Condensed {
  graph: Graph;
  /** Id of an input or output that stands for several → the ids of all of them. */
  series: Map<string, string[]>;
}

/** Ops that only change how a tensor is seen, or pass it on. */
const PASSING =
  /^(view|view_as|reshape|transpose|permute|contiguous|squeeze|unsqueeze|flatten|unflatten|expand|expand_as|to|type|type_as|float|half|bfloat16|t|movedim|swapaxes|clone|detach|alias|identity|dropout|feature_dropout|requires_grad|pin_memory|broadcast_to|rearrange|cuda|cpu|mT|T|adjoint)$/;
/** These may pick a part or join several: they pass where what comes out is what went in. */
const PICKING = /^(getitem|select|narrow|slice|cat|concat|concatenate|pad)$/;
/** These pass with one number. */
const NEUTRAL: readonly (readonly [RegExp, number])[] = [
  [/^(r|i)?mul$|^i?(true)?div$/, 1],
  [/^(r|i)?add$|^i?sub$/, 0],
];
/** These may put in an axis of one. */
const PUTS_IN = /^(unsqueeze|getitem)$/;
/** Sources of new values, though they take no tensor. */
const RANDOM = /rand|normal|bernoulli|multinomial|uniform|poisson/;

/** Fold numbered inputs and outputs; unless wanted, leave out plumbing and what is computed from constants alone. */
export function condense(graph: Graph, plumbing: boolean): Condensed {
  return foldSeries(plumbing ? graph : asLayer(withoutPlumbing(withoutConstants(graph))));
}

// -- a layer by itself ------------------------------------------------------------------------------------------------

/** A model that is one of PyTorch's layers, and one op: the box that it is in other models, under the op's id. */
function asLayer(graph: Graph): Graph {
  const { model, nodes } = graph;
  const [op, ...more] = nodes.filter(({ kind }) => kind === "op" || kind === "module");
  if (op?.kind !== "op" || more.length > 0 || !model.class.startsWith("torch.nn.modules.")) return graph;
  const { attributes = {}, class: name, parameters } = model;
  const layer: GraphNode = { kind: "module", id: op.id, path: "", class: name, attributes, parameters };
  const held = nodes.filter(({ kind }) => kind === "parameter" || kind === "buffer");
  const boxed = nodes.map((node) => (node === op ? layer : node));
  return without({ ...graph, nodes: boxed }, new Set(held.map(({ id }) => id)));
}

// -- computed from constants ------------------------------------------------------------------------------------------

/** Without ops that depend on no input and no parameter, such as position indices and masks. */
function withoutConstants(graph: Graph): Graph {
  const fixed = fixedNodes(graph);
  const kept = modulesWhollyIn(graph, fixed);
  const gone = new Set<string>();
  for (const node of graph.nodes) {
    const holder = graph.hierarchy[node.id] ?? null;
    if (fixed.has(node.id) && !(holder !== null && kept.has(holder))) gone.add(node.id);
  }
  // a model that starts from nothing (a generator's constant, a table) is shown as it is
  const moves = graph.nodes.some((node) => node.kind === "op" && !fixed.has(node.id));
  return moves ? without(naming(graph, gone), gone) : graph;
}

/** With the names of constants that go at the ops that use them, as those of weights are. */
function naming(graph: Graph, gone: ReadonlySet<string>): Graph {
  const used = new Map<string, Record<string, string>>();
  for (const node of graph.nodes) {
    if (!gone.has(node.id) || (node.kind !== "buffer" && node.kind !== "constant") || !node.name) continue;
    for (const { to, argument } of graph.adjacency[node.id] ?? []) {
      used.set(to, { ...used.get(to), [argument ?? ""]: node.name });
    }
  }
  const named = (node: GraphNode): GraphNode =>
    node.kind === "op" && used.has(node.id) ? { ...node, weights: { ...node.weights, ...used.get(node.id) } } : node;
  return used.size === 0 ? graph : { ...graph, nodes: graph.nodes.map(named) };
}

function fixedNodes(graph: Graph): Set<string> {
  const moving = new Set<string>();
  const error = graph.status.error?.node;
  for (const node of graph.nodes) {
    const source = node.kind === "input" || node.kind === "parameter" || node.kind === "output" || node.id === error;
    const edges = graph.adjacency[node.id] ?? [];
    if (source || (node.kind === "op" && startsSomething(node, edges))) moving.add(node.id);
    if (!moving.has(node.id)) continue;
    for (const edge of edges) if (edge.flow !== "shape") moving.add(edge.to);
  }
  return new Set(graph.nodes.filter((node) => node.kind !== "module" && !moving.has(node.id)).map((node) => node.id));
}

/** Weights of a leaf module make its ops move, as do random numbers; but what only counts, as `num_batches_tracked`, is still. */
function startsSomething(node: OpNode, edges: Edge[]): boolean {
  if (edges.length === 0 && node.name.endsWith("_") && !node.name.endsWith("__")) return false;
  return Object.keys(node.weights ?? {}).length > 0 || node.opaque === true || RANDOM.test(shortName(node.name));
}

/** Modules with nothing but such nodes inside: rotary tables, for one. They stay, as a box. */
function modulesWhollyIn(graph: Graph, nodes: ReadonlySet<string>): Set<string> {
  const whole = new Set(graph.nodes.filter((node) => node.kind === "module").map((node) => node.id));
  for (const node of graph.nodes) {
    if (node.kind === "module" || nodes.has(node.id)) continue;
    for (let at = graph.hierarchy[node.id] ?? null; at !== null && whole.has(at); at = graph.hierarchy[at] ?? null) {
      whole.delete(at);
    }
  }
  return whole;
}

// -- plumbing ---------------------------------------------------------------------------------------------------------

interface Source {
  node: string;
  tensor: string;
}

/** A passing op: its short name, where what it passes comes from, what is right before it, and the tensor it gives. */
interface Passed {
  name: string;
  source: Source;
  before: Source;
  after: string;
}

/** Every passing op is taken out; its source then feeds what the op fed, with one and the same tensor. */
function withoutPlumbing(graph: Graph): Graph {
  const passed = passedNodes(graph);
  const left = tensorsLeft(graph, passed);
  const passedOn = new Map<string, Edge[]>();
  const seenAs = new Map<string, TensorSpec[]>();
  for (const node of graph.nodes) {
    const source = passed.get(node.id)?.source;
    for (const edge of (graph.adjacency[node.id] ?? []).filter(({ to, flow }) => !passed.has(to) && flow !== "shape")) {
      const tensor = source?.tensor ?? edge.tensor;
      const spec = graph.tensors[left.get(node.id) ?? edge.tensor];
      if (spec !== undefined) append(seenAs, tensor, spec);
      append(passedOn, source?.node ?? node.id, { ...edge, tensor });
    }
  }
  const adjacency = Object.fromEntries(passedOn);
  return without({ ...graph, adjacency, tensors: tensorsAsSeen(graph, seenAs) }, new Set(passed.keys()));
}

function tensorsAsSeen(graph: Graph, seenAs: Map<string, TensorSpec[]>): Graph["tensors"] {
  const tensors = { ...graph.tensors };
  for (const [tensor, specs] of seenAs) {
    const spec = asSeen(specs);
    if (spec !== undefined) tensors[tensor] = spec;
  }
  return tensors;
}

/**
 * Passing op → the tensor that what it passes has become, as far as the containers of its source know. A norm gives what
 * it gives, though the linear layer after it begins with a `view`; the heads a projection is split into are its holder's. Nothing is many times what it was: heads repeated for others are the reader's.
 */
function tensorsLeft(graph: Graph, passed: Map<string, Passed>): Map<string, string> {
  const emptied = emptiedModules(graph, new Set(passed.keys()));
  const left = new Map<string, string>();
  const lost = new Set<string>();
  for (const [id, { name, source, before, after }] of passed) {
    const last = left.get(before.node) ?? source.tensor;
    const [was, is] = [before.tensor, after].map((tensor) => graph.tensors[tensor]);
    const holder = visibleHolder(graph, emptied, id);
    if (lost.has(before.node) || count(was) !== count(is) || !isInside(graph, source.node, holder)) lost.add(id);
    const isSame = asSeen([was, is]) !== undefined || (PUTS_IN.test(name) && hasMoreOnes(was, is));
    left.set(id, lost.has(id) || isSame ? last : after);
  }
  return left;
}

/** An axis of one is put in for what comes next, as for broadcasting; it tells nothing of the tensor. */
function hasMoreOnes(before: TensorSpec | undefined, after: TensorSpec | undefined): boolean {
  const [was, is] = [before?.shape ?? [], after?.shape ?? []];
  const telling = (shape: readonly (number | string)[]) => shape.filter((size) => size !== 1).join();
  return is.length > was.length && telling(was) === telling(is);
}

function visibleHolder(graph: Graph, emptied: ReadonlySet<string>, id: string): string | null {
  let at = graph.hierarchy[id] ?? null;
  while (at !== null && emptied.has(at)) at = graph.hierarchy[at] ?? null;
  return at;
}

function isInside(graph: Graph, id: string, holder: string | null): boolean {
  let at = graph.hierarchy[id] ?? null;
  while (at !== null && at !== holder) at = graph.hierarchy[at] ?? null;
  return at === holder;
}

/** What a tensor looks like where it arrives, if that is the same everywhere. */
function asSeen([first, ...others]: (TensorSpec | undefined)[]): TensorSpec | undefined {
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
    const [before, after] = [graph.tensors[only.tensor], graph.tensors[made]];
    if (!passes(node, before, after) && !doesNothing(graph, node, before, after)) continue;
    const name = shortName(node.name);
    passed.set(node.id, { name, source: passed.get(only.node)?.source ?? only, before: only, after: made });
  }
  return passed;
}

function incomingData(graph: Graph): Map<string, Source[]> {
  const incoming = new Map<string, Source[]>();
  for (const node of graph.nodes) {
    for (const edge of graph.adjacency[node.id] ?? []) {
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

/** A module that returned what it was given has one op inside, named after the module's class. */
function doesNothing(graph: Graph, node: OpNode, before?: TensorSpec, after?: TensorSpec): boolean {
  const holder = graph.hierarchy[node.id];
  if (!holder || `${holder}/${shortName(node.name)}` !== node.id || (node.outputs ?? []).length !== 1) return false;
  return /^(Identity|.*Drop(out|Path).*)$/.test(shortName(node.name)) && asSeen([before, after]) !== undefined;
}

/** Number of elements; null where a size is symbolic. */
function count(spec: TensorSpec | undefined): number | null {
  if (spec?.shape == null) return null;
  return spec.shape.reduce<number | null>(
    (all, size) => (all === null || typeof size === "string" ? null : all * size),
    1,
  );
}

// -- leaving out ------------------------------------------------------------------------------------------------------

/** The graph without some nodes, their edges, and modules that held nothing else. */
function without(graph: Graph, gone: ReadonlySet<string>): Graph {
  if (gone.size === 0) return graph;
  const emptied = emptiedModules(graph, gone);
  const nodes = graph.nodes.filter((node) => !gone.has(node.id) && !emptied.has(node.id));
  const adjacency: Record<string, Edge[]> = {};
  for (const node of nodes) {
    const edges = (graph.adjacency[node.id] ?? []).filter((edge) => !gone.has(edge.to));
    if (edges.length > 0) adjacency[node.id] = edges;
  }
  return { ...graph, nodes, adjacency };
}

function emptiedModules(graph: Graph, gone: ReadonlySet<string>): Set<string> {
  const emptied = new Set<string>();
  const held = new Set<string>();
  for (const node of graph.nodes) {
    if (node.kind === "module" || gone.has(node.id)) continue;
    for (let at = graph.hierarchy[node.id] ?? null; at !== null && !held.has(at); at = graph.hierarchy[at] ?? null) {
      held.add(at);
    }
  }
  for (const id of gone) {
    for (let at = graph.hierarchy[id] ?? null; at !== null && !held.has(at); at = graph.hierarchy[at] ?? null)
      emptied.add(at);
  }
  return emptied;
}

// -- series -----------------------------------------------------------------------------------------------------------

/** From so many on, inputs or outputs with one name are one thing to a reader. */
const SERIES = 3;
/** Outputs with places only, `[0]`, `[1]`, may be few different things. */
const UNNAMED_SERIES = 9;

/** Inputs (or outputs) that are parts of one argument, such as a cache's keys and values, become one. */
function foldSeries(graph: Graph): Condensed {
  const stems = new Map<string, (InputNode | OutputNode)[]>();
  for (const node of graph.nodes) {
    if (node.kind !== "input" && node.kind !== "output") continue;
    const key = `${node.kind} ${stem(node.name)}`;
    append(stems, key, node);
  }
  const series = new Map<string, string[]>();
  const leader = new Map<string, string>();
  for (const members of stems.values()) {
    const [first] = members;
    const least = stem(first?.name ?? "") === "" ? UNNAMED_SERIES : SERIES;
    if (first === undefined || members.length < least) continue;
    series.set(
      first.id,
      members.map((member) => member.id),
    );
    for (const member of members) leader.set(member.id, first.id);
  }
  return { graph: series.size === 0 ? graph : led(graph, series, leader), series };
}

function stem(name: string): string {
  return name.split(/[.[]/, 1)[0] ?? "";
}

/** Only the first of each series is left; it has the edges of all. */
function led(graph: Graph, series: Map<string, string[]>, leader: Map<string, string>): Graph {
  const adjacency: Record<string, Edge[]> = {};
  for (const [id, edges] of Object.entries(graph.adjacency)) {
    const source = leader.get(id) ?? id;
    adjacency[source] = [
      ...(adjacency[source] ?? []),
      ...edges.map((edge) => ({ ...edge, to: leader.get(edge.to) ?? edge.to })),
    ];
  }
  const outputsOf = new Map(graph.nodes.map((node) => [node.id, node.kind === "input" ? (node.outputs ?? []) : []]));
  const nodes: GraphNode[] = [];
  for (const node of graph.nodes) {
    const members = series.get(node.id);
    if (members === undefined) {
      if (!leader.has(node.id)) nodes.push(node);
    } else if (node.kind === "input") {
      nodes.push({ ...node, name: stem(node.name), outputs: members.flatMap((id) => outputsOf.get(id) ?? []) });
    } else if (node.kind === "output") {
      nodes.push({ ...node, name: stem(node.name) || "outputs" });
    }
  }
  return { ...graph, nodes, adjacency };
}
