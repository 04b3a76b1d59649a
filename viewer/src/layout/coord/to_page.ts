/** A routed flow on the page, and what is around it. */
import type { Item } from "../../view/frame.js";
import type { Direction } from "../../view/state.js";
import type { Order } from "../decross/order.js";
import type { Ranking } from "../layering/dot.js";
import type { Plan } from "../plan.js";
import { labelBox, type Point, type Routed, rowsOf } from "../routing/route.js";
import { enclose, toBorders } from "./enclosure.js";
import type { Box, Geometry, Label } from "./geometry.js";
import type { Along } from "./perpendicular.js";
import { encloseRising, upsideDown } from "./rising.js";

/** What decides a frame's enclosure besides its content. */
export interface Surrounding {
  item: Item | null;
  around: Direction;
  /** Whether wires leave it where they end, not beside its start. */
  leavesAtEnd?: boolean;
  /** How wires of a line lead to later items, and to those of the next line. */
  alongLine?: Along;
  /** Whether it flows up. */
  up?: boolean;
  isNarrow?: boolean;
  /** Whether its rows stay as they are, as structures put them in line with each other. */
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
