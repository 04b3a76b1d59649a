import { append } from "../graph/append.js";
import { ancestors, childrenOf, contentsOf, type GraphIndex, type GraphNode, type Link, ROOT } from "../graph/graph.js";
import { atOnce, mapSteps, type Steps } from "../shared/slices.js";
import { fill, strings } from "../shared/strings.js";
import { arrangedDirection, markPlacing, withAnnotations } from "./annotations.js";
import { boxOf, isExpandable, type ModuleBox, singleChain } from "./boxes.js";
import { caseSigns, markCases, timesInCases } from "./case_marks.js";
import type { Frame, Item, View } from "./frame.js";
import { shownIndexSteps } from "./grouping/shown_index.js";
import { boxedWords, groupName, holdsWeights } from "./labels/group_names.js";
import { closedDetail } from "./labels/inside_words.js";
import { failureText, SAME_WEIGHTS, SHARED } from "./labels/labels.js";
import { glyphOf, marksOf, withDifference } from "./labels/marks.js";
import { familyOf, learnFamilies } from "./labels/op_families.js";
import { nameParallels } from "./labels/port_names.js";
import { sizeLine } from "./labels/size_line.js";
import { loopCount } from "./labels/size_words.js";
import { decisionText, holdsDecision, loopWords, partWords, recursionOf } from "./labels/way_words.js";
import {
  type FoldedRun,
  firstMember,
  foldedContents,
  type Group,
  type ShownContents,
  shownContents,
} from "./repeats/contents.js";
import { inLaterRepeats } from "./repeats/fold.js";
import { findRunsSteps } from "./repeats/repeats.js";
import { asReturns, handedOn, type Loop, loopInside, openInputs } from "./repeats/returns.js";
import { markStacks } from "./repeats/stacks.js";
import { type Direction, SHAPES, type State } from "./state.js";
import { edgeWidth, markChanges, wiresOf } from "./wires.js";

/** Graph and state → view: the visible items and wires, without positions. */

/** Default for `State.line`: with the space around lines, as wide as a text column. */
const LINE = 636;

/** Container → its last frame, with the part of the state it depends on. */
type Frames = Map<string, { key: string; frame: Frame }>;

/** Cached per graph, so that a toggle rebuilds only the container and its ancestors. */
const lastFrames = new WeakMap<GraphIndex, Frames>();

interface Context {
  index: GraphIndex;
  state: State;
  expanded: Set<string>;
  unrolled: Set<string>;
  turned: Set<string>;
  /** Container → the part of the state that its frame depends on. */
  keys: Map<string, string>;
  frames: Frames;
}

/** The view of a graph in a state. */
export function view(traced: GraphIndex, state: State): View {
  return atOnce(viewSteps(traced, state));
}

/** The same in steps. */
export function* viewSteps(traced: GraphIndex, state: State): Steps<View> {
  const index = yield* shownIndexSteps(traced, state);
  learnFamilies(index);
  yield;
  const frames: Frames = lastFrames.get(index) ?? new Map();
  lastFrames.set(index, frames);
  const context: Context = {
    index,
    state,
    expanded: new Set(state.expanded),
    unrolled: new Set(state.unrolled),
    turned: new Set(state.turned),
    keys: stateKeys(index, state),
    frames,
  };
  const root = yield* frameOf(context, ROOT, { chain: [ROOT], run: null });
  return {
    root,
    direction: state.direction,
    line: state.line ?? LINE,
    shapes: state.shapes ?? SHAPES,
    narrow: state.narrow === true,
    legend: state.legend !== false,
    cases: caseSigns(index),
    sizes: sizeLine(index, root),
  };
}

/** Container → the part of the state that its frame depends on; containers without any are left out. */
function stateKeys(index: GraphIndex, state: State): Map<string, string> {
  const parts = new Map<string, string[]>();
  const note = (id: string, entry: string) => {
    if (!index.nodes.has(id)) return;
    for (const container of [id, ...ancestors(index, id)]) append(parts, container, entry);
  };
  for (const id of state.expanded) note(id, `+${id}`);
  for (const id of state.unrolled) note(firstMember(id), `*${id}`);
  for (const id of state.turned ?? []) note(id, `/${id}`);
  return new Map([...parts].map(([id, entries]) => [id, entries.sort().join("\n")]));
}

