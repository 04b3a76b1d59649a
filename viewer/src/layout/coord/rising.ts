/** Containers that flow up, as those in the right arm of a U do: laid out downwards, then turned upside down. */
import type { Item } from "../../view/frame.js";
import type { Direction } from "../../view/state.js";
import type { Ranking } from "../layering/dot.js";
import type { Plan } from "../plan.js";
import type { Point, Routed } from "../routing/route.js";
import { type Enclosure, enclose } from "./enclosure.js";
import type { Geometry } from "./geometry.js";

/** The container around a flow that will be turned: its title is above the end of the flow. */
export function encloseRising(
  planned: Plan,
  ranking: Ranking,
  routed: Routed,
  around: { item: Item | null; around: Direction },
): Enclosure {
  const { inputs, outputs } = planned;
  const turned = { ...ranking, inputs: ranking.outputs, outputs: ranking.inputs };
  const frame = enclose({ ...planned, inputs: outputs, outputs: inputs }, turned, { ...routed, straight: 0 }, around);
  const before = frame.height - frame.along - routed.depth;
  const end = frame.height - before;
  return {
    ...frame,
    along: before,
    ports: { inputs: frame.ports.outputs, outputs: frame.ports.inputs },
    entries: ranking.inputs.map((place): Point[] => [[place, -before]]),
    exits: ranking.outputs.map((place): Point[] => [[place, end]]),
  };
}

/** A container upside down; its title stays above. */
export function upsideDown(geometry: Geometry): Geometry {
  const { height, boxes, labels, lines } = geometry;
  const turned = <T extends { y: number; height: number }>(one: T): T => ({ ...one, y: height - one.y - one.height });
  return {
    ...geometry,
    boxes: boxes.map(turned),
    labels: labels.map(turned),
    lines: lines.map((line) => line.map(([x, y]): Point => [x, height - y])),
  };
}
