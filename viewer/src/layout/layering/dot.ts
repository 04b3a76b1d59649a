import type { Attributes, Edge, Graph, Node, RenderOptions, RenderResult } from "@viz-js/viz";
import type { Steps } from "../../shared/slices.js";
import { BORDER } from "../../view/frame.js";
import type { Ports } from "../coord/geometry.js";
import { type Order, singletons } from "../decross/order.js";
import type { Plan, PlanWire, Slot } from "../plan.js";

/**
 * Ranks, order and positions across the flow from dot: layered drawing after Sugiyama, Tagawa and Toda (1981), with
 * network simplex after Gansner, Koutsofios, North and Vo (1993). The only file that calls viz-js.
 */

/** dot in this thread, or in a worker, which answers later. */
export interface Viz {
  render(graph: Graph, options: RenderOptions): RenderResult | Promise<RenderResult>;
}

/** Result of dot or its replacement; `across` are centres, ranks count from 0. */
export interface Ranking {
  rank: number[];
  across: number[];
  inputs: number[];
  outputs: number[];
}

const POINTS_PER_INCH = 72;
/** Points per px: table cells have integer sizes, so finer units keep wires straight to a fifth of a px. */
const FINE = 5;
/** Largest width of a table cell in points. */
const MAX_CELL = 65000;
/** Height of every node for dot; routing sets the actual heights of rows. */
const FLAT = 0.05;
const NODE_GAP = 24;
/** How far a label may extend into the gap: dot only supports symmetric nodes. */
const TEXT_IN_GAP = 12;
const TRUNK_WEIGHT = 30;
const SPINE_WEIGHT = 6;
/** Limit on dot's network simplex iterations, as a factor on the number of nodes. */
const EFFORT = 4;

/** Rank and position the items of a plan. Throws if dot fails. */
export function* rankByDot(plan: Plan, viz: Viz): Steps<Ranking> {
  const fine = fineness(plan);
  const asked = viz.render(dotGraph(plan, fine), { format: "json0", engine: "dot" });
  const result = asked instanceof Promise ? ((yield asked) as RenderResult) : asked;
  if (result.status !== "success") throw new Error(result.errors.map((error) => error.message).join("; "));
  return readAnswer(plan, JSON.parse(result.output), fine);
}

/** Points per px. */
function fineness(plan: Plan): number {
  const widest = Math.max(1, ...plan.slots.map((slot) => slot.low + slot.high));
  return Math.min(FINE, MAX_CELL / widest);
}

function dotGraph(plan: Plan, fine: number): Graph {
  const { order } = plan;
  const branches =
    order?.isStrict && !order.isSource
      ? []
      : forks(plan).filter(({ source }) => !plan.isNarrow || !source.startsWith("i"));
  const used = usedPorts(plan);
  const ordered = new Set(branches.filter(({ items }) => items.length >= LEAST_ORDERED).map(({ source }) => source));
  if (order?.isSource) {
    for (const { source } of forks(plan)) ordered.add(source);
    for (const { wire } of plan.streams) ordered.add(`n${plan.wires[wire]?.from}`);
  }
  return {
    directed: true,
    graphAttributes: {
      splines: false,
      nodesep: (NODE_GAP * fine) / POINTS_PER_INCH,
      ranksep: 0.1,
      nslimit: EFFORT,
      nslimit1: EFFORT,
    },
    nodeAttributes: { shape: "box", fixedsize: true, label: "", height: FLAT },
    edgeAttributes: STRAIGHT_ON,
    nodes: inPreference(
      plan.slots.map((slot, i) => ({
        name: `n${i}`,
        attributes: { ...slotAttributes(slot, used[i], fine), ...(ordered.has(`n${i}`) ? IN_ORDER : {}) },
      })),
      order?.places ?? [],
    ),
    edges: [
      ...inPreference(plan.wires, preferredPlaces(plan)).flatMap((wire): Edge[] => {
        if (wire.rail) return [];
        const edge = { tail: tailOf(wire.from, wire.fromPort), head: headOf(wire.to, wire.toPort) };
        return [{ ...edge, attributes: wireAttributes(plan, wire) }];
      }),
      ...(order?.isStrict ? inOrder(order) : []),
      ...plan.apart.map(([above, below]) => ({ tail: `n${above}`, head: `n${below}`, attributes: APART })),
    ],
    subgraphs: [
      portRow("source", "i", plan.inputs, ordered, order?.inputs.flat() ?? []),
      portRow("sink", "o", plan.outputs, ordered, order?.outputs.flat() ?? []),
      ...[...branches.map(({ items }) => items), ...(order?.isStrict ? order.rows : [])]
        .filter((items) => items.length > 1)
        .map((items) => ({
          graphAttributes: { rank: "same" },
          nodes: items.map((item) => ({ name: `n${item}` })),
        })),
    ],
  };
}

