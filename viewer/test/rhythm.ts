/** How even the distances are between boxes that follow each other in one container, with nothing between them. */
import type { Box, Layout, Placed } from "../src/layout/layout.js";

/** A distance along the flow; behind a label there is more room. */
export interface Gap {
  container: string;
  from: string;
  to: string;
  length: number;
  isLabelled: boolean;
}

interface Extent {
  low: number;
  high: number;
  start: number;
  end: number;
}

/** The gaps of a whole layout. */
export function gaps(layout: Layout): Gap[] {
  const found: Gap[] = [];
  const pending: Placed[] = [layout.root];
  for (const placed of pending) {
    found.push(...gapsIn(placed));
    pending.push(...placed.inner.filter((inner) => inner !== null));
  }
  return found;
}

/** For each container and kind of gap, the difference between its longest and its shortest gap. */
export function spreads(all: readonly Gap[]): number[] {
  const kinds = new Map<string, number[]>();
  for (const { container, isLabelled, length } of all) {
    const key = `${container} ${isLabelled}`;
    kinds.set(key, [...(kinds.get(key) ?? []), length]);
  }
  return [...kinds.values()].map((lengths) => Math.max(...lengths) - Math.min(...lengths));
}

function gapsIn({ frame, geometry }: Placed): Gap[] {
  const upright = frame.direction === "TB";
  const extent = ({ x, y, width, height }: Box): Extent =>
    upright
      ? { low: x, high: x + width, start: y, end: y + height }
      : { low: y, high: y + height, start: x, end: x + width };
  const boxes = geometry.boxes.map(extent);
  const levels = geometry.lines.flatMap((line) =>
    line.slice(1).flatMap(([x, y], i): Extent[] => {
      const [x0, y0] = line[i] ?? [x, y];
      const one = extent({ x: Math.min(x, x0), y: Math.min(y, y0), width: Math.abs(x - x0), height: Math.abs(y - y0) });
      return one.high - one.low > 1 ? [one] : [];
    }),
  );
  return frame.wires.flatMap(({ from, to, flow }, wire): Gap[] => {
    const [one, other] = [boxes[from], boxes[to]];
    const line = geometry.lines[wire] ?? [];
    if (one === undefined || other === undefined || flow === "return" || line.length !== 2) return [];
    const [start, end] = [Math.min(one.end, other.end), Math.max(one.start, other.start)];
    const gap = { low: Math.min(one.low, other.low), high: Math.max(one.high, other.high), start, end };
    const labels = geometry.labels.map(extent).filter((label) => isIn(gap, label));
    gap.low = Math.min(gap.low, ...labels.map(({ low }) => low));
    gap.high = Math.max(gap.high, ...labels.map(({ high }) => high));
    if ([...boxes, ...levels].some((shape) => isIn(gap, shape))) return [];
    return [
      {
        container: frame.id,
        from: frame.items[from]?.id ?? "",
        to: frame.items[to]?.id ?? "",
        length: gap.end - gap.start,
        isLabelled: labels.length > 0,
      },
    ];
  });
}

function isIn(gap: Extent, shape: Extent): boolean {
  return shape.low < gap.high && shape.high > gap.low && shape.start < gap.end - 1 && shape.end > gap.start + 1;
}
