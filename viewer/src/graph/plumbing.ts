/** Removes plumbing, such as reshapes, and connects its neighbours. */
import { each, type Steps } from "../shared/slices.js";
import { append } from "./append.js";
import { meetCases, type Positions, positionsOf } from "./cases.js";
import {
  containersOf,
  type Edge,
  type Graph,
  type ModuleNode,
  type OnlyIn,
  type OpNode,
  type TensorSpec,
} from "./graph.js";
import { shortName } from "./names.js";
import { emptiedModules, withoutSteps } from "./without.js";
import { isDrawn, writersOf } from "./writes.js";

/** Ops that return their input unchanged or as another view. */
const PASSING =
  /^(view|view_as|reshape|transpose|permute|contiguous|squeeze|unsqueeze|flatten|unflatten|expand|expand_as|to|type|type_as|float|half|bfloat16|t|movedim|swapaxes|clone|detach|alias|identity|dropout|feature_dropout|requires_grad|pin_memory|broadcast_to|rearrange|cuda|cpu|mT|T|adjoint)$/;
/** Ops that select or join; passing if the output has as many elements as the input, with which a `pad` shifts. */
const PICKING = /^(getitem|select|narrow|slice|cat|concat|concatenate)$/;
/** Ops that are passing with this operand. */
const NEUTRAL: readonly (readonly [RegExp, number])[] = [
  [/^(r|i)?mul$|^i?(true)?div$/, 1],
  [/^(r|i)?add$|^i?sub$/, 0],
];
/** Ops that may insert an axis of size 1. */
const INSERTS_AXIS = /^(unsqueeze|getitem)$/;

const RESHAPES = /^(view|reshape|flatten|unflatten)$/;
const PERMUTES = /^(permute|transpose|movedim|swapaxes|t|mT)$/;

interface Source {
  node: string;
  tensor: string;
  only?: OnlyIn | undefined;
  /** The cases in which it is the source; absent for all. */
  cases?: Positions;
}

/**
 * A passing op: its short name, the source of its tensor, its direct predecessor and its output. `others` are its sources
 * in the earlier one of two graphs, and in other cases.
 */
interface Passed {
  name: string;
  source: Source;
  others: Source[];
  before: Source;
  after: string;
}

/** Removes passing ops: their sources feed their readers, all with the source's tensor. */
export function* withoutPlumbing(graph: Graph): Steps<Graph> {
  const passed = yield* passedNodes(graph, yield* stepsOfRearrangements(graph));
  yield;
  const labelled = yield* labelTensors(graph, passed);
  yield;
  const writers = writersOf(graph);
  yield;
  const passedOn = new Map<string, Edge[]>();
  const readAs = new Map<string, TensorSpec[]>();
  yield* each(graph.nodes, (node) => {
    const from = passed.get(node.id);
    for (const edge of (graph.adjacency.get(node.id) ?? []).filter(
      (edge) => !passed.has(edge.to) && isDrawn(edge, writers),
    )) {
      const source: Source = from?.source ?? { node: node.id, tensor: edge.tensor };
      const spec = graph.tensors.get(labelled.get(node.id) ?? edge.tensor);
      if (spec !== undefined) append(readAs, source.tensor, spec);
      // what one graph has before an op and only the other after it is a path in neither
      passOn(passedOn, [source, ...(from?.others ?? [])], edge);
    }
  });
  const nodes = graph.nodes.map((node) => (node.kind === "module" ? moduleReturningSources(node, passed) : node));
  yield;
  const taking = functionsTakingSources(graph, passed);
  yield;
  const tensors = tensorsAsRead(graph, readAs);
  yield;
  return yield* withoutSteps({ ...graph, ...taking, nodes, adjacency: passedOn, tensors }, new Set(passed.keys()));
}

/** Adds edges from the sources of a passing op to the op's reader. */
function passOn(passedOn: Map<string, Edge[]>, sources: Source[], edge: Edge): void {
  const flow = edge.flow === "inferred" ? "inferred" : "data";
  for (const { node, tensor, only = edge.only, cases } of sources) {
    const both = meetCases(cases, positionsOf(edge));
    // an edge of one graph before the op and one of the other after it are a path in neither
    if (only !== (edge.only ?? only) || both === null) continue;
    append(passedOn, node, { ...edge, tensor, flow, ...onlyIn(only), ...(both && { cases: [...both] }) });
  }
}

/** A module that returns the result of a passing op returns its source. */
function moduleReturningSources(node: ModuleNode, passed: Map<string, Passed>): ModuleNode {
  return { ...node, outputs: asSources(node.outputs, passed) };
}

