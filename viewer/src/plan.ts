/** A frame reduced to what placing needs: sizes, ports and wires, in flow coordinates (u across, v along the flow). */
import { BEHIND_PANEL, boxSize, ceilTo, GLYPH, GRID, LABEL_SIZE } from "./box.js";
import { textWidth } from "./text.js";
import { BORDER, type Frame, type Item, type Wire } from "./view.js";

/** Offsets of a laid-out frame's ports from its left (or, running left to right, upper) edge. */
export interface Ports {
  inputs: number[];
  outputs: number[];
}

/** A tensor that leaves an unexpanded item. */
export interface Exit {
  net: number;
  /** Empty where the same text already stands at another exit of this item. */
  label: string;
}

export interface Slot {
  across: number;
  along: number;
  /** Room taken on both sides of the centre, label included. */
  low: number;
  high: number;
  round: boolean;
  /** Set for expanded items: wires attach at these places and no others. */
  ports: Ports | null;
  exits: Exit[];
  /** Distance between neighbouring exits. */
  exitStep: number;
  /** Room for labels behind the item, along the flow. */
  labelDepth: number;
}

export interface PlanWire {
  from: number;
  to: number;
  fromPort: number;
  toPort: number;
  /** Wires with the same number carry the same tensor from the same place. */
  net: number;
  /** On the heaviest path: to be drawn straight. */
  trunk: boolean;
  /** What its source mainly leads to and its target mainly comes from: a link of a branch's own trunk. */
  spine: boolean;
  /** Skips over something that leads to the same place: kept out of ranking, drawn beside. */
  rail: boolean;
}

export interface Plan {
  /** Across is horizontal: the flow runs top to bottom. */
  vertical: boolean;
  slots: Slot[];
  wires: PlanWire[];
  inputs: number;
  outputs: number;
}

/** Distance of a label from its wire. */
export const LABEL_GAP = 5;
export const LABEL_HEIGHT = 12;
const EXIT_STEP = 16;
const EDGE_MARGIN = 16;
/** Up to so many wires at one side of an item, the trunk's stands in the middle. */
export const MOST_AROUND_TRUNK = 3;
/** Least distance between wires that arrive at one item. */
const ARRIVAL_ROOM = 7;

/** As many wires a glyph's circle can take and stay readable; for more it is a pill. */
const MOST_FOR_CIRCLE = 3;

/** Size of a frame already laid out, for an expanded item. */
export interface Inner {
  width: number;
  height: number;
  ports: Ports;
}

/** Reduce a frame; `inner` gives the layouts of its expanded items. */
export function plan(frame: Frame, inner: readonly (Inner | null)[]): Plan {
  const vertical = frame.direction === "TB";
  const nets = numberNets(frame.wires);
  const exits = exitsOf(frame, nets);
  const arrivals = frame.items.map(() => 0);
  for (const { to } of frame.wires) if (to !== BORDER) arrivals[to] = (arrivals[to] ?? 0) + 1;
  const slots = frame.items.map((item, i) => {
    const inside = inner[i] ?? null;
    if (inside !== null) return innerSlot(inside, vertical, item.times > 1 ? BEHIND_PANEL : 0);
    return boxSlot(item, vertical, exits[i] ?? [], arrivals[i] ?? 0);
  });
  const wires = frame.wires.map(
    ({ from, to, fromPort, toPort }, i): PlanWire => ({
      from,
      to,
      fromPort,
      toPort,
      net: nets[i] ?? 0,
      trunk: false,
      spine: false,
      rail: false,
    }),
  );
  const result: Plan = { vertical, slots, wires, inputs: frame.inputs.length, outputs: frame.outputs.length };
  markTrunk(result);
  markRails(result);
  return result;
}

