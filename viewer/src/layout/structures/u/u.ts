/**
 * A U: the left arm flows down, the right one up, and each skip runs horizontally from one to the other. Each arm is laid
 * out as a frame of its own, in which skips turn towards the other arm; there, their halves meet.
 */
import { mapSteps, type Steps } from "../../../shared/slices.js";
import { BORDER, type Frame } from "../../../view/frame.js";
import { type Geometry, stretched } from "../../coord/geometry.js";
import type { Inner } from "../../input.js";
import type { PlanWire } from "../../plan.js";
import { assemble, type ColumnBlock } from "../assemble.js";
import { extent, itemsBelow, type Moved, movedBelow, type PlaceSubframe, type Subframe } from "../columns.js";
import { BLOCK, type Cut, cut, type Transfer } from "../cut.js";
import { alongChain } from "./arm_chain.js";
import type { Arms } from "./arms.js";
import { aroundItem, type Foot, spanOf, throughItem, withoutItem } from "./foot.js";
import { type Arm, BESIDE, EQUAL, inLine, type SkipLevel } from "./level_heights.js";
import type { ArmPart, Panels } from "./panels.js";
import { aside, CENTRE, isAtSide, isClear, LEFT, RIGHT, type Sides, STEP, sidesOf, skipsOf } from "./sides.js";

type Line = Geometry["lines"][number];
type Point = Line[number];

/** Distances of the wires at the sides to try: wires inside may need the first. */
const CLEAR = [16, 40, 80] as const;
/** Distance between both arms. */
const GAP = 24;

/** The parts of a U, and the ends of the tensors between them. */
interface U {
  made: Cut;
  skips: Transfer[];
  /** From the left arm to the bottom, and from there to the right arm; the same tensor without an item between. */
  into: Transfer;
  out: Transfer;
  sides: Sides[];
  /** Arm → the chain in it. */
  chains: number[][];
}

/** The geometry of a frame as a U; null if its wires don't allow it. */
export function* inU(
  frame: Frame,
  inner: readonly (Inner | null)[],
  arms: Arms,
  place: PlaceSubframe,
  panels?: Panels,
): Steps<Geometry | null> {
  const u = uOf(frame, arms);
  if (u === null) return null;
  const { parts, members } = u.made;
  const lay = (part: number, how: Partial<Subframe> = {}): Steps<Geometry> => {
    const sizes = (members[part] ?? []).map((item) => inner[item] ?? null);
    const whole = { frame: parts[part] ?? frame, inner: sizes, closed: [], moved: STAYS, moves: "", isAround: false };
    return place({ ...whole, ...how });
  };
  const [left, right] = yield* mapSteps([LEFT, RIGHT], function* (part) {
    const arm = trimmed(u, part, yield* layArm(u, part, lay));
    return arm && panels ? panels.spaced(armOf(u, part, frame), arm) : arm;
  });
  const between = arms.isBetween ? yield* lay(CENTRE) : null;
  const lined = left && right ? inLine(left, right, levelsOf(u, left, right)) : null;
  if (lined === null) return null;
  const block = blockOf(u, lined, between, inner[arms.fold] == null);
  if (block === null) return null;
  const last = parts.length - 1;
  const sizes = (members[last] ?? []).map((item) => (item === BLOCK ? block : (inner[item] ?? null)));
  const isFan = (u.sides[RIGHT]?.out ?? []).length > 1;
  const moved = isFan ? { moved: below((members[last] ?? []).indexOf(BLOCK)), moves: "below" } : {};
  return assemble(u.made, block, yield* lay(last, { inner: sizes, closed: sizes, isAround: true, ...moved }));
}

/** Centres what follows the arms below them, if several tensors leave at the side. */
function below(block: number): Moved {
  return (plan, ranking) => {
    const items = itemsBelow(ranking, block);
    const [low, high] = extent(plan, ranking, items);
    return movedBelow(ranking, items, Math.round((ranking.across[block] ?? 0) - (low + high) / 2) || 0);
  };
}

function armOf({ made: { parts, members }, sides }: U, part: number, whole: Frame): ArmPart {
  return { part, frame: parts[part] ?? whole, members: members[part] ?? [], sides: sides[part] ?? NO_SIDES };
}

const STAYS: Moved = (_, ranking) => ranking;

/** The parts of a U; null if there are other wires between them. */
function uOf(frame: Frame, { left, right, fold, isBetween, chain }: Arms): U | null {
  const made = cut(frame, isBetween ? [left, right, [fold]] : [[...left, fold], right], true);
  if (made === null || made.ports.outputs.some(({ column }) => column !== RIGHT)) return null;
  const skips = skipsOf(made, isBetween ? null : left.length);
  const others = made.across.filter((one) => !skips.includes(one));
  const into = others.find(({ from }) => from === LEFT);
  const out = others.find(({ to }) => to === RIGHT);
  if (into === undefined || out === undefined || others.length !== (isBetween ? 2 : 1)) return null;
  const arms = [LEFT, RIGHT];
  const inArm = (item: number, part: number) => made.members[part]?.indexOf(item) ?? BORDER;
  const chains = arms.map((part) => chain.map((item) => inArm(item, part)).filter((item) => item !== BORDER));
  return { made, skips, into, out, sides: arms.map((part) => sidesOf(made, part, skips)), chains };
}

