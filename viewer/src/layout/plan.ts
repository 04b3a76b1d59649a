/** The input of ranking and routing: sizes, ports and wires in flow coordinates (u across, v along the flow). */
import { memoByKey } from "../shared/memo.js";
import type { Alignment } from "../view/frame.js";
import type { Ports } from "./coord/geometry.js";
import { LABEL_SIZE } from "./coord/metrics.js";
import { textWidth } from "./coord/text_metrics.js";
import type { Order } from "./decross/order.js";

/** A tensor that leaves an unexpanded item. */
export interface Exit {
  net: number;
  /** Empty if another exit of the item shows the label, or if the tensor only returns. */
  label: string;
  /** Whether the tensor only leads to the next step of a loop. */
  returns: boolean;
}

export interface Slot {
  across: number;
  along: number;
  /** Extent on both sides of the centre, including labels. */
  low: number;
  high: number;
  round: boolean;
  /** Whether it is an input or output of the model. */
  terminal: boolean;
  /** For expanded items: the positions where wires attach. */
  ports: Ports | null;
  exits: Exit[];
  /** Distance between neighbouring exits. */
  exitStep: number;
  /** Space for labels after the item, along the flow. */
  labelDepth: number;
  /** The part of `high` for the lanes of wires back to the item itself. */
  lanes: number;
}

export interface PlanWire {
  from: number;
  to: number;
  fromPort: number;
  toPort: number;
  /** Equal for wires with the same source and tensor. */
  net: number;
  /** Whether it is on the heaviest path, which is drawn straight. */
  trunk: boolean;
  /** Whether it is on the main path of a branch: the heaviest wire of both its source and its target. */
  spine: boolean;
  /** Whether a longer path has the same ends; ranking ignores rails. */
  rail: boolean;
}

/** A wire from a step of a loop to the next: out to the border, along the side, and in again. */
interface PlanReturn {
  /** Positions of the wire out and of the wire in, which comes after all wires of the frame. */
  out: number;
  in: number;
  label: string;
  /** Whether it leads back to its own item. */
  isAround: boolean;
}

/** The wire of a stage from the one before, and the module that derives another stream. */
export interface Stream {
  wire: number;
  beside: number;
}

export interface Plan {
  /** Whether the flow runs top to bottom. */
  vertical: boolean;
  slots: Slot[];
  wires: PlanWire[];
  inputs: number;
  outputs: number;
  /** Their wires come last, and their ports after those of the frame. */
  returns: PlanReturn[];
  /** The order to keep; null for any. */
  order: Order | null;
  /** Whether width is scarce. */
  isNarrow?: boolean;
  /** Pairs of items without a wire between them, of which the first goes above the second. */
  apart: (readonly [above: number, below: number])[];
  /** The first of parallel streams, which is drawn straight. */
  streams: Stream[];
  /** Whether its wires are arcs on one side. */
  dense: boolean;
  /** Which edges of the items of a row are aligned; absent if their lengths decide. */
  align?: Alignment | undefined;
  /** Output port → the input port of the same stream; empty without streams. */
  places: number[];
}

/** Distance of a label from its wire. */
export const LABEL_GAP = 5;
export const LABEL_HEIGHT = 12;
/** With more wires on one side of an item, the trunk is not centred. */
export const MOST_AROUND_TRUNK = 3;

/** Width of a tensor's label in bold, so that layouts don't depend on which labels are bold. */
export const labelWidth = memoByKey((label: string) =>
  label === "" ? 0 : Math.ceil(textWidth(label, LABEL_SIZE, true)),
);

/** Distance of the lane of a return from what is to its left. */
const BESIDE_LANE = 12;

/** Space across for the lane of a return with its label. Left to right, the label is above the lane. */
export function laneRoom(vertical: boolean, label: string): { before: number; after: number } {
  if (vertical) return { before: BESIDE_LANE, after: LABEL_GAP + labelWidth(label) };
  return { before: label === "" ? BESIDE_LANE : LABEL_HEIGHT + LABEL_GAP, after: 0 };
}

/** Whether an item has two labelled exits; the left one then has its label at the left. */
export function hasTwoLabels(exits: Exit[]): boolean {
  return exits.length === 2 && exits.every((exit) => exit.label !== "");
}

/** Key of everything that decides positions: equal plans share one layout. */
export function planKey(plan: Plan): string {
  const slots = plan.slots.map((slot) =>
    [
      slot.across,
      slot.along,
      slot.low,
      slot.high,
      slot.round ? 1 : 0,
      slot.terminal ? 1 : 0,
      slot.labelDepth,
      slot.exitStep,
    ]
      .concat(slot.ports === null ? [] : [-1, ...slot.ports.inputs, -2, ...slot.ports.outputs])
      // the width of a label decides the positions of its neighbours
      .concat(slot.exits.flatMap((exit) => [exit.net, exit.label === "" ? -1 : labelWidth(exit.label)]))
      .join(),
  );
  const wires = plan.wires.map(({ from, fromPort, to, toPort, net, trunk, spine }) =>
    [from, fromPort, to, toPort, net, trunk ? 1 : 0, spine ? 1 : 0].join(),
  );
  const returns = plan.returns.map((one) => [one.out, one.in, labelWidth(one.label), one.isAround ? 1 : 0].join());
  const { order } = plan;
  return [
    plan.vertical ? "TB" : "LR",
    plan.dense ? "dense" : "",
    plan.isNarrow ? "narrow" : "",
    order === null ? "" : JSON.stringify(order),
    plan.inputs,
    plan.outputs,
    returns.join(";"),
    slots.join(";"),
    wires.join(";"),
    plan.apart.join(";"),
    plan.streams.map(({ wire, beside }) => `${wire} ${beside}`).join(";"),
    plan.places.join(),
  ].join("|");
}
