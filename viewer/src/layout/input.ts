import { memoByObject, memoInObject } from "../shared/memo.js";
import { BORDER, type Frame, type Item, type Wire } from "../view/frame.js";
import { SHAPES, type Shape } from "../view/state.js";
import type { Ports } from "./coord/geometry.js";
import { BEHIND_PANEL, boxSize, ceilTo, GLYPH, GRID, isTerminal } from "./coord/metrics.js";
import type { Order } from "./decross/order.js";
import { besideOthers } from "./layering/tables.js";
import { markRails, markTrunk, slotWeight } from "./layering/trunk.js";
import { openLoops, returnsOf } from "./loops.js";
import {
  type Exit,
  hasTwoLabels,
  LABEL_GAP,
  LABEL_HEIGHT,
  labelWidth,
  laneRoom,
  MOST_AROUND_TRUNK,
  type Plan,
  type PlanWire,
  type Slot,
} from "./plan.js";
import { isDense } from "./structures/dense.js";
import { openFans } from "./structures/fans.js";
import { openStreams, placesOf, streamsOf } from "./structures/streams.js";

/** Reduces a frame to a plan, the input of ranking and routing. */

const EXIT_STEP = 16;
const EDGE_MARGIN = 16;
/** Smallest distance between wires that arrive at one item. */
const ARRIVAL_ROOM = 7;
const ARC_ROOM = 8;
/** With more arcs into an item, the trunk is not in its middle. */
const MOST_ARCS = 12;

/** Most wires into a circular glyph; with more, it is a pill. */
const MAX_INTO_CIRCLE = 3;

/** Size and ports of the layout of an expanded item. */
export interface Inner {
  width: number;
  height: number;
  ports: Ports;
}

/** @param inner the layouts of the expanded items @param order to keep */
export function plan(
  frame: Frame,
  inner: readonly (Inner | null)[],
  order: Order | null = null,
  isNarrow = false,
  shapes: readonly Shape[] = SHAPES,
): Plan {
  const vertical = frame.direction === "TB";
  const has = (shape: Shape) => vertical && shapes.includes(shape);
  const dense = has("dense") && isDense(frame.wires);
  const { nets, closed } = factsOf(frame, dense);
  const slots = frame.items.map((item, i) => {
    const inside = inner[i] ?? null;
    return inside === null ? closed(i) : innerSlot(inside, vertical, item.times > 1 ? BEHIND_PANEL : 0);
  });
  const result: Plan = {
    vertical,
    slots,
    wires: wiresOf(frame, nets),
    order,
    returns: [],
    isNarrow: isNarrow && vertical,
    places: has("streams") ? placesOf(frame) : [],
    inputs: frame.inputs.length,
    outputs: frame.outputs.length,
    streams: has("streams") ? streamsOf(frame) : [],
    dense,
    apart: isNarrow && vertical ? besideOthers(frame) : [],
  };
  markTrunk(
    result,
    slots.map((slot, i) => slotWeight(closedIfOpen(slot, frame.items[i], vertical))),
  );
  markRails(result);
  openStreams(result);
  if (shapes.includes("fans")) openFans(result);
  openLoops(result, frame, nets);
  return result;
}

/** The wires of a frame without its returns. */
function wiresOf({ wires }: Frame, nets: readonly number[]): PlanWire[] {
  // returns come last
  const onwards = wires.filter(({ flow }) => flow !== "return");
  return onwards.map(({ from, to, fromPort, toPort }, i) => ({
    from,
    to,
    fromPort,
    toPort,
    net: nets[i] ?? 0,
    trunk: false,
    spine: false,
    rail: false,
  }));
}

/**
 * What determines the weight of an item: its size as if closed. Otherwise a module opened beside the trunk would become the
 * trunk and move everything. Groups are always open.
 */
function closedIfOpen(slot: Slot, item: Item | undefined, vertical: boolean): Pick<Slot, "round" | "along" | "ports"> {
  if (slot.ports === null || item === undefined || item.kind === "group") return slot;
  const size = closedSize(item);
  return { round: false, along: vertical ? size.height : size.width, ports: null };
}

/** Items are planned several times. */
const closedSize = memoByObject(boxSize);

/** What all plans of a frame share. */
interface Facts {
  nets: number[];
  /** Item → its slot while it is closed. */
  closed: (item: number) => Slot;
}

const factsOf = memoInObject((frame: Frame, dense: boolean): Facts => {
  const { items, wires } = frame;
  const vertical = frame.direction === "TB";
  const nets = numberNets(wires);
  const exits = exitsOf(frame, nets);
  const arrivals = items.map(() => 0);
  for (const { to } of wires) if (to !== BORDER) arrivals[to] = (arrivals[to] ?? 0) + 1;
  const returns = returnsOf(frame, nets).filter(({ isAround }) => isAround);
  const slots: Slot[] = [];
  const slotOf = (item: Item, i: number) =>
    withLanes(
      boxSlot(item, vertical, exits[i] ?? [], arrivals[i] ?? 0, dense),
      vertical,
      returns.filter(({ to }) => to === i),
    );
  const closed = (i: number) => {
    const item = items[i];
    if (item === undefined) throw new Error("expected an item");
    const slot = slots[i] ?? slotOf(item, i);
    slots[i] = slot;
    return slot;
  };
  return { nets, closed };
});