/** The layout of an arm; null if something blocks the wires at its sides. */
function* layArm(
  { made, sides, chains }: U,
  part: number,
  lay: (part: number, how: Partial<Subframe>) => Steps<Geometry>,
): Steps<Geometry | null> {
  const own = sides[part] ?? NO_SIDES;
  const chain = chains[part] ?? [];
  const beside = part === RIGHT ? ([1, own.left] as const) : ([-1, []] as const);
  const isRail = (wire: PlanWire) => isAtSide(own, wire);
  for (const clear of CLEAR) {
    const moved: Moved = (plan, ranking) => aside(own, clear, plan, alongChain(chain, beside, plan, ranking));
    const moves = `${part} ${clear} ${JSON.stringify(own)} ${chain}`;
    const geometry = yield* lay(part, { moved, moves, up: part === RIGHT, isRail });
    if (isClear(own, made.parts[part]?.wires ?? [], geometry)) return geometry;
  }
  return null;
}

/** Removes the space above the right arm for wires that leave it, if these turn at the side. */
function trimmed({ made, sides }: U, part: number, arm: Geometry | null): Geometry | null {
  const out = part === RIGHT ? (sides[RIGHT]?.out ?? []) : [];
  if (arm === null || out.length === 0) return arm;
  const own = out.flatMap((port) => linesAt(made, part, arm, "out", port).map(({ wire }) => wire));
  const lines = arm.lines.map((line, wire) => (own.includes(wire) ? turningEarly(line, arm) : line));
  const levels = own.flatMap((wire) => lines[wire]?.slice(0, -1) ?? []);
  const top = Math.min(...[...arm.boxes, ...arm.labels].map(({ y }) => y), ...levels.map(([, y]) => y));
  return stretched({ ...arm, lines }, top - BESIDE, BESIDE - top);
}

/** Height of a label above an item, with the space around it. */
const ABOVE = 24;

/** A line to a port at the side that turns just above its item, if nothing is in the way. */
function turningEarly(line: Line, { boxes, labels }: Geometry): Line {
  const [[x, y] = [0, 0], [, level] = [0, 0], [lane] = [0, 0], end] = line;
  const early = y - ABOVE;
  const isBeside = (one: { x: number; y: number; width: number; height: number }) =>
    one.x + one.width > x && one.y < early + BESIDE && one.y + one.height > early - BESIDE;
  if (line.length !== 4 || end === undefined || early <= level || [...boxes, ...labels].some(isBeside)) return line;
  return [[x, y], [x, early], [lane, early], end];
}

const NO_SIDES: Sides = { left: [], right: [], out: [] };

/** The levels of both arms, from the top. */
function levelsOf({ made, skips }: U, left: Geometry, right: Geometry): [SkipLevel, SkipLevel][] {
  const levels = skips.map(({ fromPort, toPort }): [SkipLevel, SkipLevel] => {
    const down = linesAt(made, LEFT, left, "out", fromPort).map(({ line, item }) =>
      levelAt(left, line[line.length - 2], item),
    );
    const up = linesAt(made, RIGHT, right, "in", toPort).map(({ line, item }) => levelAt(right, line[1], item));
    return [highest(down), highest(up)];
  });
  return levels.sort(([a], [b]) => a.at - b.at);
}

function levelAt({ boxes }: Geometry, [, at]: Point = [0, 0], item: number): SkipLevel {
  return { at, box: boxes[item] ?? { x: 0, y: at, width: 0, height: 0 } };
}

function highest(levels: SkipLevel[]): SkipLevel {
  return levels.reduce((best, one) => (one.at < best.at ? one : best));
}

/** The lines of an arm to or from a port, with the items at their other ends. */
function linesAt(
  { parts }: Cut,
  part: number,
  geometry: Geometry,
  side: "in" | "out",
  port: number,
): { wire: number; line: Line; item: number }[] {
  return (parts[part]?.wires ?? []).flatMap(({ from, to, fromPort, toPort }, wire) => {
    const isThere = side === "in" ? from === BORDER && fromPort === port : to === BORDER && toPort === port;
    return isThere ? [{ wire, line: geometry.lines[wire] ?? [], item: side === "in" ? to : from }] : [];
  });
}

/** Both arms and the bottom as one item; null if the levels aren't aligned. */
function blockOf(u: U, [left, right]: [Arm, Arm], between: Geometry | null, isClosed: boolean): ColumnBlock | null {
  const ends = [
    left.geometry.ports.outputs[u.into.fromPort] ?? 0,
    right.geometry.ports.inputs[u.out.toPort] ?? 0,
  ] as const;
  const span = between !== null && isClosed ? spanOf(between) : 0;
  const offset = Math.max(left.geometry.width + GAP - unusedLanes(u, right.geometry), ends[0] + span - ends[1]);
  const bottom = Math.max(...[left, right].map(({ geometry, drop }) => drop + geometry.height));
  const at = [ends[0], offset + ends[1], bottom] as const;
  const foot =
    between === null ? withoutItem(...at) : isClosed ? throughItem(between, ...at) : aroundItem(between, ...at);
  const lines = [leftLines(u, left, foot), rightLines(u, right, foot, offset)];
  return meet(u, left, right) ? together(u, [left, right], lines, foot, offset) : null;
}

