/** Counts the overlaps in a layout, container by container. */
import type { Box, Layout, Placed } from "../src/layout/layout.js";
import type { Wire } from "../src/view/frame.js";

export interface Faults {
  /** Items that overlap, or leave their container. */
  items: number;
  /** Wires through items that are not their ends. */
  wiresThroughItems: number;
  /** Labels that overlap each other, items or wires of other tensors. */
  labels: number;
  labelsOnItems: number;
  labelsOnWires: number;
  /** Titles that overlap wires or items. */
  titles: number;
  /** Segments that two tensors share. */
  shared: number;
  /** Not faults, but totals to compare them with. */
  wires: number;
  crossings: number;
}

export const NO_FAULTS = { items: 0, wiresThroughItems: 0, labels: 0, labelsOnItems: 0, labelsOnWires: 0, titles: 0 };

interface Segment extends Box {
  wire: number;
  net: string;
  upright: boolean;
  first: boolean;
  last: boolean;
  /** Where it leads to. */
  end: [number, number];
}

const SLACK = 0.6;
/** Lines of different tensors closer than this over more than `LONG` look like one. */
const TOUCHING = 2;
const LONG = 4;

/** Check a whole layout. */
export function validate(layout: Layout): Faults {
  const faults: Faults = { ...NO_FAULTS, shared: 0, wires: 0, crossings: 0 };
  const stack: Placed[] = [layout.root];
  for (let placed = stack.pop(); placed !== undefined; placed = stack.pop()) {
    const segments = segmentsOf(placed);
    checkItems(placed, faults);
    checkWires(placed, segments, faults);
    checkLabels(placed, segments, faults);
    checkTitle(placed, segments, faults);
    checkSharing(placed.frame.wires, segments, faults);
    faults.wires += placed.frame.wires.length;
    stack.push(...placed.inner.filter((inner) => inner !== null));
  }
  return faults;
}

function segmentsOf(placed: Placed): Segment[] {
  return placed.geometry.lines.flatMap((line, wire) => {
    const carried = placed.frame.wires[wire];
    return line.slice(1).map(([x1, y1], i): Segment => {
      const [x0, y0] = line[i] ?? [x1, y1];
      return {
        ...{ x: Math.min(x0, x1), y: Math.min(y0, y1), width: Math.abs(x1 - x0), height: Math.abs(y1 - y0) },
        ...{ wire, net: netOf(carried), upright: Math.abs(x1 - x0) < 2 },
        ...{ first: i === 0, last: i + 2 === line.length, end: [x1, y1] },
      };
    });
  });
}

/** Key of a wire's tensor. */
function netOf(wire: Wire | undefined): string {
  return `${wire?.from} ${wire?.source}`;
}

function overlap(a: Box, b: Box, slack = SLACK): boolean {
  return (
    a.x < b.x + b.width - slack &&
    b.x < a.x + a.width - slack &&
    a.y < b.y + b.height - slack &&
    b.y < a.y + a.height - slack
  );
}

/** Whether a segment runs through the inside of a box. */
function hits(segment: Segment, box: Box): boolean {
  return (
    segment.x < box.x + box.width - SLACK &&
    segment.x + segment.width > box.x + SLACK &&
    segment.y < box.y + box.height - SLACK &&
    segment.y + segment.height > box.y + SLACK
  );
}

function checkItems({ geometry }: Placed, faults: Faults): void {
  const { boxes, width, height } = geometry;
  boxes.forEach((box, i) => {
    const inside =
      box.x >= -SLACK && box.y >= -SLACK && box.x + box.width <= width + SLACK && box.y + box.height <= height + SLACK;
    if (!inside) faults.items += 1;
    faults.items += boxes.slice(i + 1).filter((other) => overlap(box, other)).length;
  });
}

function checkWires({ frame, geometry }: Placed, segments: Segment[], faults: Faults): void {
  for (const segment of segments) {
    const wire = frame.wires[segment.wire];
    geometry.boxes.forEach((box, i) => {
      const own = (segment.first && wire?.from === i) || (segment.last && wire?.to === i);
      if (!own && hits(segment, box)) faults.wiresThroughItems += 1;
    });
    const outside =
      segment.x < -SLACK ||
      segment.y < -SLACK ||
      segment.x + segment.width > geometry.width + SLACK ||
      segment.y + segment.height > geometry.height + SLACK;
    if (outside) faults.wiresThroughItems += 1;
  }
}

function checkLabels({ frame, geometry }: Placed, segments: Segment[], faults: Faults): void {
  geometry.labels.forEach((label, i) => {
    faults.labels += geometry.labels.slice(i + 1).filter((other) => overlap(label, other)).length;
    faults.labelsOnItems += geometry.boxes.filter((box) => overlap(label, box)).length;
    const net = netOf(frame.wires[label.wire]);
    faults.labelsOnWires += segments.filter(
      (segment) => hits(segment, label) && (segment.net !== net || segment.upright),
    ).length;
    if (label.x + label.width > geometry.width || label.x < 0) faults.labels += 1;
  });
}

function checkTitle({ geometry }: Placed, segments: Segment[], faults: Faults): void {
  const { title } = geometry;
  if (title === null) return;
  faults.titles += segments.filter((segment) => hits(segment, title)).length;
  faults.titles += [...geometry.boxes, ...geometry.labels].filter((box) => overlap(box, title)).length;
  if (title.x + title.width > geometry.width) faults.titles += 1;
}

function checkSharing(wires: Wire[], segments: Segment[], faults: Faults): void {
  segments.forEach((a, i) => {
    for (const b of segments.slice(i + 1)) {
      if (a.net === b.net) continue;
      if (a.upright !== b.upright) faults.crossings += Number(overlap(a, b, 0));
      else if (!joins(wires, a, b)) faults.shared += Number(isShared(a, b));
    }
  });
}

/** Whether wires into one port, as those of a series, meet for good: they share their way from here to the port. */
function joins(wires: Wire[], a: Segment, b: Segment): boolean {
  const [one, other] = [wires[a.wire], wires[b.wire]];
  const port = one?.toPort ?? -1;
  const meet = Math.hypot(a.end[0] - b.end[0], a.end[1] - b.end[1]) < TOUCHING;
  return meet && port >= 0 && one?.to === other?.to && port === other?.toPort;
}

function isShared(a: Segment, b: Segment): boolean {
  const apart = a.upright ? Math.abs(a.x - b.x) : Math.abs(a.y - b.y);
  const from = a.upright ? Math.max(a.y, b.y) : Math.max(a.x, b.x);
  const to = a.upright ? Math.min(a.y + a.height, b.y + b.height) : Math.min(a.x + a.width, b.x + b.width);
  return apart < TOUCHING && to - from > LONG;
}
