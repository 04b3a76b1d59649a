/**
 * Breaks a left-to-right flow that is wider than the page into lines, like text. Lines are laid out separately and then
 * stacked as items of a column; the result is an ordinary geometry.
 */

import { mapSteps, type Steps } from "../../shared/slices.js";
import { BORDER, type Frame, type Wire } from "../../view/frame.js";
import type { Box, Geometry, Label } from "../coord/geometry.js";
import type { Along } from "../coord/perpendicular.js";
import { crossings, type Order } from "../decross/order.js";
import type { Inner } from "../input.js";
import type { Once } from "../shared_layout.js";
import { crossingsBetween, type Lines, onwardsOf, orderInWhole, type Pieces, tangleIn } from "./line_order.js";

/** Cost of a wire between lines, relative to that of a line. */
const CROSSING = 0.25;

/** Lays out a line, the last line, whose wires go on from its end, or the column of all lines. */
type PlaceLine = (
  kind: "line" | "last" | "column",
  frame: Frame,
  inner: (Inner | null)[],
  along?: Along,
  order?: Order,
) => Steps<Geometry>;

/** A frame with its layout as one line, the width up to which that is kept, and the line length and width to aim at, px. */
export interface Whole {
  frame: Frame;
  inner: (Inner | null)[];
  geometry: Geometry;
  enough: number;
  longest: number;
  widest: number;
  once: Once;
}

/** Labels and wires around lines vary, so that lines may have to be shorter. */
const MOST_TRIES = 4;

/** The geometry of a frame in lines; null if one line is enough or the frame cannot be broken. */
export function* wrapped(whole: Whole, place: PlaceLine): Steps<Geometry | null> {
  const { frame, geometry, widest } = whole;
  if (frame.direction !== "LR" || geometry.width <= whole.enough || frame.items.length < 2) return null;
  const tried: Geometry[] = [];
  let { longest } = whole;
  let before = "";
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    const lineOf = breakLines(frame, geometry.boxes, longest);
    // shorter lines may break at the same places
    if (lineOf.join() === before) break;
    before = lineOf.join();
    const made = yield* inLines(whole, lineOf, place);
    if (made === null || made.width >= (tried.at(-1)?.width ?? Number.POSITIVE_INFINITY)) break;
    tried.push(made);
    if (made.width <= widest) break;
    longest -= made.width - widest;
  }
  return yield* untangled(whole, tried, place);
}

/** With more crossings, lines of other lengths are tried. */
const A_TANGLE = 8;
const OTHER_LENGTHS = [1.2, 0.8] as const;
/** Lines that are longer by this factor are still legible in a column. */
export const LEGIBLE_STRETCH = 822 / 740;

/** The narrowest lines or, if too many wires cross there, the least tangled ones of about that width. */
function* untangled(whole: Whole, tried: Geometry[], place: PlaceLine): Steps<Geometry | null> {
  const narrowest = tried.at(-1) ?? null;
  if (narrowest === null || crossings(narrowest, whole.frame) <= A_TANGLE) return narrowest;
  const tangled = (one: Geometry) => tangleIn(one, whole.frame);
  const others = yield* mapSteps(OTHER_LENGTHS, (factor) =>
    inLines(whole, breakLines(whole.frame, whole.geometry.boxes, whole.longest * factor), place),
  );
  const most = Math.max(narrowest.width, whole.widest * LEGIBLE_STRETCH);
  return [...tried, ...others]
    .filter((one): one is Geometry => one !== null && one.width <= most)
    .reduce((best, one) => (tangled(one) < tangled(best) ? one : best), narrowest);
}