/** The frame of an item: the contents of its innermost module, with the ports of its outermost. */
function* frameOf(
  context: Context,
  id: string,
  { chain, run }: ModuleBox,
  repeats: readonly string[] = [],
  isLoop = false,
): Steps<Frame> {
  const inner = chain[chain.length - 1] ?? id;
  const { direction, edgeWidth, narrow } = context.state;
  const key = [direction, edgeWidth, narrow, context.keys.get(id)].join("\n");
  const known = context.frames.get(id);
  if (known?.key === key) return known.frame;
  yield* findRunsSteps(context.index, contentsOf(context.index, inner));
  const loop = isLoop ? loopInside(context.index, repeats) : null;
  const shown = shownContents(context.index, inner, context.unrolled, loop?.returns);
  const frame = yield* makeFrame(context, id, shown, directionOf(context, [id, inner]), repeats, loop);
  markPlacing(context.index, frame, [id, inner]);
  if (context.turned.has(id) || context.turned.has(inner)) frame.turned = true;
  if (run !== null) renamePorts(context.index, frame, run);
  context.frames.set(id, { key, frame });
  yield;
  return frame;
}

/** Renames the ports of a folded run's first member to the tensors that enter and leave the whole run. */
function renamePorts(index: GraphIndex, frame: Frame, run: FoldedRun): void {
  const parent = index.parent.get(firstMember(run.id)) ?? ROOT;
  const outside = new Map<string, string>();
  for (const { from, to, fromPort, toPort } of foldedContents(index, parent).contents.links) {
    if (from === null) outside.set(toPort, fromPort);
    if (to === null) outside.set(fromPort, toPort);
  }
  const named = (ports: string[]) => ports.map((port) => outside.get(port) ?? port);
  frame.inputs = named(frame.inputs);
  frame.outputs = named(frame.outputs);
}

function directionOf({ index, state, turned }: Context, ids: string[]): Direction {
  const arranged = arrangedDirection(index, ids);
  if (arranged !== undefined) return arranged;
  if (!ids.some((id) => turned.has(id))) return state.direction;
  return state.direction === "TB" ? "LR" : "TB";
}

/** @param repeats the modules that the container represents, or the first children of repeats */
function* makeFrame(
  context: Context,
  id: string,
  shown: ShownContents | Group,
  direction: Direction,
  repeats: readonly string[] = [],
  loop: Omit<Loop, "returns"> | null = null,
): Steps<Frame> {
  const items = yield* mapSteps(shown.contents.children, (child) => itemOf(context, child, shown, direction, repeats));
  const positions = new Map(items.map((item, i) => [item.id, i]));
  const frame: Frame = {
    id,
    direction,
    items,
    wires: [],
    inputs: shown.contents.inputs,
    outputs: shown.contents.outputs,
  };
  const { links, returns = [] } = shown.contents;
  const kept = loop === null ? returns.filter(({ to }) => beginsEmpty(context.index, shown, to ?? "")) : returns;
  if (loop !== null) openInputs(context.index, frame, { ...loop, returns });
  frame.wires = wiresOf(context.index, links, frame, positions);
  markChanges(context.index, frame);
  markStacks(context.index, frame);
  nameParallels(context.index, frame);
  const around = frame.items.flatMap((item) => aroundLoop(context.index, item));
  const back = wiresOf(context.index, [...kept, ...around], frame, positions);
  frame.wires.push(...asReturns(context.index, back, frame, loop?.module));
  markCases(context.index, frame, "kind" in shown ? partsOf(shown) : undefined);
  if (context.state.edgeWidth === "bytes")
    for (const wire of frame.wires) wire.width = edgeWidth(context.index, wire.tensor);
  return frame;
}

/** All that a group panel holds or represents. */
function partsOf({ members, contents }: Group): readonly string[] {
  return members.length > 0 ? members : contents.children;
}

/**
 * Whether an op in the first of equal repeats reads less than in the second: a sum over experts begins with zeros, which
 * pictures omit.
 */
function beginsEmpty(index: GraphIndex, shown: ShownContents | Group, op: string): boolean {
  if (!("kind" in shown) || index.nodes.get(op)?.kind !== "op") return false;
  const read = (id: string) => {
    const { links } = contentsOf(index, index.parent.get(id) ?? ROOT);
    return links.filter(({ to }) => to === id).length;
  };
  return read(op) < read(nextIn(shown)(op));
}

/** What a closed box that represents a loop passes to itself. */
function aroundLoop(index: GraphIndex, { id, loop, frame, members }: Item): Link[] {
  if (!loop || frame !== null) return [];
  return handedOn(index, members).map((link) => ({ ...link, from: id, to: id }));
}

// -- items ------------------------------------------------------------------------------------------------------------

