/** Graph + what is expanded → what is to be seen. Pure; positions come later. */
import { append } from "./append.js";
import { condense } from "./condense.js";
import { type Family, familyOf, type Glyph, glyph } from "./families.js";
import {
  ancestors,
  type Contents,
  contentsOf,
  type Flow,
  type GraphIndex,
  type GraphNode,
  index as makeIndex,
  ROOT,
} from "./graph.js";
import { failureText, SAME_WEIGHTS, SHARED, tensorLabel } from "./labels.js";
import { boxedWords, groupName, holdsWeights } from "./names.js";
import { type Group, headOf, isMember, onlyRun, type Rolled, rolledUp, type Surface, surface } from "./surface.js";

export type Direction = "TB" | "LR";

/** What the reader can change; plain data, held by the widget. Ids are those of module calls. */
export interface State {
  /** Modules whose inside is shown. */
  expanded: string[];
  /** Runs (`Item.run`) that are shown one by one instead of once with `×12`. */
  unrolled: string[];
  direction: Direction;
  /** Modules whose inside runs the other way than `direction`. */
  turned?: string[];
  /** Also show reshapes, casts, inactive dropout, constants and the like. */
  plumbing?: boolean;
  /** Longest line, in px, of a model that runs right, where the picture is for a page of another width than a screen's. */
  line?: number;
}

/** End of a wire that is the container's own border. */
export const BORDER = -1;

export interface Wire {
  /** Place in `Frame.items`, or `BORDER`. */
  from: number;
  to: number;
  /** Which port: place in the frame's inputs (at the border), or in the outputs and inputs of an expanded item; else -1. */
  fromPort: number;
  toPort: number;
  tensor: string;
  /** The tensor as the source knows it: wires with the same source and name leave as one. */
  source: string;
  flow: Flow;
  /** The tensor's shape, for the label. */
  label: string;
}

export type ItemKind = GraphNode["kind"] | "group";

/** One visible thing: a node, a collapsed module, or an expanded one with its frame. */
export interface Item {
  id: string;
  kind: ItemKind;
  family: Family;
  name: string;
  detail: string;
  glyph: Glyph | null;
  /** More than 1: stands for so many equal ones in a chain. */
  times: number;
  /** Each of these goes on with what the one before gave, by the same weights or none: a loop over time. */
  loop: boolean;
  /** More than 1: the first of so many that are shown one by one; they can be rolled up again. */
  unrolled: number;
  /** The run that it stands for or, unrolled, begins; empty where there is none. */
  run: string;
  expandable: boolean;
  /** Extra CSS classes: `error`, `unseen`. */
  marks: string[];
  frame: Frame | null;
}

/** The inside of an expanded container (or of the whole model). */
export interface Frame {
  id: string;
  direction: Direction;
  items: Item[];
  wires: Wire[];
  /** Tensors through the border: the ports, in order. */
  inputs: string[];
  outputs: string[];
}

export interface View {
  root: Frame;
  direction: Direction;
  line: number;
}

/** As wide as a screen shows at its natural size. */
const LINE = 1150;

/** Frames already made, by container, with the part of the state they were made for. */
type Memo = Map<string, { key: string; frame: Frame }>;

/** One memo per graph, so that a toggle makes new frames only for the container and those around it. */
const memos = new WeakMap<GraphIndex, Memo>();

interface Context {
  index: GraphIndex;
  state: State;
  expanded: Set<string>;
  unrolled: Set<string>;
  turned: Set<string>;
  /** Container → its part of the state. */
  keys: Map<string, string>;
  memo: Memo;
}

/** Indexes of condensed graphs, with and without plumbing, by the index of the trace. */
const condensed = new WeakMap<GraphIndex, Map<boolean, GraphIndex>>();

/** The index of what a state shows: the graph as traced, or without its plumbing. */
export function shownIndex(traced: GraphIndex, state: State): GraphIndex {
  const plumbing = state.plumbing === true;
  const known = condensed.get(traced) ?? new Map<boolean, GraphIndex>();
  condensed.set(traced, known);
  let shown = known.get(plumbing);
  if (shown === undefined) {
    const { graph, series } = condense(traced.graph, plumbing);
    shown = makeIndex(graph, series);
    known.set(plumbing, shown);
  }
  return shown;
}

/** What is to be seen of a graph in a given state. */
export function view(traced: GraphIndex, state: State): View {
  const index = shownIndex(traced, state);
  let memo = memos.get(index);
  if (memo === undefined) {
    memo = new Map();
    memos.set(index, memo);
  }
  const context: Context = {
    index,
    state,
    expanded: new Set(state.expanded),
    unrolled: new Set(state.unrolled),
    turned: new Set(state.turned),
    keys: stateKeys(index, state),
    memo,
  };
  return {
    root: frameOf(context, ROOT, { chain: [ROOT], run: null }),
    direction: state.direction,
    line: state.line ?? LINE,
  };
}

/** The state with a module opened or closed. */
export function toggle(state: State, id: string): State {
  return { ...state, expanded: flipped(state.expanded, id) };
}