function* inLines(
  { frame, inner, geometry: whole, once }: Whole,
  lineOf: number[],
  place: PlaceLine,
): Steps<Geometry | null> {
  const count = Math.max(...lineOf) + 1;
  if (count < 2 || frame.wires.some(({ from, to, flow }) => flow === "return" && lineOf[from] !== lineOf[to]))
    return null;
  return yield* once(`lines ${lineOf}`, function* () {
    const made = cut(frame, lineOf, count);
    const members = made.lines.map((_, line) =>
      whole.boxes.flatMap((_, item) => (lineOf[item] === line ? [item] : [])),
    );
    const placed: Geometry[] = [];
    for (const [i, line] of made.lines.entries()) {
      const [kind, items] = [i === count - 1 ? ("last" as const) : ("line" as const), members[i] ?? []];
      const parts = items.map((item) => inner[item] ?? null);
      const along = { onwards: onwardsOf(made, i), fromAbove: i > 0 };
      const lay = (order?: Order) =>
        once(`${kind} ${items} ${JSON.stringify([along, order])}`, () => place(kind, line, parts, along, order));
      placed.push(yield* leastCrossed(made, i, placed[i - 1], lay, orderInWhole(made, i, items, whole)));
    }
    return assemble(yield* place("column", made.column, placed), placed, members, made.pieces);
  });
}

/** A line in its order within the whole, or in another one if fewer wires cross. */
function* leastCrossed(
  made: Lines,
  line: number,
  before: Geometry | undefined,
  lay: (order?: Order) => Steps<Geometry>,
  inWhole: Order | undefined,
): Steps<Geometry> {
  const [kept, frame] = [yield* lay(inWhole), made.lines[line]];
  if (frame === undefined || inWhole === undefined) return kept;
  const crossed = (one: Geometry) =>
    crossings(one, frame) + (before === undefined ? 0 : crossingsBetween(made, line, before, one));
  if (crossed(kept) === 0) return kept;
  const free = yield* lay();
  return crossed(free) < crossed(kept) ? free : kept;
}

/** Item → its line. Lines break between columns of boxes where few wires cross, and are well filled. */
function breakLines(frame: Frame, boxes: Box[], longest: number): number[] {
  const centre = (box: Box) => Math.round(box.x + box.width / 2);
  const places = [...new Set(boxes.map(centre))].sort((a, b) => a - b);
  const columnOf = boxes.map((box) => places.indexOf(centre(box)));
  const low = places.map((at) => Math.min(...boxes.filter((box) => centre(box) === at).map((box) => box.x)));
  const high = places.map((at) =>
    Math.max(...boxes.filter((box) => centre(box) === at).map((box) => box.x + box.width)),
  );
  const crossing = places.map((_, column) => {
    const over = frame.wires.filter(({ from, to }) => (columnOf[from] ?? 0) < column && (columnOf[to] ?? 0) >= column);
    return new Set(over.map((wire) => `${wire.from} ${wire.source}`)).size;
  });
  const lengthOf = (start: number, last: number) => ((high[last] ?? 0) - (low[start] ?? 0)) / longest;
  const starts = cheapestLines(places.length, lengthOf, crossing);
  return columnOf.map((column) => starts.filter((start) => start <= column).length - 1);
}

/** First column of each line, at the lowest cost. `lengthOf` is relative to a full line. */
function cheapestLines(
  columns: number,
  lengthOf: (start: number, last: number) => number,
  crossing: number[],
): number[] {
  // dynamic programming: column → the cheapest break of the columns before it
  const best = [{ cost: 0, start: 0 }];
  for (let last = 0; last < columns; last += 1) {
    let choice = { cost: Number.POSITIVE_INFINITY, start: last };
    for (let start = last; start === last || (start >= 0 && lengthOf(start, last) <= 1); start -= 1) {
      const empty = 1 - Math.min(1, lengthOf(start, last));
      const cost = (best[start]?.cost ?? 0) + CROSSING * (crossing[start] ?? 0) + 1 + empty * empty;
      if (cost < choice.cost) choice = { cost, start };
    }
    best.push(choice);
  }
  const starts: number[] = [];
  for (let at = columns; at > 0; at = best[at]?.start ?? 0) starts.unshift(best[at]?.start ?? 0);
  return starts;
}

