/**
 * A container across its parent's direction. Wires enter and leave beside the start of its flow, at right angles to it,
 * so that the items before and after the container stay aligned:
 *
 *        │                 │
 *     ┌──┼──────────┐      └→ a → b → c ─┐     instead of a staircase
 *     │  └→ a → b ┐ │      ┌─────────────┘
 *     │  ┌────────┘ │      │
 *     └──┼──────────┘
 */

import { BORDER } from "../../view/frame.js";
import type { Ranking } from "../layering/dot.js";
import type { Plan } from "../plan.js";
import { labelBox, type Point, type Routed } from "../routing/route.js";
import { dropsOf } from "../wrapping/drops.js";

/** Distance of the innermost wire from the start and the end of the flow, and between wires. */
const BESIDE = 6;
const STEP = 10;

/** The wires around the flow of a container, in its flow coordinates. */
export interface Turned {
  /** Input port → the points of its wire from the border. Output port → those to the border. */
  entries: Point[][];
  exits: Point[][];
  /** Positions of the ports along the container's flow. */
  inputs: number[];
  outputs: number[];
  /** Extent, including these wires. */
  low: number;
  high: number;
  from: number;
  to: number;
}

/** Where wires leave: beside the start of the flow, where they enter (as states do), or at its end. */
type Leaving = "start" | "step" | "end";

/** Which wires of a line lead to its later items, or on to those of the next line. */
export interface Along {
  /** Output ports whose wires leave at the end of the line. */
  onwards: readonly number[];
  /** Whether wires come down before the later items that read them. */
  fromAbove: boolean;
}

const NOT_ALONG: Along = { onwards: [], fromAbove: false };

/** Route the wires of the ports to the start of the flow, or those that leave to its end. */
export function turn(
  plan: Plan,
  ranking: Ranking,
  routed: Routed,
  leaves: Leaving,
  { onwards, fromAbove }: Along = NOT_ALONG,
): Turned {
  const inputs = placesOfInputs(ranking, fromAbove ? dropsOf(plan, ranking, routed) : new Map());
  const outs = outermostFirst(ranking.outputs);
  const atEnd = (port: number) => leaves === "end" || onwards.includes(port);
  const back = outs.filter((port) => !atEnd(port));
  const outputs: number[] = [];
  const first = leaves === "step" ? -BESIDE - (outs.length - 1) * STEP : firstExit(plan, inputs, back);
  outs.forEach((port, i) => {
    outputs[port] = atEnd(port) ? routed.depth + BESIDE + i * STEP : first + back.indexOf(port) * STEP;
  });
  const far = Math.max(routed.high, ...routed.labels.map((label) => labelEnd(plan, label)));
  const high = far + (back.length > 0 ? BESIDE + outs.length * STEP : 0);
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
    if (atEnd(port)) {
      exits[port] = [
        [across, beyond],
        [high, beyond],
      ];
      return;
    }
    // a wire beyond all items needn't go to the end and back
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

/** Input port → where its wires are along the flow: where they come down, else before its start. */
function placesOfInputs(ranking: Ranking, drops: ReadonlyMap<number, number>): number[] {
  const places: number[] = [];
  for (const [port, along] of drops) places[port] = along;
  const others = outermostFirst(ranking.inputs).filter((port) => !drops.has(port));
  others.forEach((port, i) => {
    places[port] = -BESIDE - (others.length - 1 - i) * STEP;
  });
  return places;
}

/** Extent of a label across the flow; may exceed that of its item. */
function labelEnd({ vertical }: Plan, { across, along, text, before }: Routed["labels"][number]): number {
  const [x, y, width, height] = labelBox(vertical, across, along, text, vertical && before);
  return vertical ? x + width : y + height;
}

/** Position along the flow where the only wire to an output port turns into its last segment. */
function lastCorner(plan: Plan, routed: Routed, port: number): number | undefined {
  const wires = plan.wires.flatMap((wire, i) => (wire.to === BORDER && wire.toPort === port ? [i] : []));
  const line = wires.length === 1 ? (routed.lines[wires[0] ?? 0] ?? []) : [];
  return line.length > 2 ? line[line.length - 2]?.[1] : undefined;
}

/** Ports by position, highest first: the highest is outermost at the start, so that wires don't cross. */
function outermostFirst(places: number[]): number[] {
  return places.map((_, port) => port).sort((a, b) => (places[b] ?? 0) - (places[a] ?? 0) || a - b);
}

/** Position of the first exit, such that the trunk leaves where it entered. */
function firstExit(plan: Plan, inputs: number[], outs: number[]): number {
  const entry = plan.wires.find((wire) => wire.trunk && wire.from === BORDER);
  const exit = plan.wires.find((wire) => wire.trunk && wire.to === BORDER);
  const place = outs.indexOf(exit?.toPort ?? -1);
  return (inputs[entry?.fromPort ?? -1] ?? -BESIDE) - Math.max(0, place) * STEP;
}
