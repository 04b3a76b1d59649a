/**
 * A container that runs across the flow around it. Wires come in beside its beginning, at right angles to its own flow,
 * and go out at the same place, so that what stands before and after it stays in one line:
 *
 *        │                 │
 *     ┌──┼──────────┐      └→ a → b → c ─┐     instead of a staircase
 *     │  └→ a → b ┐ │      ┌─────────────┘
 *     │  ┌────────┘ │      │
 *     └──┼──────────┘
 */
import type { Ranking } from "./dot.js";
import type { Plan } from "./plan.js";
import { labelBox, type Point, type Routed } from "./route.js";
import { BORDER } from "./view.js";

/** Distance of the innermost wire from the beginning and the end of the flow, and between wires. */
const BESIDE = 6;
const STEP = 10;

/** What comes before and after the lines of a container, in its own flow coordinates. */
export interface Turned {
  /** Input port → its wire's way in, from the border on. Output port → its way out, to the border. */
  entries: Point[][];
  exits: Point[][];
  /** Places of the ports along the container's flow. */
  inputs: number[];
  outputs: number[];
  /** Extent with all of it. */
  low: number;
  high: number;
  from: number;
  to: number;
}

/** Lay the ways in and out. */
export function turn(plan: Plan, ranking: Ranking, routed: Routed, isStep: boolean): Turned {
  const ins = outermostFirst(ranking.inputs);
  const outs = outermostFirst(ranking.outputs);
  const inputs: number[] = [];
  ins.forEach((port, i) => {
    inputs[port] = -BESIDE - (ins.length - 1 - i) * STEP;
  });
  const outputs: number[] = [];
  const first = isStep ? -BESIDE - (outs.length - 1) * STEP : firstExit(plan, inputs, outs);
  outs.forEach((port, i) => {
    outputs[port] = first + i * STEP;
  });
  const far = Math.max(routed.high, ...routed.labels.map((label) => labelEnd(plan, label)));
  const high = far + (outs.length > 0 ? BESIDE + outs.length * STEP : 0);
  const to = routed.depth + (outs.length > 0 ? BESIDE + outs.length * STEP : 0);
  const entries = ranking.inputs.map((across, port): Point[] => {
    const along = inputs[port] ?? 0;
    return [
      [routed.low, along],
      [across, along],
    ];
  });
  const exits: Point[][] = [];
  outs.forEach((port, i) => {
    const across = ranking.outputs[port] ?? 0;
    const [beyond, below, along] = [routed.depth + BESIDE + i * STEP, far + BESIDE + i * STEP, outputs[port] ?? 0];
    // beside everything else a wire need not go to the end and come back
    const corner = i === 0 && across > routed.high - 1 ? lastCorner(plan, routed, port) : undefined;
    exits[port] = [
      ...(corner === undefined ? [[across, beyond] as const] : []),
      [below, corner ?? beyond],
      [below, along],
      [high, along],
    ];
  });
  return { entries, exits, inputs, outputs, low: routed.low, high, from: Math.min(0, ...inputs, ...outputs), to };
}

/** How far across the flow a label reaches: beside a wire that leaves its item at the edge, farther than the item. */
function labelEnd({ vertical }: Plan, { across, along, text, before }: Routed["labels"][number]): number {
  const [x, y, width, height] = labelBox(vertical, across, along, text, vertical && before);
  return vertical ? x + width : y + height;
}

/** Where the only wire to an output port turns into its last stretch. */
function lastCorner(plan: Plan, routed: Routed, port: number): number | undefined {
  const wires = plan.wires.flatMap((wire, i) => (wire.to === BORDER && wire.toPort === port ? [i] : []));
  const line = wires.length === 1 ? (routed.lines[wires[0] ?? 0] ?? []) : [];
  return line.length > 2 ? line[line.length - 2]?.[1] : undefined;
}

/** Ports by their place, highest first: at the beginning it is the outermost, so that no two wires cross. */
function outermostFirst(places: number[]): number[] {
  return places.map((_, port) => port).sort((a, b) => (places[b] ?? 0) - (places[a] ?? 0) || a - b);
}

/** Place of the first exit: the trunk goes out where it came in. */
function firstExit(plan: Plan, inputs: number[], outs: number[]): number {
  const entry = plan.wires.find((wire) => wire.trunk && wire.from === BORDER);
  const exit = plan.wires.find((wire) => wire.trunk && wire.to === BORDER);
  const place = outs.indexOf(exit?.toPort ?? -1);
  return (inputs[entry?.fromPort ?? -1] ?? -BESIDE) - Math.max(0, place) * STEP;
}
