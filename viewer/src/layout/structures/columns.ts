/**
 * Columns beside each other, with their tops in line. Each is laid out as a frame of its own. What goes from one to the
 * next leaves below the first, and turns in the gap between both to the height where it is read.
 */
import { BORDER, type Frame } from "../../view/frame.js";
import type { Ranking } from "../dot.js";
import type { Geometry } from "../geometry.js";
import type { Inner } from "../input.js";
import { GRID } from "../metrics.js";
import { mirrored } from "../mirror.js";
import type { Plan, PlanWire } from "../plan.js";
import { assemble, type Block } from "./assemble.js";
import { BLOCK, type Cut, cut } from "./cut.js";
import type { Towers } from "./towers.js";

/** Changes the positions that the items of a frame would have. */
export type Moved = (plan: Plan, ranking: Ranking) => Ranking;
/** Lays out a part of a frame; the last one is around all others. `moves` is equal for equal parts that move alike. */
export type Place = (
  part: Frame,
  inner: (Inner | null)[],
  moved: Moved,
  moves: string,
  isAround: boolean,
  arm?: Arm,
) => Geometry;
/** How an arm of a U is laid out: whether it flows up, and the wires that ranking ignores. */
export interface Arm {
  up: boolean;
  isRail: (wire: PlanWire) => boolean;
}

/** Distance between wires from one column to the next, and from what they pass. */
const STEP = 10;
const CLEAR = 16;

/** The geometry of a frame with these columns; null if its wires leave no way to draw it so. */
export function inColumns(
  frame: Frame,
  inner: readonly (Inner | null)[],
  { columns, join }: Towers,
  place: Place,
): Geometry | null {
  const made = cut(frame, columns);
  if (made === null || made.across.some(({ from, to }) => to !== from + 1)) return null;
  const inside = (part: number) => (made.members[part] ?? []).map((item) => inner[item] ?? null);
  const placed = columns.map((_, i) =>
    place(made.parts[i] ?? frame, inside(i), leftFirst(made, i), arrivals(made, i).join(), false),
  );
  if (!placed.every((geometry, i) => isLeftFree(made, i, geometry))) return null;
  const block = beside(made, placed);
  const last = columns.length;
  const sizes = inside(last).map((size, i) => (made.members[last]?.[i] === BLOCK ? block : size));
  return assemble(made, block, place(made.parts[last] ?? frame, sizes, centred(made, join), `${join}`, true));
}

/** The ports of a column for tensors from the column before. */
function arrivals({ across }: Cut, column: number): number[] {
  return [...new Set(across.filter(({ to }) => to === column).map(({ toPort }) => toPort))];
}

/**
 * Puts what arrives from the column before at the left of all that a column shows. Of both mirror images the column has the
 * one in which less is between the arrivals and their readers.
 */
function leftFirst(made: Cut, column: number): Moved {
  const ports = arrivals(made, column);
  if (ports.length === 0) return (_, ranking) => ranking;
  return (plan, given) => {
    const { slots, wires } = plan;
    const readers = wires
      .filter(({ from, fromPort }) => from === BORDER && ports.includes(fromPort))
      .map(({ to }) => to);
    const isFree = slots.every((slot) => slot.ports === null);
    const other = mirrored(given);
    const ranking = isFree && distance(plan, other, readers) < distance(plan, given, readers) ? other : given;
    const inputs = [...ranking.inputs];
    const others = inputs.filter((_, port) => !ports.includes(port));
    const left = Math.min(...slots.map((slot, i) => (ranking.across[i] ?? 0) - slot.low), ...others);
    ports.forEach((port, i) => {
      inputs[port] = left - CLEAR - i * STEP;
    });
    return { ...ranking, inputs };
  };
}

/** How far items are from the left. */
function distance({ slots }: Plan, { across }: Ranking, items: number[]): number {
  const left = Math.min(...slots.map((slot, i) => (across[i] ?? 0) - slot.low));
  return items.reduce((sum, item) => sum + (across[item] ?? 0) - left, 0);
}

/** Whether what arrives from the column before has nothing at its left. */
function isLeftFree(made: Cut, column: number, { boxes, labels, lines, ports }: Geometry): boolean {
  const arriving = arrivals(made, column);
  if (arriving.length === 0) return true;
  const lanes = arriving.map((port) => ports.inputs[port] ?? 0);
  const { wires = [] } = made.parts[column] ?? {};
  const isArriving = (wire: number) => wires[wire]?.from === BORDER && arriving.includes(wires[wire]?.fromPort ?? 0);
  const others = lines.flatMap((line, wire) => (isArriving(wire) ? line.slice(2) : line).map(([x]) => x));
  return Math.min(...others, ...[...boxes, ...labels].map(({ x }) => x)) > Math.max(...lanes);
}

function beside({ ports, across }: Cut, placed: Geometry[]): Block {
  const offsets = placed.map((_, i) => placed.slice(0, i).reduce((sum, { width }) => sum + width, 0));
  const tops = placed.map(({ boxes }) => Math.min(...boxes.map(({ y }) => y)));
  const drops = tops.map((top) => Math.max(...tops) - top);
  const levels = across.map(({ from }, i) => {
    const before = across.slice(0, i).filter((other) => other.from === from).length;
    return (placed[from]?.height ?? 0) + before * STEP;
  });
  const at = (side: "inputs" | "outputs") =>
    ports[side].map(({ column, port }) => (offsets[column] ?? 0) + (placed[column]?.ports[side][port] ?? 0));
  return {
    ...{ placed, offsets, drops, levels, ports: { inputs: at("inputs"), outputs: at("outputs") } },
    width: placed.reduce((sum, { width }) => sum + width, 0),
    height: Math.max(
      ...placed.map((column, i) => (drops[i] ?? 0) + column.height),
      ...levels.map((level, i) => (drops[across[i]?.from ?? 0] ?? 0) + level + GRID),
    ),
  };
}

/** Moves what is below the columns so that their join is in the middle of what it reads. */
function centred({ members, parts }: Cut, join: number | null): Moved {
  const order = members[members.length - 1] ?? [];
  const [block, item] = [order.indexOf(BLOCK), join === null ? BORDER : order.indexOf(join)];
  const { wires = [] } = parts[parts.length - 1] ?? {};
  const read = wires.filter(({ from, to }) => from === block && to === item && item !== BORDER);
  return ({ slots }, ranking) => {
    const { ports, across: width = 0 } = slots[block] ?? {};
    const places = read.map(({ fromPort }) => ports?.outputs[fromPort] ?? 0);
    if (places.length === 0) return ranking;
    const middle = (Math.min(...places) + Math.max(...places)) / 2 - width / 2;
    const shift = Math.round((ranking.across[block] ?? 0) + middle - (ranking.across[item] ?? 0));
    const isBelow = (i: number) => (ranking.rank[i] ?? 0) > (ranking.rank[block] ?? 0);
    const across = ranking.across.map((place, i) => (isBelow(i) ? place + shift : place));
    return { ...ranking, across, outputs: ranking.outputs.map((place) => place + shift) };
  };
}