/** Edges that keep nodes of one rank in order. */
function inOrder(order: Order): Edge[] {
  const rows: [string, number[][]][] = [
    ["i", order.inputs],
    ["o", order.outputs],
  ];
  for (const row of order.rows) rows.push(["n", singletons(row)]);
  return rows.flatMap(([letter, groups]) =>
    groups
      .slice(1)
      .flatMap((right, i) =>
        (groups[i] ?? []).flatMap((tail) =>
          right.map((head) => ({ tail: letter + tail, head: letter + head, attributes: BESIDE_EACH_OTHER })),
        ),
      ),
  );
}

/** Default attributes: from the middle of one side to the middle of another. */
const STRAIGHT_ON: Attributes = { tailport: "s", headport: "n", weight: 1 };
const BESIDE_EACH_OTHER: Attributes = { style: "invis", tailport: "", headport: "" };
const APART: Attributes = { ...BESIDE_EACH_OTHER, weight: 0 };

/** Keeps the order of the wires that leave a node. */
const IN_ORDER: Attributes = { ordering: "out" };
/** Fewest branches that keep their order, such as query, key and value, and most that are aligned. */
const [LEAST_ORDERED, MAX_BRANCHES] = [3, 12];

/** Groups of items that read only one common tensor: they share a rank, and three or more keep their order. */
function forks(plan: Plan): { source: string; items: number[] }[] {
  const incoming = plan.slots.map(() => 0);
  for (const wire of plan.wires) if (wire.to !== BORDER) incoming[wire.to] = (incoming[wire.to] ?? 0) + 1;
  const readers = new Map<number, { source: string; items: number[] }>();
  for (const wire of plan.wires) {
    if (wire.rail || incoming[wire.to] !== 1) continue;
    const known = readers.get(wire.net) ?? { source: tailOf(wire.from, wire.fromPort), items: [] };
    known.items.push(wire.to);
    readers.set(wire.net, known);
  }
  return [...readers.values()].filter(({ items }) => items.length > 1 && items.length <= MAX_BRANCHES);
}

function portRow(
  rank: "source" | "sink",
  letter: string,
  count: number,
  ordered: ReadonlySet<string>,
  order: number[],
): { graphAttributes: Attributes; nodes: Node[] } {
  const nodes = Array.from({ length: count }, (_, i) => ({
    name: `${letter}${i}`,
    attributes: { shape: "point", width: 0.02, height: 0.02, ...(ordered.has(`${letter}${i}`) ? IN_ORDER : {}) },
  }));
  return {
    graphAttributes: { rank },
    nodes: inPreference(
      nodes,
      nodes.map((_, i) => order.indexOf(i)),
    ),
  };
}

/** dot begins with the order in which nodes and wires are listed, and keeps it unless another is better. */
function inPreference<T>(all: T[], places: number[]): T[] {
  return all
    .map((one, i) => ({ one, at: places[i] ?? 0 }))
    .sort((a, b) => a.at - b.at)
    .map(({ one }) => one);
}

/** Wire → the place of its head; modules that derive a new stream are on the far right. */
function preferredPlaces({ order, wires, streams }: Plan): number[] {
  const inputs = order?.inputs.flat() ?? [];
  const last = new Set(order?.isSource ? streams.map(({ beside }) => beside) : []);
  return wires.map(({ from, fromPort, to }) =>
    last.has(to) ? wires.length : (order?.places[to] ?? inputs.indexOf(from === BORDER ? fromPort : -1)),
  );
}

function tailOf(from: number, port: number): string {
  return from === BORDER ? `i${port}` : `n${from}`;
}

function headOf(to: number, port: number): string {
  return to === BORDER ? `o${port}` : `n${to}`;
}

function wireAttributes(plan: Plan, wire: PlanWire): Attributes {
  const { from, fromPort, to, toPort, trunk } = wire;
  const weight = plan.isNarrow && !trunk ? weightNearUse(plan, wire) : weightOf(wire);
  return {
    ...(plan.slots[from]?.ports && fromPort >= 0 ? { tailport: `o${fromPort}:s` } : {}),
    ...(plan.slots[to]?.ports && toPort >= 0 ? { headport: `i${toPort}:n` } : {}),
    ...(weight === 1 ? {} : { weight }),
  };
}

function weightOf({ trunk, spine }: PlanWire): number {
  return trunk ? TRUNK_WEIGHT : spine ? SPINE_WEIGHT : 1;
}

/** Items that read only inputs go near their use, where the row is narrower. */
function weightNearUse({ slots }: Plan, wire: PlanWire): number {
  return wire.from === BORDER || slots[wire.from]?.terminal ? 1 : Math.max(2, weightOf(wire));
}

function slotAttributes(slot: Slot, used: UsedPorts | undefined, fine: number): Attributes {
  const across = Math.max(slot.across, 2 * (Math.max(slot.low, slot.high) - TEXT_IN_GAP));
  const { ports } = slot;
  if (ports === null || ports.inputs.length + ports.outputs.length === 0) {
    return { width: (across * fine) / POINTS_PER_INCH };
  }
  return { shape: "plain", fixedsize: false, label: { html: portTable(slot.across, ports, used, fine) } };
}

// -- dot's answer -----------------------------------------------------------------------------------------------------