function* itemOf(
  context: Context,
  id: string,
  shown: ShownContents,
  around: Direction,
  repeats: readonly string[],
): Steps<Item> {
  const group = shown.groups.get(id);
  if (group !== undefined) return yield* groupItem(context, id, group, around);
  const { index } = context;
  const node = index.nodes.get(id);
  if (node === undefined) throw new Error(`no node ${JSON.stringify(id)} in this graph`);
  for (const inner of singleChain(index, id)) yield* findRunsSteps(index, contentsOf(index, inner));
  const box = boxIn(context, id, shown);
  const inner = box.chain[box.chain.length - 1] ?? id;
  const expandable = isExpandable(index, inner);
  const repeated = repeatsOf(context, id, box, shown);
  const inside = () => frameOf(context, id, box, repeated.members, repeated.loop);
  const frame = expandable && context.expanded.has(id) ? yield* inside() : null;
  const marks = marksOf(index, node);
  const text = boxedWords(index, box.chain, repeated.members, inLaterRepeats(index, id, repeats));
  const opened = index.nodes.get(inner) ?? node;
  const detail = detailIn(text.detail, shown);
  const item: Item = {
    id,
    kind: node.kind,
    family: familyOf(index, opened),
    name: text.name,
    // an expanded module shows the error inside
    detail: withWays(index, node, repeated, frame === null ? detailOfClosed(index, opened, marks, detail) : detail),
    glyph: glyphOf(node, shown.contents),
    ...repeated,
    expandable,
    marks,
    frame,
    ...(expandable && frame === null && { inside: () => atOnce(inside()) }),
    narrow: context.state.narrow === true,
    ...(marks.includes("decision") && { hint: decisionText(index, id).join("\n") }),
    ...(frame === null && box.chain.some((at) => holdsDecision(index, at)) && { decides: true }),
  };
  return withDifference(
    index,
    withAnnotations(index, item, box.chain),
    isBundle(node) ? childrenOf(index, id, isBundle) : box.chain,
  );
}

function repeatsOf(
  { index, unrolled }: Context,
  id: string,
  box: ModuleBox,
  shown: ShownContents,
): Pick<Item, "run" | "members" | "loop" | "times" | "count" | "unrolled" | "least" | "counts"> {
  const run = box.run ?? shown.runs.get(id) ?? { id: "", times: 1, isLoop: false, members: [] };
  const series = index.series.get(id)?.length;
  const count = loopCount(index, run.members[0], run.times);
  if (unrolled.has(run.id))
    return { run: run.id, members: [], loop: false, times: series ?? 1, unrolled: run.times, ...count };
  const taken = { ...count, ...timesInCases(index, run.members, run.times) };
  const times = series ?? run.times;
  return { run: run.id, members: run.members, loop: run.isLoop, times, unrolled: 1, ...taken };
}

function isBundle(node: GraphNode | undefined): boolean {
  return node?.kind === "bundle";
}

/** The box of a child. The first member of a run has the badge of that run, not of a run inside it. */
function boxIn({ index, unrolled }: Context, id: string, shown: ShownContents): ModuleBox {
  return shown.runs.has(id) ? { chain: singleChain(index, id), run: null } : boxOf(index, id, unrolled);
}

function detailOfClosed(index: GraphIndex, node: GraphNode, marks: readonly string[], detail: string): string {
  if (marks.includes("error")) return failureText(index);
  return node.kind === "module" ? closedDetail(index, node, detail) : detail;
}

/** Also says what ended a loop, which lists ran in part, and that a module calls itself. */
function withWays(
  index: GraphIndex,
  { id }: GraphNode,
  { loop, members }: Pick<Item, "loop" | "members">,
  detail: string,
): string {
  const recursion = recursionOf(index, id);
  const more = [
    loop ? loopWords(index, members) : "",
    partWords(index, id),
    recursion > 0 ? fill(strings.recursion, recursion) : "",
  ];
  return [detail, ...more].filter((words) => words !== "").join(" · ");
}

/** Drops the mark for shared weights inside the steps of a loop, whose panel shows it. */
function detailIn(detail: string, shown: ShownContents): string {
  return "kind" in shown && shown.kind !== "repeat" ? detail.replace(SAME_WEIGHTS, "") : detail;
}

/** The item of a group panel. */
function* groupItem(context: Context, id: string, group: Group, around: Direction): Steps<Item> {
  const { kind, isShared, times, run } = group;
  const direction = kind === "steps" ? "LR" : kind === "step" ? "TB" : around;
  return {
    id,
    kind: "group",
    family: "other",
    name: groupName(context.index, group),
    detail: [
      isShared && times > 1 && holdsWeights(context.index, group) ? SHARED : "",
      kind === "step" && times > 1 ? loopWords(context.index, group.members) : "",
    ]
      .filter((words) => words !== "")
      .join(" · "),
    glyph: null,
    times: kind === "steps" ? 1 : times,
    loop: kind === "step" && times > 1,
    unrolled: kind === "steps" ? times : 1,
    run,
    members: group.members,
    ...timesInCases(context.index, group.members, times),
    ...loopCount(context.index, group.members[0], times),
    expandable: false,
    marks: [],
    frame: yield* makeFrame(
      context,
      id,
      group,
      direction,
      group.firsts,
      kind === "step" ? { next: nextIn(group), module: undefined } : null,
    ),
  };
}

/** Maps a module call of the first step to the call in the second. */
function nextIn({ members, times }: Group): Loop["next"] {
  return (id) => members[members.indexOf(id) + members.length / times] ?? "";
}
