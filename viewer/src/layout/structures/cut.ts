/** Cuts a frame into columns and the part around them, each a frame of its own. */
import { BORDER, type Frame, type Wire } from "../../view/frame.js";

export interface Cut {
  /** The columns and, last, the frame around them, in which they are one item. */
  parts: Frame[];
  /** Part → its items; `BLOCK` for all columns. */
  members: number[][];
  /** Wire → its pieces, from source to target. */
  pieces: WirePiece[][];
  /** Ports of the columns as one item. */
  ports: { inputs: Port[]; outputs: Port[] };
  /** Tensors that go from one column to another. */
  across: Transfer[];
}

export interface WirePiece {
  part: number;
  wire: number;
}

export interface Port {
  column: number;
  port: number;
}

export interface Transfer {
  from: number;
  fromPort: number;
  to: number;
  toPort: number;
}

/** The item that stands for all columns. */
export const BLOCK = -2;

/**
 * Cut a frame; null if columns can't be one item, because something both follows and precedes them. A column has one port
 * for each tensor that leaves it; with `apart`, one for each tensor and each part that it leads to.
 */
export function cut(frame: Frame, columns: readonly (readonly number[])[], apart = false): Cut | null {
  const partOf = frame.items.map((_, i) => columns.findIndex((column) => column.includes(i)));
  const isOutside = (item: number) => partOf[item] === -1;
  const before = itemsBefore(frame, isOutside);
  const isTorn = ({ from, to, flow }: Wire) => flow === "return" && partOf[from] !== partOf[to];
  if (before === null || frame.wires.some(isTorn)) return null;
  const rest = frame.items.flatMap((_, i) => (isOutside(i) ? [i] : []));
  const order = [...rest.filter((i) => before.has(i)), BLOCK, ...rest.filter((i) => !before.has(i))];
  const made: Cut = {
    parts: columns.map((column, i) => partFrame(frame, `${frame.id} column ${i}`, column)),
    members: [...columns.map((column) => [...column]), order],
    ...{ pieces: [], ports: { inputs: [], outputs: [] }, across: [] },
  };
  made.parts.push({ ...partFrame(frame, frame.id, order), inputs: frame.inputs, outputs: frame.outputs });
  made.pieces = frame.wires.map((wire) => piecesOf(made, partOf, wire, apart));
  return made;
}

function partFrame(frame: Frame, id: string, members: readonly number[]): Frame {
  const items = members.flatMap((item) => frame.items[item] ?? frame.items.slice(0, 1).map(asBlock));
  return { id, direction: "TB", items, wires: [], inputs: [], outputs: [] };
}

/** All columns as an expanded item, whose other properties don't matter. */
function asBlock(item: Frame["items"][number]): Frame["items"][number] {
  const inside: Frame = { id: "", direction: "TB", items: [], wires: [], inputs: [], outputs: [] };
  return { ...item, kind: "group", glyph: null, times: 1, frame: inside };
}

/** The items outside the columns that lead to one; null if any of them also follows one. */
function itemsBefore({ items, wires }: Frame, isOutside: (item: number) => boolean): Set<number> | null {
  const onwards = wires.filter(({ from, to, flow }) => flow !== "return" && from !== BORDER && to !== BORDER);
  const before = new Set<number>();
  // wires lead to later items
  for (const { from, to } of onwards.sort((a, b) => b.from - a.from))
    if (isOutside(from) && (!isOutside(to) || before.has(to))) before.add(from);
  const comesBack = onwards.some(({ from, to }) => !isOutside(from) && before.has(to));
  return comesBack || items.length === 0 ? null : before;
}

function piecesOf(made: Cut, partOf: number[], wire: Wire, apart: boolean): WirePiece[] {
  const { parts, members, ports } = made;
  const around = parts.length - 1;
  const ends = [wire.from, wire.to].map((item) => (item === BORDER ? around : partOf[item])) as [number, number];
  const [start, end] = ends.map((part) => (part === -1 ? around : part)) as [number, number];
  const at = (part: number, item: number) => (item === BORDER ? BORDER : (members[part]?.indexOf(item) ?? BORDER));
  const [from, to] = [at(start, wire.from), at(end, wire.to)];
  if (start === end) return [pieceIn(made, start, { ...wire, from, to })];
  const source = `${wire.from} ${wire.source}`;
  const block = at(around, BLOCK);
  const pieces: WirePiece[] = [];
  const between = { ...wire, from, to };
  if (start !== around) {
    between.fromPort = positionIn(parts[start]?.outputs ?? [], apart ? `${end} ${source}` : source);
    pieces.push(pieceIn(made, start, { ...wire, from, to: BORDER, toPort: between.fromPort }));
  }
  if (end !== around) between.toPort = positionIn(parts[end]?.inputs ?? [], source);
  const arrival: Wire = { ...wire, from: BORDER, fromPort: between.toPort, to, source };
  if (start !== around && end !== around) {
    portIn(made.across, { from: start, fromPort: between.fromPort, to: end, toPort: between.toPort });
    return [...pieces, pieceIn(made, end, arrival)];
  }
  if (start !== around) {
    const fromPort = portIn(ports.outputs, { column: start, port: between.fromPort });
    return [...pieces, pieceIn(made, around, { ...between, from: block, fromPort, source })];
  }
  const toPort = portIn(ports.inputs, { column: end, port: between.toPort });
  return [pieceIn(made, around, { ...between, to: block, toPort }), pieceIn(made, end, arrival)];
}

function positionIn(ports: string[], source: string): number {
  const known = ports.indexOf(source);
  return known >= 0 ? known : ports.push(source) - 1;
}

function portIn<T extends object>(ports: T[], port: T): number {
  const key = JSON.stringify(port);
  const known = ports.findIndex((other) => JSON.stringify(other) === key);
  return known >= 0 ? known : ports.push(port) - 1;
}

const ENDS = ["from", "to", "fromPort", "toPort", "source"] as const;

/** Adds a wire to a part unless it has an equal one. */
function pieceIn({ parts }: Cut, part: number, wire: Wire): WirePiece {
  const wires = parts[part]?.wires ?? [];
  const known = wires.findIndex((other) => ENDS.every((end) => other[end] === wire[end]));
  return { part, wire: known >= 0 ? known : wires.push(wire) - 1 };
}
