/** Equal frames share their layout: the blocks of a stack differ only in the names of their tensors. */

import { memoByObject } from "../shared/memo.js";
import type { Steps } from "../shared/slices.js";
import type { Frame, Item, Wire } from "../view/frame.js";
import { holdsSteps } from "../view/repeats/contents.js";
import type { Geometry } from "./coord/geometry.js";
import { thumbSize } from "./coord/metrics.js";
import type { Order, PortOrder } from "./decross/order.js";
import { numberNets } from "./input.js";
import type { Arms } from "./structures/u/arms.js";

/** What frames with equal keys have in common. */
export interface SharedLayout {
  /** Item → the order of its ports. */
  ports: (PortOrder | null)[];
  /** The order of the items. */
  order: Order | null;
  /** The arms if they are drawn as a U. */
  arms: Arms | null;
  /** By the length of lines and the geometries of the open items; also those of single lines. */
  geometries: Map<string, Geometry>;
  /** Whether they have columns, which are narrow. */
  hasColumns: boolean;
  /** The width while all items are closed; null if none is open. */
  width: number | null;
}

/** A key of everything in a frame that decides positions, except the insides of its open items. */
export const frameKey = memoByObject((frame: Frame): string => {
  const { id, direction, items, wires, inputs, outputs, placing } = frame;
  const nets = numberNets(wires);
  let key = `${direction} ${holdsSteps(id)} ${items.length} ${inputs.length} ${outputs.length} ${JSON.stringify(placing)}`;
  for (const item of items) key += itemKey(item);
  wires.forEach((wire, i) => {
    key += wireKey(wire, nets[i] ?? 0);
  });
  return key;
});

/** Includes the lengths of texts, which may contain anything. */
function itemKey(item: Item): string {
  const {
    name,
    detail,
    kind,
    glyph,
    times,
    unrolled,
    loop,
    expandable,
    stack,
    marks,
    former,
    frame,
    notes = [],
    moreImages,
    narrow,
    letters = "",
    least,
    decides,
  } = item;
  const { width, height } = thumbSize(item);
  const is = `${loop ? "l" : ""}${expandable ? "e" : ""}${narrow ? "n" : ""}${stack ?? ""}${frame?.direction ?? ""}`;
  const sizes = `${kind} ${glyph ?? ""} ${times} ${unrolled} ${is} ${marks.join()} ${notes.join()} ${letters} ${least ?? ""} ${decides ?? ""} ${width} ${height} ${moreImages ?? ""}`;
  return `\n${sizes} ${name.length} ${detail.length} ${name}${detail}${former === undefined ? "" : JSON.stringify(former)}`;
}

function wireKey({ from, to, fromPort, toPort, flow, label }: Wire, net: number): string {
  return `\n${from} ${to} ${fromPort} ${toPort} ${net} ${flow} ${label.length} ${label}`;
}

/** Lays out a part of a frame unless there is a layout under its key. */
export type Once = (key: string, make: () => Steps<Geometry>) => Steps<Geometry>;

/** For equal frames with equal insides: with another length of lines, many lines stay. */
export function onceFor({ geometries }: SharedLayout, inside: string): Once {
  return function* (key, make) {
    const whole = `${key} ${inside}`;
    const geometry = geometries.get(whole) ?? (yield* make());
    geometries.set(whole, geometry);
    return geometry;
  };
}

let numbered = 0;

const numberOf = memoByObject((_: Geometry) => {
  numbered += 1;
  return numbered;
});

/** A key of the geometries of a frame's open items. */
export function innerKey(inner: readonly ({ geometry: Geometry } | null)[]): string {
  return inner.map((placed) => (placed === null ? "" : numberOf(placed.geometry))).join();
}
