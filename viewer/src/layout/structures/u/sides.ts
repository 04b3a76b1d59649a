/** Ports at the sides of an arm of a U: those of skips to the other arm, and of tensors from above the U. */
import { BORDER, type Wire } from "../../../view/frame.js";
import type { Geometry } from "../../coord/geometry.js";
import type { Ranking } from "../../layering/dot.js";
import type { Plan } from "../../plan.js";
import type { Cut, Transfer } from "../cut.js";

/** The parts of a U; the part after these is around them. */
export const LEFT = 0;
export const RIGHT = 1;
export const CENTRE = 2;

/** Ports beside everything in an arm. */
export interface Sides {
  /** Inputs on the left and on the right. */
  left: number[];
  right: number[];
  /** Outputs on the right, beyond inputs. */
  out: number[];
}

type Ends = Pick<Wire, "from" | "to" | "fromPort" | "toPort">;

/** Distance between wires. */
export const STEP = 10;

/** The tensors that skip from the left arm to the right one. @param fold the last item of the left arm, if it is the bottom */
export function skipsOf({ across, parts }: Cut, fold: number | null): Transfer[] {
  const sourceOf = (port: number) =>
    parts[LEFT]?.wires.find(({ to, toPort }) => to === BORDER && toPort === port)?.from;
  return across.filter(({ from, to, fromPort }) => from === LEFT && to === RIGHT && sourceOf(fromPort) !== fold);
}

/** The ports at the sides of an arm. A tensor that only its first item reads enters at the top. */
export function sidesOf({ ports, parts }: Cut, part: number, skips: readonly Transfer[]): Sides {
  const { wires = [] } = parts[part] ?? {};
  const isFirst = (port: number) =>
    wires.every(({ from, fromPort, to }) => from !== BORDER || fromPort !== port || to === 0);
  const above = ports.inputs.flatMap(({ column, port }) => (column === part ? [port] : []));
  if (part !== LEFT)
    return {
      left: distinct(skips.map(({ toPort }) => toPort)),
      right: above,
      out: ports.outputs.map(({ port }) => port),
    };
  const entry = above.find(isFirst);
  return {
    left: above.filter((port) => port !== entry),
    right: [],
    out: distinct(skips.map(({ fromPort }) => fromPort)),
  };
}

function distinct(ports: number[]): number[] {
  return [...new Set(ports)];
}

/** Whether a wire of the arm leads to one of the ports. */
export function isAtSide({ left, right, out }: Sides, { from, to, fromPort, toPort }: Ends): boolean {
  return (from === BORDER && [...left, ...right].includes(fromPort)) || (to === BORDER && out.includes(toPort));
}

/** Puts the ports beside all items and other ports, at a distance. */
export function aside(sides: Sides, clear: number, { slots, wires }: Plan, ranking: Ranking): Ranking {
  const { left, right } = sides;
  const rankOf = (port: number) =>
    ranking.rank[wires.find(({ to, toPort }) => to === BORDER && toPort === port)?.from ?? BORDER] ?? 0;
  const out = [...sides.out].sort((a, b) => rankOf(a) - rankOf(b));
  const inputs = [...ranking.inputs];
  const outputs = [...ranking.outputs];
  const others = [
    ...inputs.filter((_, port) => ![...left, ...right].includes(port)),
    ...outputs.filter((_, port) => !out.includes(port)),
  ];
  const low = Math.min(...slots.map((slot, i) => (ranking.across[i] ?? 0) - slot.low), ...others) - clear;
  const high = Math.max(...slots.map((slot, i) => (ranking.across[i] ?? 0) + slot.high), ...others) + clear;
  for (const [i, port] of left.entries()) inputs[port] = low - i * STEP;
  for (const [i, port] of right.entries()) inputs[port] = high + i * STEP;
  for (const [i, port] of out.entries()) outputs[port] = high + (right.length + i) * STEP;
  return { ...ranking, inputs, outputs };
}

/** Whether only their own wires are at the sides, and turn once on the way. */
export function isClear(sides: Sides, wires: readonly Ends[], { boxes, labels, lines, ports }: Geometry): boolean {
  const own = lines.flatMap((line, i) => {
    const wire = wires[i];
    if (wire === undefined || !isAtSide(sides, wire)) return line;
    return wire.from === BORDER ? line.slice(2) : line.slice(0, -2);
  });
  const all = [
    ...own.map(([x]) => [x, x] as const),
    ...[...boxes, ...labels].map(({ x, width }) => [x, x + width] as const),
  ];
  const at = (side: "inputs" | "outputs", some: number[]) => some.map((port) => ports[side][port] ?? 0);
  return (
    Math.min(...all.map(([low]) => low)) > Math.max(...at("inputs", sides.left)) &&
    Math.max(...all.map(([, high]) => high)) < Math.min(...at("inputs", sides.right), ...at("outputs", sides.out))
  );
}