/** Wire → the number of its tensor. */
export function numberNets(wires: Wire[]): number[] {
  const numbers = new Map<string, number>();
  return wires.map((wire) => {
    const key = `${wire.from} ${wire.source}`;
    const known = numbers.get(key) ?? numbers.size;
    numbers.set(key, known);
    return known;
  });
}

/** Item → the distinct tensors that leave it; a common label is shown once, at the last one. */
function exitsOf(frame: Frame, nets: number[]): Exit[][] {
  const labels = frame.items.map(() => new Map<number, string>());
  const onwards = new Set<number>();
  frame.wires.forEach(({ from, flow, label }, i) => {
    const net = nets[i] ?? 0;
    const known = labels[from];
    known?.set(net, flow === "shape" || flow === "return" ? (known.get(net) ?? "") : label);
    if (flow !== "return") onwards.add(net);
  });
  return labels.map((own) => {
    const same = new Set(own.values()).size === 1;
    return [...own].map(([net, label], i) => ({
      net,
      label: same && i < own.size - 1 ? "" : label,
      returns: !onwards.has(net),
    }));
  });
}

/** @param behind the space for the cards of a folded panel, on the right and below */
function innerSlot({ width, height, ports }: Inner, vertical: boolean, behind: number): Slot {
  const across = vertical ? width : height;
  const along = vertical ? height : width;
  return {
    ...{ across, along, low: across / 2, high: across / 2 + behind, ports },
    ...{ round: false, terminal: false, exits: [], exitStep: 0, labelDepth: behind, lanes: 0 },
  };
}

/** A box with space beside it for wires back to itself. */
function withLanes(slot: Slot, vertical: boolean, wires: Wire[]): Slot {
  const rooms = wires.map(({ label }) => laneRoom(vertical, label));
  const lanes = rooms.reduce((sum, { before, after }) => sum + before + after, 0);
  const longest = vertical ? 0 : Math.max(0, ...wires.map(({ label }) => LABEL_GAP + labelWidth(label) - slot.along));
  return { ...slot, lanes, high: slot.high + lanes, labelDepth: Math.max(slot.labelDepth, longest) };
}

function boxSlot(item: Item, vertical: boolean, exits: Exit[], arrivals: number, dense: boolean): Slot {
  const box = closedSize(item);
  const room = vertical ? roomBelow(exits) : roomBehind(exits);
  const round = item.glyph !== null && arrivals <= MAX_INTO_CIRCLE;
  const across = Math.max(
    vertical ? box.width : box.height,
    roomFor(exits.length, room.exitStep),
    // arcs arrive on one side of the trunk
    dense && arrivals <= MOST_ARCS ? roomFor(2 * arrivals - 1, ARC_ROOM) : roomFor(arrivals, ARRIVAL_ROOM),
  );
  return {
    across: round ? GLYPH : across,
    along: vertical ? box.height : box.width,
    low: Math.max(across / 2, room.low),
    high: Math.max(across / 2, room.high),
    round,
    terminal: isTerminal(item),
    ports: null,
    exits,
    exitStep: room.exitStep,
    labelDepth: room.labelDepth,
    lanes: 0,
  };
}

/** Space for labels around the centre of an item. */
type LabelRoom = Pick<Slot, "exitStep" | "low" | "high" | "labelDepth">;

/** Top to bottom: labels are below the item, to the right of their wires. */
function roomBelow(exits: Exit[]): LabelRoom {
  const widest = widestLabel(exits);
  const labelled = exits.filter((exit) => exit.label !== "").length;
  // two labels, or a common one, may be on either side
  const bothSides = exits.length > 1 && (labelled === 1 || hasTwoLabels(exits));
  const several = labelled > 1 && !bothSides;
  const exitStep = several ? Math.max(EXIT_STEP, widest + LABEL_GAP + GRID) : EXIT_STEP;
  const reach = spreadOf(exits, exitStep) / 2 + (widest > 0 ? LABEL_GAP + widest : 0);
  return { exitStep, low: bothSides ? reach : 0, high: reach, labelDepth: widest > 0 ? LABEL_HEIGHT : 0 };
}

/** Left to right: labels are after the item, above their wires. */
function roomBehind(exits: Exit[]): LabelRoom {
  const widest = widestLabel(exits);
  if (widest === 0) return { exitStep: EXIT_STEP, low: 0, high: 0, labelDepth: 0 };
  const low = spreadOf(exits, EXIT_STEP) / 2 + LABEL_HEIGHT + LABEL_GAP;
  return { exitStep: EXIT_STEP, low, high: 0, labelDepth: ceilTo(widest + LABEL_GAP, GRID) };
}

function widestLabel(exits: Exit[]): number {
  return Math.max(0, ...exits.map((exit) => labelWidth(exit.label)));
}

/** Extent of the exits; if there are few, the trunk keeps the middle and all others may be on one side. */
function spreadOf(exits: Exit[], step: number): number {
  return Math.max(0, exits.length - 1) * step * (exits.length <= MOST_AROUND_TRUNK ? 2 : 1);
}

/** Length of an item's side with a number of wires. */
function roomFor(wires: number, step: number): number {
  return wires < 2 ? 0 : ceilTo((wires - 1) * step + EDGE_MARGIN, 2 * GRID);
}
