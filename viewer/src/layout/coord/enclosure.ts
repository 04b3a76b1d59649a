/** Borders, padding and titles around the flow of a container, and the wires through them. */

import { BORDER, type Item } from "../../view/frame.js";
import type { Direction } from "../../view/state.js";
import type { Ranking } from "../layering/dot.js";
import type { Plan } from "../plan.js";
import type { Point, Routed } from "../routing/route.js";
import type { Box, Ports, Title } from "./geometry.js";
import { ceilTo, GRID, TITLE_LINE, TITLE_PADDING, type TitleForm, titleForms } from "./metrics.js";
import { type Along, type Turned, turn } from "./perpendicular.js";

export const MARGIN = 8;
export const PADDING = 16;
/** Padding at the sides of a narrow container. */
const NARROW_PADDING = 12;
/** Distance between a title and the first row. */
const BELOW_TITLE = 8;
/** Forms of titles in containers with room. */
const USUAL_FORMS = 2;

export interface Enclosure {
  width: number;
  height: number;
  /** Offset of flow coordinates. */
  across: number;
  along: number;
  title: Title | null;
  ports: Ports;
  /** Input port → the first points of its wires, output port → their last, in flow coordinates. */
  entries: Point[][];
  exits: Point[][];
}

/** Ports where the flow reaches the border, with straight wires. */
function straightOn(
  planned: Plan,
  ranking: Ranking,
  { width, height, across, along }: Omit<Box, "x" | "y"> & { across: number; along: number },
): Pick<Enclosure, "ports" | "entries" | "exits"> {
  const end = (planned.vertical ? height : width) - along;
  return {
    ports: {
      inputs: ranking.inputs.map((place) => place + across),
      outputs: ranking.outputs.map((place) => place + across),
    },
    entries: ranking.inputs.map((place) => [[place, -along]]),
    exits: ranking.outputs.map((place) => [[place, end]]),
  };
}

interface Surroundings {
  item: Item | null;
  /** The direction of the parent frame. */
  around: Direction;
  leavesAtEnd?: boolean;
  /** How the wires of a line lead to later items and to the next line. */
  alongLine?: Along;
  /** Whether width is scarce. */
  isNarrow?: boolean;
}

/** The container around a routed flow. */
export function enclose(
  planned: Plan,
  ranking: Ranking,
  routed: Routed,
  { item, around, leavesAtEnd = false, isNarrow = false, alongLine }: Surroundings,
): Enclosure {
  const turns = (around === "TB") !== planned.vertical;
  if (!turns) return encloseStraight(planned, ranking, routed, item, isNarrow);
  const leaves = leavesAtEnd ? "end" : item !== null && isStep(item) ? "step" : "start";
  return encloseTurned(item, turn(planned, ranking, routed, leaves, alongLine), planned.vertical);
}

/** A container in its parent's direction. */
function encloseStraight(
  planned: Plan,
  ranking: Ranking,
  routed: Routed,
  item: Item | null,
  isNarrow: boolean,
): Enclosure {
  const span = routed.high - routed.low;
  if (item === null) {
    const across = ceilTo(span + 2 * MARGIN, 2 * GRID);
    const along = ceilTo(routed.depth + 2 * MARGIN, 2 * GRID);
    const shift = Math.round((across - span) / 2 - routed.low);
    const [width, height] = planned.vertical ? [across, along] : [along, across];
    const size = { width, height, across: shift, along: MARGIN };
    return { ...size, title: null, ...straightOn(planned, ranking, size) };
  }
  return planned.vertical
    ? encloseBelow(planned, ranking, routed, item, isNarrow)
    : encloseRight(planned, ranking, routed, item);
}

/** Top to bottom: wires cross the header, so the title is placed beside them. */
function encloseBelow(planned: Plan, ranking: Ranking, routed: Routed, item: Item, isNarrow: boolean): Enclosure {
  const padding = isNarrow ? NARROW_PADDING : PADDING;
  const low = routed.low - padding;
  const width = ceilTo(routed.high - routed.low + 2 * padding, 2 * GRID);
  const entries = ranking.inputs.map((place) => place - low);
  const { title, missing, behind } = titleSpot(titleForms(item, isNarrow), entries, width, isNarrow);
  // wires that run straight beside the title need no space below it
  const below = routed.straight > 0 ? BELOW_TITLE - routed.straight : 0;
  const header = TITLE_PADDING + title.height + GRID + below;
  const height = ceilTo(header + routed.depth + (planned.outputs > 0 ? 0 : PADDING), GRID);
  const size = { width: width + missing + behind, height, across: missing - low, along: header };
  return { ...size, title, ...straightOn(planned, ranking, size) };
}

interface Spot {
  title: Title;
  /** Missing width at the left, and at the right. */
  missing: number;
  behind: number;
}

/** In a narrow container, a title line costs as much as this width. */
const LINE_FOR_WIDTH = 12;

/**
 * Where the title goes: left of all entries in one line or two, else right of them, else between two of them, else in a
 * container made wider on the left or, if several wires enter and less is missing there, on the right. A narrow container
 * grows as little as possible, because its title may have more lines.
 */