/**
 * The state with a run shown one by one, or rolled up again. What shows as one box with its run is a panel around the run
 * unrolled: the box is as open as the run's first.
 */
export function toggleRun(index: GraphIndex, state: State, id: string): State {
  const head = headOf(id);
  const holders = ancestors(index, head).filter((holder) => boxOf(index, holder, new Set()).run?.id === id);
  const box = holders[holders.length - 1];
  const next: State = { ...state, unrolled: flipped(state.unrolled, id) };
  if (box === undefined) return next;
  const isOpen = new Set(state.expanded);
  if (state.unrolled.includes(id)) {
    if (!isOpen.has(head)) isOpen.delete(box);
  } else {
    if (isOpen.has(box)) isOpen.add(head);
    isOpen.add(box);
  }
  return { ...next, expanded: [...isOpen].sort() };
}

/** Sorted, so that equal states are equal text. */
function flipped(ids: string[], id: string): string[] {
  return ids.includes(id) ? ids.filter((other) => other !== id) : [...ids, id].sort();
}

/** The part of the state that decides what a container looks like, for every container it says something about. */
function stateKeys(index: GraphIndex, state: State): Map<string, string> {
  const parts = new Map<string, string[]>();
  const note = (id: string, entry: string) => {
    if (!index.nodes.has(id)) return;
    for (const container of [id, ...ancestors(index, id)]) append(parts, container, entry);
  };
  for (const id of state.expanded) note(id, `+${id}`);
  for (const id of state.unrolled) note(headOf(id), `*${id}`);
  for (const id of state.turned ?? []) note(id, `/${id}`);
  return new Map([...parts].map(([id, entries]) => [id, entries.sort().join("\n")]));
}

/** The frame of an item: the contents of the innermost module of its box, with the ports that its holder knows. */
function frameOf(context: Context, id: string, { chain, run }: ModuleBox): Frame {
  const inner = chain[chain.length - 1] ?? id;
  const key = `${context.state.direction}\n${context.keys.get(id) ?? ""}`;
  const known = context.memo.get(id);
  if (known?.key === key) return known.frame;
  const frame = makeFrame(
    context,
    id,
    surface(context.index, inner, context.unrolled),
    directionOf(context, [id, inner]),
  );
  if (run !== null) renamePorts(context.index, frame, run);
  context.memo.set(id, { key, frame });
  return frame;
}

/** What leaves the last of a run is drawn as leaving the first: that port has the name that is known outside. */
function renamePorts(index: GraphIndex, frame: Frame, run: Rolled): void {
  const holder = index.holder.get(headOf(run.id)) ?? ROOT;
  const outside = new Map<string, string>();
  for (const { from, to, fromPort, toPort } of rolledUp(index, holder).contents.links) {
    if (from === null) outside.set(toPort, fromPort);
    if (to === null) outside.set(fromPort, toPort);
  }
  const named = (ports: string[]) => ports.map((port) => outside.get(port) ?? port);
  frame.inputs = named(frame.inputs);
  frame.outputs = named(frame.outputs);
}

function directionOf({ state, turned }: Context, ids: string[]): Direction {
  if (!ids.some((id) => turned.has(id))) return state.direction;
  return state.direction === "TB" ? "LR" : "TB";
}

function makeFrame(context: Context, id: string, shown: Surface, direction: Direction): Frame {
  const items = shown.contents.children.map((child) => itemOf(context, child, shown, direction));
  const place = new Map(items.map((item, i) => [item.id, i]));
  const frame: Frame = {
    id,
    direction,
    items,
    wires: [],
    inputs: shown.contents.inputs,
    outputs: shown.contents.outputs,
  };
  frame.wires = wiresOf(context.index, shown.contents, frame, place);
  return frame;
}

function wiresOf(index: GraphIndex, contents: Contents, frame: Frame, place: Map<string, number>): Wire[] {
  const wires = new Map<string, Wire>();
  for (const link of contents.links) {
    const from = link.from === null ? BORDER : place.get(link.from);
    const to = link.to === null ? BORDER : place.get(link.to);
    if (from === undefined || to === undefined) continue;
    const fromPort = portOf(from === BORDER ? frame.inputs : frame.items[from]?.frame?.outputs, link.fromPort);
    const toPort = portOf(to === BORDER ? frame.outputs : frame.items[to]?.frame?.inputs, link.toPort);
    // a closed block that reads a tensor in two places reads it
    const ends = `${from} ${to} ${fromPort} ${toPort} ${link.fromPort}`;
    if (wires.has(ends)) continue;
    wires.set(ends, {
      ...{ from, to, fromPort, toPort },
      tensor: link.tensor,
      source: link.fromPort,
      flow: link.flow,
      label: tensorLabel(index, link.tensor),
    });
  }
  return [...wires.values()];
}

function portOf(ports: string[] | undefined, tensor: string): number {
  return ports === undefined ? -1 : ports.indexOf(tensor);
}

// -- items ------------------------------------------------------------------------------------------------------------