/** The frame of each line, and of the column of lines; wires between lines cross their borders. */
function cut(frame: Frame, lineOf: number[], count: number): Lines {
  const empty = (id: string, direction: Frame["direction"]): Frame => ({
    ...{ id, direction, items: [], wires: [], inputs: [], outputs: [] },
  });
  const lines = Array.from({ length: count }, (_, line) => empty(`${frame.id} line ${line}`, "LR"));
  const place = frame.items.map((item, i) => (lines[lineOf[i] ?? 0]?.items.push(item) ?? 1) - 1);
  const column: Frame = {
    ...frame,
    direction: "TB",
    // each line becomes an expanded item, whose other properties don't matter
    items: lines.flatMap((line) => frame.items.slice(0, 1).map((item) => ({ ...item, id: line.id, frame: line }))),
    wires: [],
  };
  const pieces = frame.wires.map((wire) => {
    const [start, end] = [lineOf[wire.from] ?? BORDER, lineOf[wire.to] ?? BORDER];
    const ends = { from: place[wire.from] ?? BORDER, to: place[wire.to] ?? BORDER };
    const none: Pieces = { start, first: -1, between: -1, end, last: -1 };
    const [one, other] = [lines[start], lines[end]];
    if (one !== undefined && start === end) return { ...none, first: add(one, { ...wire, ...ends }) };
    const net = `${wire.from} ${wire.source}`;
    const out = one === undefined ? wire.fromPort : port(one.outputs, net);
    const into = other === undefined ? wire.toPort : port(other.inputs, net);
    const across = { ...wire, source: net };
    return {
      ...none,
      first: one === undefined ? -1 : add(one, { ...wire, from: ends.from, to: BORDER, toPort: out }),
      between: add(column, { ...across, from: start, to: end, fromPort: out, toPort: into }),
      last: other === undefined ? -1 : add(other, { ...across, from: BORDER, fromPort: into, to: ends.to }),
    };
  });
  const [leaving, crossing] = [lines.map((): Wire[] => []), lines.map((): number[] => [])];
  for (const wire of column.wires) leaving[wire.from]?.push(wire);
  for (const [wire, { start, end, between }] of pieces.entries())
    if (between >= 0) for (const line of [start, end]) crossing[line]?.push(wire);
  return { lines, column, pieces, leaving, crossing };
}

function port(ports: string[], net: string): number {
  const known = ports.indexOf(net);
  return known >= 0 ? known : ports.push(net) - 1;
}

/** Add a wire unless the frame has an equal one; returns its position. */
function add(frame: Frame, wire: Wire): number {
  const same = ({ from, to, fromPort, toPort, source }: Wire) =>
    from === wire.from &&
    to === wire.to &&
    fromPort === wire.fromPort &&
    toPort === wire.toPort &&
    source === wire.source;
  const known = frame.wires.findIndex(same);
  return known >= 0 ? known : frame.wires.push(wire) - 1;
}

function assemble(together: Geometry, placed: Geometry[], members: number[][], pieces: Pieces[]): Geometry {
  const boxes: Box[] = [];
  const labels: Label[] = [];
  members.forEach((items, line) => {
    const { x = 0, y = 0 } = together.boxes[line] ?? {};
    items.forEach((item, i) => {
      const box = placed[line]?.boxes[i];
      if (box !== undefined) boxes[item] = { ...box, x: box.x + x, y: box.y + y };
    });
    for (const label of placed[line]?.labels ?? []) {
      const wire = pieces.findIndex(({ start, first }) => start === line && first === label.wire);
      labels.push({ ...label, x: label.x + x, y: label.y + y, wire });
    }
  });
  const piece = (line: number, wire: number) => {
    const { x = 0, y = 0 } = together.boxes[line] ?? {};
    return (placed[line]?.lines[wire] ?? []).map(([px, py]) => [px + x, py + y] as const);
  };
  const lines = pieces.map(({ start, first, between, end, last }) => [
    ...piece(start, first),
    ...(together.lines[between] ?? []),
    ...piece(end, last),
  ]);
  return { ...together, boxes, labels, lines };
}
