import type { Item } from "../../view/frame.js";
import type { Direction } from "../../view/state.js";
import type { Order } from "../decross/order.js";
import type { Ranking } from "../layering/dot.js";
import type { Plan } from "../plan.js";
import { labelBox, type Point, type Routed, rowsOf } from "../routing/route.js";
import { type Enclosure, enclose, toBorders } from "./enclosure.js";
import type { Box, Geometry, Label } from "./geometry.js";
import type { Along } from "./perpendicular.js";

/** Turns a routed flow into a geometry on the page, with its enclosure. */

/** What determines a frame's enclosure apart from its content. */
export interface Surrounding {
  item: Item | null;
  around: Direction;
  /** Whether wires leave it where they end, not beside its start. */
  leavesAtEnd?: boolean;
  /** How the wires of a line lead to later items and to the next line. */
  alongLine?: Along;
  /** Whether it flows up. */
  up?: boolean;
  isNarrow?: boolean;
  /** Whether its rows stay as they are, because structures align them. */
  keepsRows?: boolean;
  /** The order to keep. */
  order: Order | null;
  /** Key of all of it. */
  key: string;
}

export const A_LINE: Surrounding = { item: null, around: "TB", key: "line", order: null };

/** Flow coordinates → x and y in the container, including title and padding. */
export function toPage(
  planned: Plan,
  ranking: Ranking,
  routed: Routed,
  rises: boolean,
  surrounding: Surrounding,
): Geometry {
  const { vertical } = planned;
  const frame = (rises ? encloseRising : enclose)(planned, ranking, routed, surrounding);
  const point = ([across, along]: Point): [number, number] =>
    vertical ? [across + frame.across, along + frame.along] : [along + frame.along, across + frame.across];
  const boxes = routed.places.map((place, i): Box => {
    const slot = planned.slots[i];
    const across = slot?.across ?? 0;
    const along = slot?.along ?? 0;
    const [x, y] = point([place[0] - across / 2, place[1]]);
    return { x, y, width: vertical ? across : along, height: vertical ? along : across };
  });
  const lines = routed.lines.map((line, i) => toBorders(planned, line, i, frame).map(point));
  const labels = routed.labels.map(({ across, along, text, net, before, wire }): Label => {
    const [px, py] = point([across, along]);
    const [x, y, width, height] = vertical
      ? labelBox(true, px, py, text, before)
      : labelBox(false, py, px, text, false);
    return { x, y, width, height, before, wire: wire ?? planned.wires.findIndex((one) => one.net === net) };
  });
  const { width, height, ports, title } = frame;
  const made = { width, height, boxes, rows: rowsOf(planned, ranking), lines, labels, ports, title };
  return rises ? upsideDown(made) : made;
}

// -- containers that flow up -------------------------------------------------------------------------------------------

/** Containers that flow up, as in the right arm of a U, are laid out downwards and turned upside down. */

/** The container around a flow that will be turned: its title is above the end of the flow. */
function encloseRising(
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
function upsideDown(geometry: Geometry): Geometry {
  const { height, boxes, labels, lines } = geometry;
  const turned = <T extends { y: number; height: number }>(one: T): T => ({ ...one, y: height - one.y - one.height });
  return {
    ...geometry,
    boxes: boxes.map(turned),
    labels: labels.map(turned),
    lines: lines.map((line) => line.map(([x, y]): Point => [x, height - y])),
  };
}