function titleSpot(all: readonly TitleForm[], entries: number[], width: number, isNarrow: boolean): Spot {
  const forms = all.slice(0, USUAL_FORMS);
  const room = (form: TitleForm) => form.width + 2 * TITLE_PADDING;
  const edges = [0, ...[...entries].sort((a, b) => a - b), width];
  const gaps = edges.slice(1).map((end, i) => ({ start: edges[i] ?? 0, length: end - (edges[i] ?? 0) }));
  const [first = { start: 0, length: width }, ...others] = gaps;
  for (const gap of [first, ...others.reverse()]) {
    const form = forms.findIndex((one) => room(one) <= gap.length);
    if (form >= 0) return { title: titleAt(gap.start, all, form), missing: 0, behind: 0 };
  }
  const [last = first] = others;
  const spots = (isNarrow ? all : forms.slice(-1)).flatMap((one, i) => {
    const form = isNarrow ? i : forms.length - 1;
    const lacks = ({ length }: { length: number }) => Math.max(0, ceilTo(room(one) - length, 2 * GRID));
    return [
      { title: titleAt(0, all, form), missing: lacks(first), behind: 0 },
      { title: titleAt(last.start, all, form), missing: 0, behind: lacks(last) },
    ].slice(0, isNarrow || entries.length > 1 ? 2 : 1);
  });
  const cost = ({ title, missing, behind }: Spot) => missing + behind + (LINE_FOR_WIDTH * title.height) / TITLE_LINE;
  return spots.reduce((best, spot) => (cost(spot) < cost(best) ? spot : best));
}

/** The title in one of its forms, at the start of a gap between entries. */
export function titleAt(start: number, forms: readonly TitleForm[], form: number): Title {
  const { lines = 1, width = 0 } = forms[form] ?? {};
  return { x: start + TITLE_PADDING, y: TITLE_PADDING - 2, width, height: lines * TITLE_LINE, form };
}

/** Left to right: the title is in a separate header. */
function encloseRight(planned: Plan, ranking: Ranking, routed: Routed, item: Item): Enclosure {
  const [form] = titleForms(item, false);
  const header = TITLE_PADDING + form.lines * TITLE_LINE + GRID;
  const before = planned.inputs > 0 ? 0 : PADDING;
  const after = planned.outputs > 0 ? 0 : PADDING;
  const width = ceilTo(Math.max(before + routed.depth + after, form.width + 2 * TITLE_PADDING), 2 * GRID);
  const height = ceilTo(header + PADDING / 2 + (routed.high - routed.low) + PADDING, 2 * GRID);
  const title = titleAt(0, [form], 0);
  const size = { width, height, across: header + PADDING / 2 - routed.low, along: before };
  return { ...size, title, ...straightOn(planned, ranking, size) };
}

/** A container across its parent's direction: wires enter and leave beside the start of its flow. */
function encloseTurned(item: Item | null, turned: Turned, vertical: boolean): Enclosure {
  const [x0, x1] = vertical ? [turned.low, turned.high] : [turned.from, turned.to];
  const [y0, y1] = vertical ? [turned.from, turned.to] : [turned.low, turned.high];
  const padding = item === null ? 0 : PADDING;
  // wires from above run beside the title
  const entries = vertical ? [] : [...turned.inputs, ...turned.outputs].map((place) => place - x0 + padding);
  const { header, missing, title, width } = headerOf(item, entries, ceilTo(x1 - x0 + 2 * padding, 2 * GRID));
  const height = ceilTo(header + (y1 - y0) + padding, GRID);
  const [x, y] = [padding + missing - x0, header - y0];
  const [across, along] = vertical ? [x, y] : [y, x];
  const ports: Ports = {
    inputs: turned.inputs.map((place) => place + along),
    outputs: turned.outputs.map((place) => place + along),
  };
  const end = (vertical ? width : height) - across;
  return {
    ...{ width, height, across, along, title, ports },
    entries: turned.entries.map((line) => [[-across, line[0]?.[1] ?? 0], ...line.slice(1)]),
    exits: turned.exits.map((line) => [...line.slice(0, -1), [end, line[line.length - 1]?.[1] ?? 0]]),
  };
}

/** The header of a container across its parent's direction; empty for the lines of a wrapped flow. */
function headerOf(
  item: Item | null,
  entries: number[],
  inner: number,
): { header: number; missing: number; width: number; title: Title | null } {
  if (item === null) return { header: 0, missing: 0, width: inner, title: null };
  const { title, missing, behind } = titleSpot(titleForms(item, false), entries, inner, false);
  return {
    header: TITLE_PADDING + title.height + BELOW_TITLE,
    ...{ missing, width: inner + missing + behind, title },
  };
}

/** Whether an item is a step of an unrolled loop: its states leave where they enter. */
export function isStep(item: Item): boolean {
  return item.kind === "group" && item.times === 1;
}

/** Extend a wire to the border, if it crosses it. */
export function toBorders(planned: Plan, line: Point[], wire: number, frame: Enclosure): Point[] {
  const { from, to, fromPort, toPort } = planned.wires[wire] ?? { from: 0, to: 0, fromPort: 0, toPort: 0 };
  const entry = from === BORDER ? (frame.entries[fromPort] ?? []) : line.slice(0, 1);
  const exit = to === BORDER ? (frame.exits[toPort] ?? []) : line.slice(-1);
  // an exit that starts with a corner replaces the last point
  const rest = to === BORDER && exit.length > 1 && !sameAcross(line[line.length - 1], exit[0]) ? -2 : -1;
  return [...entry, ...line.slice(1, rest), ...exit];
}

function sameAcross(one: Point | undefined, other: Point | undefined): boolean {
  return one !== undefined && other !== undefined && Math.abs(one[0] - other[0]) < 0.01;
}