/** Everything that decides positions, as text: equal plans are laid out once. */
export function planKey(plan: Plan): string {
  const slots = plan.slots.map((slot) =>
    [slot.across, slot.along, slot.low, slot.high, slot.round ? 1 : 0, slot.labelDepth, slot.exitStep]
      .concat(slot.ports === null ? [] : [-1, ...slot.ports.inputs, -2, ...slot.ports.outputs])
      // of a label its width, too: it decides where the exits beside it stand
      .concat(slot.exits.flatMap((exit) => [exit.net, exit.label === "" ? -1 : labelWidth(exit.label)]))
      .join(),
  );
  const wires = plan.wires.map((wire) => [wire.from, wire.fromPort, wire.to, wire.toPort, wire.net].join());
  return [plan.vertical ? "TB" : "LR", plan.inputs, plan.outputs, slots.join(";"), wires.join(";")].join("|");
}

function numberNets(wires: Wire[]): number[] {
  const numbers = new Map<string, number>();
  return wires.map((wire) => {
    const key = `${wire.from} ${wire.source}`;
    const known = numbers.get(key) ?? numbers.size;
    numbers.set(key, known);
    return known;
  });
}

/** Item → the distinct tensors that leave it; a text that several share is written once, at the last. */
function exitsOf(frame: Frame, nets: number[]): Exit[][] {
  const labels = frame.items.map(() => new Map<number, string>());
  frame.wires.forEach(({ from, flow, label }, i) => {
    const net = nets[i] ?? 0;
    const known = labels[from];
    known?.set(net, flow === "shape" ? (known.get(net) ?? "") : label);
  });
  return labels.map((own) => {
    const same = new Set(own.values()).size === 1;
    return [...own].map(([net, label], i) => ({ net, label: same && i < own.size - 1 ? "" : label }));
  });
}

/** `behind` is what the cards of a rolled panel take at its right and below it. */
function innerSlot({ width, height, ports }: Inner, vertical: boolean, behind: number): Slot {
  const across = vertical ? width : height;
  const along = vertical ? height : width;
  return {
    ...{ across, along, low: across / 2, high: across / 2 + behind, ports },
    ...{ round: false, exits: [], exitStep: 0, labelDepth: behind },
  };
}

function boxSlot(item: Item, vertical: boolean, exits: Exit[], arrivals: number): Slot {
  const box = boxSize(item);
  const room = vertical ? roomBelow(exits) : roomBehind(exits);
  const round = item.glyph !== null && arrivals <= MOST_FOR_CIRCLE;
  const across = Math.max(
    vertical ? box.width : box.height,
    roomFor(exits.length, room.exitStep),
    roomFor(arrivals, ARRIVAL_ROOM),
  );
  return {
    across: round ? GLYPH : across,
    along: vertical ? box.height : box.width,
    low: Math.max(across / 2, room.low),
    high: Math.max(across / 2, room.high),
    round,
    ports: null,
    exits,
    exitStep: room.exitStep,
    labelDepth: room.labelDepth,
  };
}

/** What labels need around the centre of an item. */
type LabelRoom = Pick<Slot, "exitStep" | "low" | "high" | "labelDepth">;

/** Running down, labels stand below the item, right of their wires. */
function roomBelow(exits: Exit[]): LabelRoom {
  const widest = widestLabel(exits);
  const labelled = exits.filter((exit) => exit.label !== "").length;
  // two labels, or one for all, may stand at either side
  const bothSides = exits.length > 1 && (labelled === 1 || hasTwoLabels(exits));
  const several = labelled > 1 && !bothSides;
  const exitStep = several ? Math.max(EXIT_STEP, widest + LABEL_GAP + GRID) : EXIT_STEP;
  const reach = spreadOf(exits, exitStep) / 2 + (widest > 0 ? LABEL_GAP + widest : 0);
  return { exitStep, low: bothSides ? reach : 0, high: reach, labelDepth: widest > 0 ? LABEL_HEIGHT : 0 };
}