/** A function that takes the result of a passing op takes its source. */
function functionsTakingSources({ functions }: Graph, passed: Map<string, Passed>): Pick<Graph, "functions"> {
  if (functions === undefined) return {};
  const taking = Object.entries(functions).map(([id, call]) => [
    id,
    { ...call, inputs: asSources(call.inputs, passed) },
  ]);
  return { functions: Object.fromEntries(taking) };
}

function asSources(tensors: Record<string, string> = {}, passed: Map<string, Passed>): Record<string, string> {
  const sources = Object.entries(tensors).map(([name, tensor]) => [
    name,
    passed.get(tensor.slice(0, tensor.lastIndexOf(":")))?.source.tensor ?? tensor,
  ]);
  return Object.fromEntries(sources);
}

/** Tensors with the shape at their readers. Inputs and weights keep their own: readers copy it to call the model. */
function tensorsAsRead(graph: Graph, readAs: Map<string, TensorSpec[]>): Graph["tensors"] {
  const tensors = new Map(graph.tensors);
  const given = new Set(
    graph.nodes.flatMap((node) =>
      node.kind === "op" || node.kind === "module" || node.kind === "output" ? [] : (node.outputs ?? []),
    ),
  );
  for (const [tensor, specs] of readAs) {
    const spec = commonSpec(specs);
    if (spec !== undefined && !given.has(tensor)) tensors.set(tensor, spec);
  }
  return tensors;
}

/**
 * Passing op → the tensor whose shape labels the wire from its source. Only reshapes inside the source's container count:
 * a norm keeps its shape if the next linear layer begins with a `view`, but a projection shows the heads into which its
 * parent splits it. Copies, such as repeated heads, don't count.
 */
function* labelTensors(graph: Graph, passed: Map<string, Passed>): Steps<Map<string, string>> {
  const emptied = emptiedModules(graph, new Set(passed.keys()));
  yield;
  const labelled = new Map<string, string>();
  const outside = new Set<string>();
  yield* each(passed, ([id, { name, source, before, after }]) => {
    const last = labelled.get(before.node) ?? source.tensor;
    const [was, is] = [before.tensor, after].map((tensor) => graph.tensors.get(tensor));
    const parent = visibleParent(graph, emptied, id);
    if (outside.has(before.node) || count(was) !== count(is) || !isInside(graph, source.node, parent)) outside.add(id);
    const isSame = commonSpec([was, is]) !== undefined || (INSERTS_AXIS.test(name) && hasMoreOnes(was, is));
    const isKept = isSame && !isRenamed(graph.tensors.get(last), is);
    labelled.set(id, outside.has(id) || isKept ? last : after);
  });
  return labelled;
}

/** Whether equal numbers have other names: 64 channels and 64 patches, transposed. */
function isRenamed(before: TensorSpec | undefined, after: TensorSpec | undefined): boolean {
  return commonSpec([before, after]) !== undefined && String(before?.names) !== String(after?.names);
}

/** Whether the shapes differ only in axes of size 1 inserted for broadcasting. */
function hasMoreOnes(before: TensorSpec | undefined, after: TensorSpec | undefined): boolean {
  const [was, is] = [before?.shape ?? [], after?.shape ?? []];
  const relevant = (shape: readonly (number | string)[]) => shape.filter((size) => size !== 1).join();
  return is.length > was.length && relevant(was) === relevant(is);
}

function visibleParent(graph: Graph, emptied: ReadonlySet<string>, id: string): string | null {
  for (const at of containersOf(graph.hierarchy, id)) if (!emptied.has(at)) return at;
  return null;
}

function isInside(graph: Graph, id: string, parent: string | null): boolean {
  return parent === null || [...containersOf(graph.hierarchy, id)].includes(parent);
}

/** The shape and dtype of a tensor at its readers, if all agree; with names of sizes if all agree on these, too. */
function commonSpec([first, ...others]: (TensorSpec | undefined)[]): TensorSpec | undefined {
  const look = (spec: TensorSpec | undefined) => JSON.stringify([spec?.shape, spec?.dtype]);
  if (first === undefined || others.some((other) => look(other) !== look(first))) return undefined;
  return others.every((other) => String(other?.names) === String(first.names)) ? first : { ...first, names: undefined };
}

function* passedNodes(graph: Graph, kept: ReadonlySet<string> = new Set()): Steps<Map<string, Passed>> {
  const incoming = yield* incomingData(graph);
  yield;
  const error = graph.status.error?.node;
  const passed = new Map<string, Passed>();
  yield* each(graph.nodes, (node) => {
    const [now, former] = bySide(incoming.get(node.id) ?? []);
    const [only, ...more] = now;
    const isOne = more.length === 0 || areApart(now);
    if (node.kind !== "op" || node.id === error || only === undefined || !isOne || kept.has(node.id)) return;
    const made = node.outputs?.[0] ?? "";
    const isPassing = ([own, before, after]: Seen) =>
      passes(own, before, after) || doesNothing(graph, own, before, after);
    if (!inEachCase(graph, node, now).every(isPassing)) return;
    const name = shortName(node.name);
    const [source = only, ...others] = through(passed, only);
    passed.set(node.id, {
      name,
      source,
      others: [
        ...former.map((one) => passed.get(one.node)?.source ?? one),
        ...others,
        ...more.flatMap((one) => through(passed, one)),
      ],
      before: only,
      after: made,
    });
  });
  return passed;
}