/** The width of the lanes between both arms that are unused because the halves of skips meet. */
function unusedLanes({ made, sides }: U, right: Geometry): number {
  const [{ out }, { left }] = [sides[LEFT] ?? NO_SIDES, sides[RIGHT] ?? NO_SIDES];
  const isUsed = (port: number) =>
    new Set(linesAt(made, RIGHT, right, "in", port).map(({ line }) => line[1]?.[1])).size > 1;
  const used = Math.max(0, ...left.map((port, i) => (isUsed(port) ? i : 0)));
  return (out.length - 1 + left.length - 1 - used) * STEP;
}

/** Whether the halves of each skip are at one height. */
function meet(u: U, left: Arm, right: Arm): boolean {
  const levels = levelsOf(u, left.geometry, right.geometry);
  return levels.every(([a, b]) => Math.abs(a.at + left.drop - b.at - right.drop) < EQUAL);
}

/** The lines of the left arm: skips end at their height, the chain at the bottom. */
function leftLines({ made, skips, into }: U, { geometry, drop }: Arm, foot: Foot): Line[] {
  const lines = [...geometry.lines];
  for (const { wire, line } of skips.flatMap(({ fromPort }) => linesAt(made, LEFT, geometry, "out", fromPort)))
    lines[wire] = line.slice(0, -2);
  for (const { wire, line } of linesAt(made, LEFT, geometry, "out", into.fromPort))
    lines[wire] = [...line, ...foot.from.map(([x, y]): Point => [x, y - drop])];
  return lines;
}

/** The lines of the right arm: skips come from the left, the chain from the bottom, and everything else from above. */
function rightLines({ made, skips, out, sides }: U, { geometry, drop }: Arm, foot: Foot, offset: number): Line[] {
  const lines = [...geometry.lines];
  const start = foot.to.map(([x, y]): Point => [x - offset, y - drop]);
  const arriving = (port: number) => linesAt(made, RIGHT, geometry, "in", port);
  for (const { wire, line } of arriving(out.toPort)) lines[wire] = [...start, ...line];
  for (const { wire, line } of (sides[RIGHT]?.right ?? []).flatMap(arriving)) {
    const [[x] = [0]] = line;
    lines[wire] = [[x, 0], ...line.slice(1)];
  }
  for (const { toPort } of skips) {
    const level = Math.min(...arriving(toPort).map(({ line }) => line[1]?.[1] ?? 0));
    for (const { wire, line } of arriving(toPort)) {
      const [[x] = [0], [, y] = [0, level]] = line;
      lines[wire] = y === level ? line.slice(2) : [[x, level], ...line.slice(1)];
    }
  }
  return lines;
}

/** The parts in their places; what leaves the right arm is led down beside it. */
function together(
  { made }: U,
  [left, right]: [Arm, Arm],
  [down = [], up = []]: Line[][],
  foot: Foot,
  offset: number,
): ColumnBlock {
  const { inputs, outputs } = made.ports;
  const { ports, width } = right.geometry;
  const low = Math.min(0, foot.x);
  const footEnd = Math.max(...foot.to.map(([x]) => x + STEP), foot.x + (foot.geometry?.width ?? 0));
  const height = Math.max(
    ...foot.from.map(([, y]) => y),
    ...foot.to.map(([, y]) => y),
    foot.y + (foot.geometry?.height ?? 0),
  );
  const past = Math.max(0, footEnd - offset - Math.min(...outputs.map(({ port }) => ports.outputs[port] ?? 0)));
  const lanes = outputs.map(({ port }) => {
    const lane = past + (ports.outputs[port] ?? 0);
    for (const { wire, line } of linesAt(made, RIGHT, right.geometry, "out", port)) {
      const [, level] = line[line.length - 2] ?? [0, 0];
      up[wire] = [...line.slice(0, -2), [lane, level], [lane, height + STEP - right.drop]];
    }
    return offset + lane - low;
  });
  const placed = [
    { ...left.geometry, lines: down },
    { ...right.geometry, lines: up },
  ];
  const offsets = [-low, offset - low, foot.x - low];
  return {
    placed: foot.geometry === null ? placed : [...placed, foot.geometry],
    offsets,
    drops: [left.drop, right.drop, foot.y],
    width: Math.max(offset + width + past, footEnd) - low,
    height: height + STEP,
    ports: {
      inputs: inputs.map(({ column, port }) => (offsets[column] ?? 0) + (placed[column]?.ports.inputs[port] ?? 0)),
      outputs: lanes,
    },
  };
}