/** Running to the right, labels stand behind the item, above their wires. */
function roomBehind(exits: Exit[]): LabelRoom {
  const widest = widestLabel(exits);
  if (widest === 0) return { exitStep: EXIT_STEP, low: 0, high: 0, labelDepth: 0 };
  const low = spreadOf(exits, EXIT_STEP) / 2 + LABEL_HEIGHT + LABEL_GAP;
  return { exitStep: EXIT_STEP, low, high: 0, labelDepth: ceilTo(widest + LABEL_GAP, GRID) };
}

function widestLabel(exits: Exit[]): number {
  return Math.max(0, ...exits.map((exit) => labelWidth(exit.label)));
}

/** With few exits the trunk's keeps the middle, and all others may be on one side. */
function spreadOf(exits: Exit[], step: number): number {
  return Math.max(0, exits.length - 1) * step * (exits.length <= MOST_AROUND_TRUNK ? 2 : 1);
}

/** Of two labelled wires that leave an item, the left one has its label at the left. */
export function hasTwoLabels(exits: Exit[]): boolean {
  return exits.length === 2 && exits.every((exit) => exit.label !== "");
}

/** Length of an edge that takes so many wires. */
function roomFor(wires: number, step: number): number {
  return wires < 2 ? 0 : ceilTo((wires - 1) * step + EDGE_MARGIN, 2 * GRID);
}

/** Width of a tensor's label. */
export function labelWidth(label: string): number {
  return label === "" ? 0 : Math.ceil(textWidth(label, LABEL_SIZE));
}

// -- what the wires are -----------------------------------------------------------------------------------------------

/** The path with most on it, from where the frame begins to where it ends. Items are in execution order. */
function markTrunk(plan: Plan): void {
  const incoming = incomingWires(plan);
  const best: number[] = [];
  const via: number[] = [];
  plan.slots.forEach((slot, i) => {
    const wires = (incoming[i] ?? []).map((wire) => ({ wire, value: headValue(plan, best, wire) }));
    const weight = Math.max(0, ...wires.map(({ value }) => value));
    const tied = wires
      .filter(({ value }) => value === weight)
      .sort((a, b) => sourceOf(plan, a.wire) - sourceOf(plan, b.wire));
    // of equal branches the middle one: query, key and value stand around the trunk
    via.push(tied[(tied.length - 1) >> 1]?.wire ?? -1);
    best.push(weight + slotWeight(slot));
  });
  markSpines(plan, via);
  let at = trunkEnd(plan, best);
  while (at >= 0) {
    const wire = plan.wires[at];
    if (wire === undefined) return;
    wire.trunk = true;
    at = wire.from === BORDER ? -1 : (via[wire.from] ?? -1);
  }
}

/** `via` is the heaviest wire into each item; of those that leave an item, the one with most ahead. */
function markSpines(plan: Plan, via: number[]): void {
  const ahead = plan.slots.map(slotWeight);
  const onwards = new Map<number, number>();
  const reach = ({ to }: PlanWire) => (to === BORDER ? 0 : (ahead[to] ?? 0));
  const outgoing = outgoingWires(plan);
  for (let item = plan.slots.length - 1; item >= 0; item -= 1) {
    const wires = (outgoing[item] ?? []).flatMap((wire) => plan.wires[wire] ?? []);
    ahead[item] = (ahead[item] ?? 0) + Math.max(0, ...wires.map(reach));
  }
  plan.wires.forEach((wire, i) => {
    if (wire.to !== BORDER && via[wire.to] !== i) return;
    const source = wire.from === BORDER ? -1 - wire.fromPort : wire.from;
    const known = plan.wires[onwards.get(source) ?? -1];
    if (known === undefined || reach(wire) > reach(known)) onwards.set(source, i);
  });
  for (const i of onwards.values()) {
    const wire = plan.wires[i];
    if (wire !== undefined) wire.spine = true;
  }
}

function sourceOf(plan: Plan, wire: number): number {
  return plan.wires[wire]?.from ?? BORDER;
}

/** More than any path inside: a trunk begins where the frame does, not at a table that is added on the way. */
const FROM_OUTSIDE = 1e6;
const FIRST_USED = 0.125;

