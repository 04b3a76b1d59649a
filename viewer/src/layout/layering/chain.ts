/**
 * Ranks frames whose items are below each other along a straight trunk, as most are: the blocks of a stack, the parts of a
 * block with a residual. Ports of other tensors, such as masks, are beside the trunk, the nearest use innermost.
 */
import { BORDER } from "../../view/frame.js";
import type { Ports } from "../coord/geometry.js";
import type { Plan, PlanWire, Slot } from "../plan.js";
import { middleExit } from "../routing/ports.js";
import type { Ranking } from "./dot.js";

/** Distance between ports; equals that of exits. */
const PORT_STEP = 16;
/** Closer ports look like one. */
const APART = PORT_STEP / 2;
/** Gap between a wire and the items it passes; equals that of lanes. */
const BESIDE = 12;

/** All items along a straight trunk; null if the plan without rails is not a chain. */
export function rankAsChain(plan: Plan): Ranking | null {
  const links = linksOf(plan);
  if (links === null || plan.apart.length > 0) return null;
  const across = alongTrunk(plan, links);
  const inputs = portsOf(plan, links, across, "inputs");
  const outputs = portsOf(plan, links, across, "outputs");
  return { rank: plan.slots.map((_, i) => i), across, inputs, outputs };
}

/** Whether everything is on the trunk, so that there is nothing to order. */
export function isBareChain(plan: Plan): boolean {
  return plan.inputs <= 1 && plan.outputs <= 1 && linksOf(plan) !== null;
}

/**
 * Item → the wire into it from its predecessor (or the border), then the wire out of the last; null unless a chain.
 */
function linksOf({ slots, wires }: Plan): (PlanWire | undefined)[] | null {
  const end = slots.length;
  const links: (PlanWire | undefined)[] = [];
  for (const wire of wires) {
    const place = wire.to === BORDER ? end : wire.to;
    // BORDER is -1
    const isLink = place === wire.from + 1;
    if (!wire.rail && !isLink && !isBeside(wire)) return null;
    if (!wire.rail && isLink && (wire.trunk || links[place] === undefined)) links[place] = wire;
  }
  return slots.every((_, item) => item === 0 || links[item] !== undefined) ? links : null;
}

/** Whether a wire leads from or to a port without being on the trunk. */
function isBeside({ from, to, trunk }: PlanWire): boolean {
  return !trunk && (from === BORDER) !== (to === BORDER);
}

/** The places of items on a trunk that runs straight. */
function alongTrunk(plan: Plan, links: (PlanWire | undefined)[]): number[] {
  const across: number[] = [];
  plan.slots.forEach((_, item) => {
    const link = links[item];
    const start = item === 0 ? 0 : (across[item - 1] ?? 0) + offset(plan, item - 1, "outputs", link?.fromPort);
    across.push(start - offset(plan, item, "inputs", link?.toPort));
  });
  return across;
}

/** Position of a port relative to its item's centre. */
export function offset(plan: Plan, item: number, side: keyof Ports, port = -1): number {
  const slot = plan.slots[item];
  const place = slot?.ports?.[side][port];
  return slot === undefined || place === undefined ? 0 : place - slot.across / 2;
}

/** A port beside the trunk. */
interface Beside {
  port: number;
  /** Number of items that its wire passes. */
  passes: number;
  /** Where its wire runs straight, if it leads to an open item. */
  straight: number | undefined;
}

