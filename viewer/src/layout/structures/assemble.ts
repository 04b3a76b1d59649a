/** Joins the parts of a frame into one geometry. */
import type { Box, Geometry, Label } from "../coord/geometry.js";
import type { Inner } from "../input.js";
import { BLOCK, type Cut, type WirePiece } from "./cut.js";

/** All columns as one item. */
export interface ColumnBlock extends Inner {
  placed: Geometry[];
  /** Column → its distance from the left. */
  offsets: number[];
  /** Column → its distance from the top. */
  drops: number[];
  /** Tensor from one column to the next → the height where it turns below the first; absent if its lines meet. */
  levels?: number[];
}

type Point = Geometry["lines"][number][number];

/** A part in its place. */
interface Part {
  members: number[];
  geometry: Geometry;
  x: number;
  y: number;
  /** The least height at which its wires begin. */
  top: number;
}

/** @param around the geometry of the part around the columns */
export function assemble(made: Cut, block: ColumnBlock, around: Geometry): Geometry {
  const parts = partsOf(made, block, around);
  const boxes: Box[] = [];
  for (const part of parts) {
    for (const [i, item] of part.members.entries()) {
      const box = part.geometry.boxes[i];
      if (box !== undefined && item !== BLOCK) boxes[item] = shifted(box, part);
    }
  }
  const labels = parts.flatMap((part, at) =>
    part.geometry.labels.map((label): Label => {
      const isFirst = ([first]: WirePiece[]) => first?.part === at && first.wire === label.wire;
      return { ...shifted(label, part), wire: made.pieces.findIndex(isFirst) };
    }),
  );
  const rows = parts.flatMap(({ geometry, members }) =>
    geometry.rows.map((row) => row.map((i) => members[i] ?? BLOCK)),
  );
  const lines = made.pieces.map((pieces) => lineOf(made, block, parts, pieces));
  return { ...around, boxes, labels, lines, rows: rows.filter((row) => !row.includes(BLOCK)), shaped: true };
}

function partsOf({ members }: Cut, { placed, offsets, drops }: ColumnBlock, around: Geometry): Part[] {
  const outside = members[placed.length] ?? [];
  const { x, y } = around.boxes[outside.indexOf(BLOCK)] ?? { x: 0, y: 0 };
  const columns = placed.map(
    (geometry, i): Part => ({
      ...{ members: members[i] ?? [], geometry, top: y },
      ...{ x: x + (offsets[i] ?? 0), y: y + (drops[i] ?? 0) },
    }),
  );
  return [...columns, { members: outside, geometry: around, x: 0, y: 0, top: 0 }];
}

function shifted<T extends { x: number; y: number }>(one: T, { x, y }: Part): T {
  return { ...one, x: one.x + x, y: one.y + y };
}

function lineOf(made: Cut, block: ColumnBlock, parts: Part[], pieces: WirePiece[]): Point[] {
  const [start = [], end = []] = pieces.map(({ part, wire }) => {
    const { geometry, x, y, top } = parts[part] ?? { geometry: undefined, x: 0, y: 0, top: 0 };
    return (geometry?.lines[wire] ?? []).map(([px, py]): Point => [px + x, Math.max(py + y, top)]);
  });
  const [first, last] = pieces.map(({ part }) => part);
  const turns = block.levels !== undefined && last !== undefined && Math.max(first ?? 0, last) < block.placed.length;
  return turns ? turned(start, end, (parts[first ?? 0]?.y ?? 0) + levelOf(made, block, pieces)) : [...start, ...end];
}

/** From one column to the next: below the first, then in the gap to the height where it turns into the second. */
function turned(start: Point[], end: Point[], level: number): Point[] {
  const [[from] = [0], [to] = [0]] = [start[start.length - 1] ?? [0, 0], end[0] ?? [0, 0]];
  return [...start.slice(0, -1), [from, level], [to, level], ...end.slice(1)];
}

function levelOf({ parts, across }: Cut, { levels = [] }: ColumnBlock, [first, last]: WirePiece[]): number {
  const out = parts[first?.part ?? 0]?.wires[first?.wire ?? 0];
  const into = parts[last?.part ?? 0]?.wires[last?.wire ?? 0];
  const at = across.findIndex(
    ({ from, fromPort, to, toPort }) =>
      from === first?.part && fromPort === out?.toPort && to === last?.part && toPort === into?.fromPort,
  );
  return levels[at] ?? 0;
}