interface Answer {
  objects?: { name: string; pos?: string }[];
}

function readAnswer(plan: Plan, answer: Answer, fine: number): Ranking {
  const along: number[] = [];
  const ranking: Ranking = { rank: [], across: [], inputs: [], outputs: [] };
  for (const { name, pos } of answer.objects ?? []) {
    if (pos === undefined) continue;
    const place = Number(name.slice(1));
    const [x = 0, y = 0] = pos.split(",").map(Number);
    if (name.startsWith("n")) {
      ranking.across[place] = Math.round(x / fine);
      along[place] = y;
    } else {
      const ports = name.startsWith("i") ? ranking.inputs : ranking.outputs;
      ports[place] = Math.round(x / fine);
    }
  }
  if (along.length !== plan.slots.length) throw new Error("dot left out an item");
  ranking.rank = ranksOf(along);
  gatherPorts(plan, ranking);
  return ranking;
}

/** Distance between input ports that lead to one item; equals that of exits. */
const PORT_STEP = 16;

/** Move neighbouring input ports with a common target together, away from the trunk. */
function gatherPorts(plan: Plan, ranking: Ranking): void {
  const target = (port: number) => {
    const [first, ...more] = plan.wires.filter((wire) => wire.from === BORDER && wire.fromPort === port);
    const isFree = first !== undefined && more.length === 0 && !first.trunk && plan.slots[first.to]?.ports === null;
    return isFree ? first.to : undefined;
  };
  const trunk = ranking.inputs[plan.wires.find((wire) => wire.trunk && wire.from === BORDER)?.fromPort ?? -1];
  if (trunk === undefined) return;
  const outwards = ranking.inputs
    .map((at, port) => ({ at, port, to: target(port) }))
    .sort((a, b) => Math.abs(b.at - trunk) - Math.abs(a.at - trunk));
  outwards.forEach(({ at, port, to }, i) => {
    const side = Math.sign(at - trunk);
    const outer = outwards
      .slice(0, i)
      .reverse()
      .find((other) => Math.sign(other.at - trunk) === side);
    if (to === undefined || outer?.to !== to) return;
    const moved = (ranking.inputs[outer.port] ?? 0) - side * PORT_STEP;
    if ((at - moved) * side < 0) ranking.inputs[port] = moved;
  });
}

/** Ranks by y, which increases upwards in dot. */
function ranksOf(along: number[]): number[] {
  const levels = [...new Set(along)].sort((a, b) => b - a);
  const ranks = new Map(levels.map((level, i) => [level, i]));
  return along.map((level) => ranks.get(level) ?? 0);
}

// -- ports of open items -----------------------------------------------------------------------------------------------

/** The ports of open items as dot knows them: cells of a table. */

/** Ports that dot knows. Ports of rails, which it doesn't lay out, would only cost time. */
interface UsedPorts {
  inputs: ReadonlySet<number>;
  outputs: ReadonlySet<number>;
}

/** Item → its ports with wires for dot. */
function usedPorts({ slots, wires }: Plan): UsedPorts[] {
  const used = slots.map(() => ({ inputs: new Set<number>(), outputs: new Set<number>() }));
  for (const { from, to, fromPort, toPort, rail } of wires) {
    if (rail) continue;
    used[from]?.outputs.add(fromPort);
    used[to]?.inputs.add(toPort);
  }
  return used;
}

const TABLE = '<TABLE BORDER="0" CELLBORDER="0" CELLSPACING="0" CELLPADDING="0">';

/** The HTML of a table of the item's width with a cell per port: inputs in the first row, outputs in the last. */
function portTable(across: number, ports: Ports, used: UsedPorts | undefined, fine: number): string {
  const width = Math.round(across * fine);
  const places = (offsets: number[], kept: ReadonlySet<number> | undefined) =>
    offsets.map((offset, i) => ({ at: Math.round(offset * fine), i })).filter(({ i }) => kept?.has(i));
  const rows = [
    row(places(ports.inputs, used?.inputs), "i", width),
    cell(width, ""),
    row(places(ports.outputs, used?.outputs), "o", width),
  ];
  return `${TABLE}${rows.map((cells) => (cells === "" ? "" : `<TR>${cells}</TR>`)).join("")}</TABLE>`;
}

/** A row with its own columns; empty without ports. */
function row(ports: { at: number; i: number }[], letter: string, width: number): string {
  if (ports.length === 0) return "";
  let end = 0;
  let cells = "";
  for (const { at, i } of ports.sort((a, b) => a.at - b.at)) {
    const start = Math.max(end, at - 1);
    if (start > end) cells += cell(start - end, "");
    cells += cell(2, ` PORT="${letter}${i}"`);
    end = start + 2;
  }
  if (end < width) cells += cell(width - end, "");
  return `<TD>${TABLE}<TR>${cells}</TR></TABLE></TD>`;
}

function cell(width: number, port: string): string {
  return `<TD FIXEDSIZE="TRUE" WIDTH="${width}" HEIGHT="2"${port}></TD>`;
}