/** Positions of the ports at one end of the trunk. */
function portsOf(plan: Plan, links: (PlanWire | undefined)[], across: number[], end: keyof Ports): number[] {
  const last = plan.slots.length - 1;
  const [border, item] = end === "inputs" ? (["from", "to"] as const) : (["to", "from"] as const);
  const [near, step] = end === "inputs" ? [0, 1] : [last, -1];
  const link = links[end === "inputs" ? 0 : last + 1];
  const axis = (across[near] ?? 0) + offset(plan, near, end, link?.[`${item}Port`]);
  const places: number[] = [];
  const main = link?.[`${border}Port`];
  if (main !== undefined) places[main] = axis;
  const wires = plan.wires.filter((wire) => wire[border] === BORDER);
  const all = Array.from({ length: plan[end] }, (_, port): Beside => {
    const own = wires.filter((wire) => wire[`${border}Port`] === port);
    const passes = Math.min(last, ...own.map((wire) => Math.abs(wire[item] - near)));
    const at = near + step * passes;
    const to = own.find((wire) => wire[item] === at)?.[`${item}Port`] ?? -1;
    const isFixed = plan.slots[at]?.ports?.[end][to] !== undefined;
    return { port, passes, straight: isFixed ? (across[at] ?? 0) + offset(plan, at, end, to) : undefined };
  });
  const others = all.filter(({ port }) => port !== main);
  const passed = plan.slots.map((_, i) => near + step * i);
  const isLeft = (one: Beside) => (sideOf(plan.order?.[end], one, main, axis) || -step) < 0;
  for (const side of [-1, 1] as const) {
    const ports = others.filter((one) => isLeft(one) === side < 0);
    placeBeside(plan, across, { side, axis, passed, places }, ports);
  }
  const own = all.flatMap(({ port, passes }) => (passes === 0 ? [port] : []));
  if (end === "outputs") atExits(plan.slots[last], places, own, { axis, trunk: link?.trunk ? main : undefined });
  return places;
}

/** Puts ports where their wires leave the last item, if it is closed and has no others. */
function atExits(
  slot: Slot | undefined,
  places: number[],
  own: number[],
  { axis, trunk = -1 }: { axis: number; trunk: number | undefined },
): void {
  if (slot?.ports !== null || own.length < 2 || own.length !== slot.exits.length) return;
  const order = own.sort((a, b) => (places[a] ?? 0) - (places[b] ?? 0));
  const middle = middleExit(slot, order.length, order.indexOf(trunk));
  order.forEach((port, i) => {
    places[port] = axis + (i - middle) * slot.exitStep;
  });
}

/** The side of a port by its order or by where its wire runs straight; 0 if it has none. */
function sideOf(order: number[][] = [], { port, straight }: Beside, main: number | undefined, axis: number): number {
  const at = (one = -1) => order.findIndex((group) => group.includes(one));
  const [own, other] = [at(port), at(main)];
  return own >= 0 && other >= 0 && own !== other ? own - other : (straight ?? axis) - axis;
}

interface Side {
  side: -1 | 1;
  axis: number;
  /** Items in the order in which wires pass them. */
  passed: number[];
  places: number[];
}

/** Puts ports beside the trunk, the items that their wires pass, and each other, those with the nearest use innermost. */
function placeBeside({ slots }: Plan, across: number[], { side, axis, passed, places }: Side, ports: Beside[]): void {
  const far = (at: number) => (at - axis) * side;
  const reach = (item = 0) => far(across[item] ?? 0) + ((side < 0 ? slots[item]?.low : slots[item]?.high) ?? 0);
  const straight = (one: Beside) => (one.straight === undefined ? 0 : far(one.straight));
  const taken: number[] = [];
  let least = PORT_STEP;
  for (const one of [...ports].sort((a, b) => a.passes - b.passes || straight(a) - straight(b) || a.port - b.port)) {
    const clear = Math.max(0, ...passed.slice(0, one.passes).map((item) => reach(item) + BESIDE));
    const ahead = one.straight === undefined ? Number.NEGATIVE_INFINITY : straight(one);
    const isFree = ahead >= clear && taken.every((other) => Math.abs(ahead - other) >= APART);
    const place = isFree ? ahead : Math.max(least, clear);
    taken.push(place);
    places[one.port] = axis + side * place;
    least = Math.max(least, place + PORT_STEP);
  }
}