/**
 * Ops of functions that only split, permute and rejoin axes: a window partition, a channel shuffle, `einops.rearrange`.
 * Such a step has a name in papers and is shown as a box.
 */
function* stepsOfRearrangements(graph: Graph): Steps<Set<string>> {
  const ops = new Map<string, OpNode[]>();
  yield* each(graph.nodes, (node) => {
    if (node.kind !== "op") return;
    for (let at = node.scope; at && graph.functions?.[at]; at = graph.functions[at]?.parent) append(ops, at, node);
  });
  if (ops.size === 0) return new Set();
  const passed = yield* passedNodes(graph);
  const count = (inside: OpNode[], names: RegExp) => inside.filter(({ name }) => names.test(shortName(name))).length;
  const found = [...ops.values()].filter(
    (inside) => inside.every(({ id }) => passed.has(id)) && count(inside, RESHAPES) > 1 && count(inside, PERMUTES) > 0,
  );
  return new Set(found.flat().map(({ id }) => id));
}

/** Whether each source is read in other cases than the others: as one. */
function areApart(sources: readonly Source[]): boolean {
  return sources.every((one, i) => sources.every((other, j) => i === j || meetCases(one.cases, other.cases) === null));
}

/** A source or, if it is a passing op, the sources of that. */
function through(passed: ReadonlyMap<string, Passed>, direct: Source): Source[] {
  const earlier = passed.get(direct.node);
  if (earlier === undefined) return [direct];
  return [earlier.source, ...earlier.others].flatMap((source, i): Source[] => {
    const cases = meetCases(source.cases, direct.cases);
    const only = i === 0 ? onlyIn(source.only ?? direct.only) : {};
    return cases === null ? [] : [{ ...source, ...only, ...(cases && { cases }) }];
  });
}

/** The sources of an op. Sources from the earlier graph only are separate, unless there are no others. */
function bySide(sources: Source[]): [now: Source[], former: Source[]] {
  const now = sources.filter(({ only }) => only !== "before");
  return now.length === 0 ? [sources, []] : [now, sources.filter(({ only }) => only === "before")];
}

function onlyIn(only: OnlyIn | undefined): { only?: OnlyIn } {
  return only === undefined ? {} : { only };
}

function* incomingData(graph: Graph): Steps<Map<string, Source[]>> {
  const incoming = new Map<string, Source[]>();
  yield* each(graph.nodes, (node) => {
    for (const edge of graph.adjacency.get(node.id) ?? []) {
      if (edge.flow === "shape") continue;
      const cases = positionsOf(edge);
      append(incoming, edge.to, { node: node.id, tensor: edge.tensor, ...onlyIn(edge.only), ...(cases && { cases }) });
    }
  });
  return incoming;
}

/** An op, and the tensors before and after it. */
type Seen = [op: OpNode, before: TensorSpec | undefined, after: TensorSpec | undefined];

/** What an op is in each case that runs it: dropout acts in training only, a slice may be all of one input. */
function inEachCase({ cases = [], tensors }: Graph, node: OpNode, sources: readonly Source[]): Seen[] {
  const made = node.outputs?.[0] ?? "";
  const running = positionsOf(node) ?? cases.map((_, position) => position);
  return (cases.length === 0 ? [-1] : running).map((position) => {
    const own = cases[position];
    const source = sources.find((one) => one.cases?.includes(position) ?? true)?.tensor ?? "";
    const [before, after] = [source, made].map((tensor) => own?.tensors?.[tensor] ?? tensors.get(tensor));
    return [{ ...node, ...own?.fields?.[node.id] }, before, after];
  });
}

function passes(node: OpNode, before: TensorSpec | undefined, after: TensorSpec | undefined): boolean {
  if ((node.outputs ?? []).length !== 1) return false;
  const name = shortName(node.name);
  if (PASSING.test(name)) return node.arguments?.training !== true;
  if (NEUTRAL.some(([op, value]) => op.test(name) && node.arguments?.other === value)) return true;
  return PICKING.test(name) && count(before) !== null && count(before) === count(after);
}

/** Whether a module returned its input: the tracer adds one op inside it, named after the module's class. */
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
