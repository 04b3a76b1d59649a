/** How the wires of a wrapped flow run from line to line. */
import { append } from "../../graph/append.js";
import { BORDER, type Frame, type Wire } from "../../view/frame.js";
import type { Box, Geometry } from "../coord/geometry.js";
import { ANY_ORDER, crossings, type Order } from "../decross/order.js";

/** The lines of a flow, and the column whose items they are. */
export interface Lines {
  lines: Frame[];
  column: Frame;
  pieces: Pieces[];
  /** Line → the wires of the column that leave it, and the wires of the flow that enter or leave it. */
  leaving: Wire[][];
  crossing: number[][];
}

/** The pieces of a wire in its first line, between lines, and in its last line; -1 for none. */
export interface Pieces {
  start: number;
  first: number;
  between: number;
  end: number;
  last: number;
}

/** Output ports of a line that only later items of the next line read: these wires needn't go back to its start. */
export function onwardsOf({ lines, leaving }: Lines, line: number): number[] {
  const [next, own] = [lines[line + 1], leaving[line] ?? []];
  if (next === undefined || own.length === 0) return [];
  const later = readByLater(next);
  const back = new Set(
    own.flatMap(({ to, fromPort, toPort }) => (to === line + 1 && later.has(toPort) ? [] : fromPort)),
  );
  return [...new Set(own.map(({ fromPort }) => fromPort))].filter((port) => !back.has(port));
}

/** Input ports whose readers all read other items of their line too. */
function readByLater({ inputs, wires }: Frame): Set<number> {
  const later = new Set(wires.flatMap(({ from, to }) => (from === BORDER ? [] : [to])));
  const first = new Set(
    wires.flatMap(({ from, fromPort, to }) => (from !== BORDER || later.has(to) ? [] : [fromPort])),
  );
  return new Set(inputs.map((_, port) => port).filter((port) => !first.has(port)));
}

const NO_PIECES: Pieces = { start: BORDER, first: -1, between: -1, end: BORDER, last: -1 };

/** The order of a line within the whole flow; undefined if it has only one possible order. */
export function orderInWhole(
  { lines, pieces, crossing }: Lines,
  line: number,
  items: number[],
  whole: Geometry,
): Order | undefined {
  const boxes = items.flatMap((item) => whole.boxes[item] ?? []);
  const rows = rowsOf(boxes);
  const places: number[] = [];
  for (const row of rows) for (const [place, item] of row.entries()) places[item] = place;
  const [start, end] = [
    Math.min(...boxes.map(({ x }) => x)) - 1,
    Math.max(...boxes.map(({ x, width }) => x + width)) + 1,
  ];
  const [ins, outs] = [new Map<number, number>(), new Map<number, number>()];
  for (const wire of crossing[line] ?? []) {
    const { start: from, first, end: to, last } = pieces[wire] ?? NO_PIECES;
    const points = whole.lines[wire] ?? [];
    const [out, into] = [lines[line]?.wires[first], lines[line]?.wires[last]];
    if (to === line && into !== undefined) ins.set(into.fromPort, heightAt(points, start));
    if (from === line && out !== undefined) outs.set(out.toPort, heightAt(points, end));
  }
  if (rows.every(({ length }) => length === 1) && ins.size < 2 && outs.size < 2) return undefined;
  return { ...ANY_ORDER, rows, places, inputs: byHeight(ins), outputs: byHeight(outs), isStrict: true };
}

/** Boxes in columns, from the top. */
function rowsOf(boxes: Box[]): number[][] {
  const columns = new Map<number, number[]>();
  for (const [i, { x, width }] of boxes.entries()) append(columns, Math.round(x + width / 2), i);
  const middle = (item: number) => (boxes[item]?.y ?? 0) + (boxes[item]?.height ?? 0) / 2;
  return [...columns.values()].map((row) => row.sort((a, b) => middle(a) - middle(b)));
}

function byHeight(ports: Map<number, number>): number[][] {
  return [...ports].sort(([, a], [, b]) => a - b).map(([port]) => [port]);
}

/** The height of a line at a place. */
function heightAt(line: Geometry["lines"][number], x: number): number {
  const after = line.findIndex(([at]) => at >= x);
  return (line[after < 0 ? line.length - 1 : after] ?? [0, 0])[1];
}

/** Number of crossings between two lines. */
export function crossingsBetween({ leaving }: Lines, line: number, before: Geometry, here: Geometry): number {
  const ends = (leaving[line - 1] ?? [])
    .filter(({ to }) => to === line)
    .map(({ fromPort, toPort }) => [before.ports.outputs[fromPort] ?? 0, here.ports.inputs[toPort] ?? 0] as const);
  return ends.reduce(
    (sum, [out, into], i) => sum + ends.slice(i + 1).filter((end) => (out - end[0]) * (into - end[1]) < 0).length,
    0,
  );
}

/** Length of wire that is as hard to follow as one crossing. */
const LONG = 1000;

/** How hard it is to follow the wires of a container. */
export function tangleIn(geometry: Geometry, frame: Frame): number {
  const lengths = geometry.lines.map((line) =>
    line.slice(1).reduce((sum, [x, y], i) => {
      const [x0, y0] = line[i] ?? [x, y];
      return sum + Math.abs(x - x0) + Math.abs(y - y0);
    }, 0),
  );
  return crossings(geometry, frame) + lengths.reduce((sum, length) => sum + length, 0) / LONG;
}