/** What lies before a wire. */
function headValue(plan: Plan, best: number[], wire: number): number {
  const from = sourceOf(plan, wire);
  if (from !== BORDER) return best[from] ?? 0;
  // of otherwise equal ways the one of what is used first: the decoder's own states, not the encoder's
  return FROM_OUTSIDE - FIRST_USED * (plan.wires[wire]?.fromPort ?? 0);
}

/** The wire the trunk ends with: the heaviest that leaves the frame, or else the last into the heaviest item. */
function trunkEnd(plan: Plan, best: number[]): number {
  let end = -1;
  let weight = -1;
  const leaving = plan.wires.some((wire) => wire.to === BORDER);
  plan.wires.forEach((wire, i) => {
    if (leaving && wire.to !== BORDER) return;
    const value = wire.to === BORDER ? (best[wire.from] ?? 0) : (best[wire.to] ?? 0) + (best[wire.from] ?? 0) / 1e9;
    if (value > weight) {
      weight = value;
      end = i;
    }
  });
  return end;
}

/** A number per slot that makes the trunk run through the blocks: what is tall or wide holds much. */
function slotWeight(slot: Slot): number {
  return 16 + (slot.round ? 0 : slot.along) + (slot.ports === null ? 0 : slot.along);
}

function incomingWires(plan: Plan): number[][] {
  const incoming: number[][] = plan.slots.map(() => []);
  plan.wires.forEach((wire, i) => {
    if (wire.to !== BORDER) incoming[wire.to]?.push(i);
  });
  return incoming;
}

function outgoingWires(plan: Plan): number[][] {
  const outgoing: number[][] = plan.slots.map(() => []);
  plan.wires.forEach((wire, i) => {
    if (wire.from !== BORDER) outgoing[wire.from]?.push(i);
  });
  return outgoing;
}

/**
 * Wires that something longer implies. dot may never finish placing two tensors fanned out to eighty layers, and a
 * residual reads best beside what it skips: these are drawn by the router alone.
 */
function markRails(plan: Plan): void {
  const { vertices, successors } = vertexGraph(plan);
  const words = Math.ceil(vertices / 32);
  const reach = new Uint32Array(vertices * words);
  for (let vertex = vertices - 1; vertex >= 0; vertex -= 1) {
    const next = (successors[vertex] ?? []).sort((a, b) => a.to - b.to);
    let implied = false;
    next.forEach(({ to, wire }, i) => {
      // several tensors between the same two are implied together or not at all
      if (to !== next[i - 1]?.to) implied = (((reach[vertex * words + (to >> 5)] ?? 0) >>> (to & 31)) & 1) === 1;
      const planned = plan.wires[wire];
      if (implied && planned !== undefined && !planned.trunk) planned.rail = true;
      join(reach, words, vertex, to);
    });
  }
}

function join(reach: Uint32Array, words: number, vertex: number, to: number): void {
  const at = vertex * words + (to >> 5);
  reach[at] = (reach[at] ?? 0) | (1 << (to & 31));
  for (let i = 0; i < words; i += 1) {
    reach[vertex * words + i] = (reach[vertex * words + i] ?? 0) | (reach[to * words + i] ?? 0);
  }
}

/** Input ports, items, output ports as vertices 0…n-1 in that order, so that every wire runs upwards. */
function vertexGraph(plan: Plan): { vertices: number; successors: { to: number; wire: number }[][] } {
  const vertices = plan.inputs + plan.slots.length + plan.outputs;
  const successors: { to: number; wire: number }[][] = Array.from({ length: vertices }, () => []);
  plan.wires.forEach((wire, i) => {
    const from = wire.from === BORDER ? wire.fromPort : plan.inputs + wire.from;
    const to = wire.to === BORDER ? plan.inputs + plan.slots.length + wire.toPort : plan.inputs + wire.to;
    if (to > from) successors[from]?.push({ to, wire: i });
  });
  return { vertices, successors };
}