function itemOf(context: Context, id: string, shown: Surface, around: Direction): Item {
  const group = shown.groups.get(id);
  if (group !== undefined) return groupItem(context, id, group, around);
  const { index } = context;
  const node = index.nodes.get(id);
  if (node === undefined) throw new Error(`no node ${JSON.stringify(id)} in this graph`);
  const box = boxIn(context, id, shown);
  const inner = box.chain[box.chain.length - 1] ?? id;
  const expandable = node.kind === "module" && isExpandable(index, inner);
  const series = index.series.get(id);
  const run = box.run ?? shown.runs.get(id) ?? { id: "", times: 1, members: [] };
  const rolled = !context.unrolled.has(run.id);
  const marks = marksOf(index, node);
  const frame = expandable && context.expanded.has(id) ? frameOf(context, id, box) : null;
  const said = boxedWords(index, box.chain, rolled ? run.members : []);
  return {
    id,
    kind: node.kind,
    family: familyOf(index, index.nodes.get(inner) ?? node),
    name: said.name,
    // a closed box is where the reader meets the failure; an open one has it inside
    detail: frame === null && marks.includes("error") ? failureText(index) : unlessSaid(said.detail, shown),
    glyph: glyphOf(node, shown.contents),
    times: series?.length ?? (rolled ? run.times : 1),
    loop: rolled && run.times > 1 && said.detail.endsWith(SHARED),
    unrolled: rolled ? 1 : run.times,
    run: run.id,
    expandable,
    marks,
    frame,
  };
}

/** What begins a run shows that run's number, and no other one. */
function boxIn({ index, unrolled }: Context, id: string, shown: Surface): ModuleBox {
  return shown.runs.has(id) ? { chain: singleChain(index, id), run: null } : boxOf(index, id, unrolled);
}

/** That a step calls the same modules again is said by its panel. */
function unlessSaid(detail: string, shown: Surface): string {
  return "kind" in shown && shown.kind !== "repeat" ? detail.replace(SAME_WEIGHTS, "") : detail;
}

/** Several children in a panel that is always open. */
function groupItem(context: Context, id: string, group: Group, around: Direction): Item {
  const { kind, times, run } = group;
  const direction = kind === "steps" ? "LR" : kind === "step" ? "TB" : around;
  return {
    id,
    kind: "group",
    family: "other",
    name: groupName(context.index, group),
    detail: kind !== "repeat" && times > 1 && holdsWeights(context.index, group) ? SHARED : "",
    glyph: null,
    times: kind === "steps" ? 1 : times,
    loop: kind === "step" && times > 1,
    unrolled: kind === "steps" ? times : 1,
    run,
    expandable: false,
    marks: [],
    frame: makeFrame(context, id, group, direction),
  };
}

/** A module and, while each holds just one other module and nothing else, those inside it. */
export function singleChain(index: GraphIndex, id: string): string[] {
  const chain = [id];
  for (;;) {
    const { children } = contentsOf(index, chain[chain.length - 1] ?? id);
    const only = children.length === 1 ? index.nodes.get(children[0] ?? "") : undefined;
    if (only?.kind !== "module") return chain;
    chain.push(only.id);
  }
}

/** Modules that show as one box, outermost first. */
export interface ModuleBox {
  chain: string[];
  /** The run whose first member is among them and stands for all. */
  run: Rolled | null;
}

/** A module and what shows as one box with it: single modules inside each other and, rolled up, a run that is all there is. */
export function boxOf(index: GraphIndex, id: string, unrolled: ReadonlySet<string>): ModuleBox {
  const chain = singleChain(index, id);
  // one box can say one number
  const run = isMember(index, id) ? null : onlyRun(index, chain[chain.length - 1] ?? id);
  if (run === null || unrolled.has(run.id)) return { chain, run: null };
  return { chain: [...chain, ...singleChain(index, headOf(run.id))], run };
}

/** Opening what holds one op only would show the same thing again. */
export function isExpandable(index: GraphIndex, id: string): boolean {
  return contentsOf(index, id).children.length > 1;
}

/** A glyph needs two tensors to combine; with a number it is an op like any other. */
function glyphOf(node: GraphNode, contents: Contents): Glyph | null {
  if (node.kind !== "op") return null;
  const sign = glyph(node.name);
  if (sign === undefined) return null;
  const args = node.arguments ?? {};
  const scalar = ["other", "1", "0", "input"].some((key) => typeof args[key] === "number" && sign !== "cat");
  const tensors = contents.links.filter((link) => link.to === node.id).length;
  return scalar || tensors < 2 ? null : sign;
}

function marksOf(index: GraphIndex, node: GraphNode): string[] {
  const { error, unseen } = index.graph.status;
  const marks: string[] = [];
  const at = error?.node;
  if (at && (at === node.id || (node.kind === "module" && ancestors(index, at).includes(node.id)))) marks.push("error");
  if (
    "outputs" in node &&
    Array.isArray(node.outputs) &&
    unseen?.some((tensor) => index.producer.get(tensor) === node.id)
  ) {
    marks.push("unseen");
  }
  if (node.kind === "module" && (node.call ?? 1) > 1) marks.push("again");
  return marks;
}
