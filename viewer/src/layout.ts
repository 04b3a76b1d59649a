/**
 * View → Layout: every container is laid out alone, inside-out, its children as boxes of fixed size. Equal containers
 * share one geometry, and what a toggle did not touch is not visited again.
 */
import { ceilTo, GRID, TITLE_LINE, TITLE_PADDING, type TitleLines, titleForms } from "./box.js";
import { type Ranking, rankByDot, type Viz } from "./dot.js";
import { rankAsColumn, rankPlainly } from "./layered.js";
import { type Inner, type Plan, type Ports, plan, planKey } from "./plan.js";
import { labelBox, type Point, type Routed, route } from "./route.js";
import { turn } from "./turned.js";
import { BORDER, type Direction, type Frame, type Item, type View } from "./view.js";

export type { Viz };

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** Where a tensor's label stands. Its text is the wire's: equal containers share places, not tensors. */
export interface Label extends Box {
  /** Place of a wire that carries the tensor. */
  wire: number;
}

/** Where the title of a container stands, relative to it. */
export interface Title extends Box {
  lines: 1 | 2;
}

/** Positions inside one container, relative to its upper left corner; shared by equal containers. */
export interface Geometry {
  width: number;
  height: number;
  /** Item → its box. */
  boxes: Box[];
  /** Wire → its points, from source to target. */
  lines: (readonly [x: number, y: number])[][];
  labels: Label[];
  ports: Ports;
  title: Title | null;
}

/** A container with its positions. */
export interface Placed {
  frame: Frame;
  geometry: Geometry;
  /** Item → its inside, where it is expanded. */
  inner: (Placed | null)[];
}

export interface Layout {
  root: Placed;
  width: number;
  height: number;
  direction: Direction;
}

/** Geometries by everything that decides them; hold one per graph or one for all. */
export type LayoutCache = Map<string, Geometry>;

/** An empty cache. */
export function layoutCache(): LayoutCache {
  return new Map();
}

/** Frames never change, so what was placed once stays: a toggle visits only what is new. */
const placedFrames = new WeakMap<Frame, { key: string; placed: Placed }>();

/** Instances that broke down while at work: their memory is in an unknown state. */
const broken = new WeakSet<Viz>();

/** Whether an instance broke down and a new one should be made. */
export function isBroken(viz: Viz): boolean {
  return broken.has(viz);
}

const MARGIN = 8;
const PADDING = 16;
/** Room between a title and the first row. */
const BELOW_TITLE = 8;
/** dot's time grows faster than the number of things: beyond this the plain layout is used. */
const MOST_FOR_DOT = 1500;

/** Lay a view out. Where dot fails, or is not there (null), containers get the plain layered layout. */
export function layout(view: View, viz: Viz | null, cache: LayoutCache = layoutCache()): Layout {
  const root = placeFrame({ viz, cache }, view.root, null, view.root.direction);
  return { root, width: root.geometry.width, height: root.geometry.height, direction: view.direction };
}

interface Context {
  viz: Viz | null;
  cache: LayoutCache;
}

/** `around` is the direction of the flow that the frame stands in. */
function placeFrame(context: Context, frame: Frame, item: Item | null, around: Direction): Placed {
  const title = item === null ? "" : JSON.stringify(titleForms(item));
  const key = `${context.viz === null ? "plain" : ""} ${around} ${title}`;
  const known = placedFrames.get(frame);
  if (known?.key === key) return known.placed;
  const inner = frame.items.map((child) =>
    child.frame === null ? null : placeFrame(context, child.frame, child, frame.direction),
  );
  const geometry = geometryOf(context, frame, { item, around, key }, inner);
  const placed: Placed = { frame, geometry, inner };
  placedFrames.set(frame, { key, placed });
  return placed;
}

/** What decides how a frame is enclosed, besides its content. */
interface Surroundings {
  item: Item | null;
  around: Direction;
  /** All of it as text. */
  key: string;
}

function geometryOf(context: Context, frame: Frame, surroundings: Surroundings, inner: (Placed | null)[]): Geometry {
  const planned = plan(frame, inner.map(innerSize));
  const key = `${surroundings.key}|${planKey(planned)}`;
  const known = context.cache.get(key);
  if (known !== undefined) return known;
  const ranking = rank(context, planned);
  const geometry = turnToPage(planned, ranking, route(planned, ranking), surroundings);
  context.cache.set(key, geometry);
  return geometry;
}

function innerSize(placed: Placed | null): Inner | null {
  if (placed === null) return null;
  const { width, height, ports } = placed.geometry;
  return { width, height, ports };
}

function rank(context: Context, planned: Plan): Ranking {
  // nothing is known of the flow (no pass was run): a column, in order, reads as a list
  if (planned.wires.length === 0) return rankAsColumn(planned);
  const { viz } = context;
  if (viz === null || broken.has(viz) || planned.slots.length + planned.wires.length > MOST_FOR_DOT)
    return rankPlainly(planned);
  try {
    return rankByDot(planned, viz);
  } catch (error) {
    // a WebAssembly trap leaves the instance in an unknown state; a plain failure does not
    if (!(error instanceof Error) || error.name === "RuntimeError" || error instanceof RangeError) broken.add(viz);
    return rankPlainly(planned);
  }
}

/** Flow coordinates → x and y inside the container, with its title and padding. */
function turnToPage(planned: Plan, ranking: Ranking, routed: Routed, { item, around }: Surroundings): Geometry {
  const { vertical } = planned;
  const frame =
    item !== null && (around === "TB") !== vertical
      ? encloseTurned(planned, ranking, routed, item)
      : enclose(planned, ranking, routed, item);
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
  const labels = routed.labels.map(({ across, along, text, net }): Label => {
    const [px, py] = point([across, along]);
    const [x, y, width, height] = vertical ? labelBox(true, px, py, text) : labelBox(false, py, px, text);
    return { x, y, width, height, wire: planned.wires.findIndex((wire) => wire.net === net) };
  });
  const { width, height, ports, title } = frame;
  return { width, height, boxes, lines, labels, ports, title };
}

interface Enclosure {
  width: number;
  height: number;
  /** What to add to flow coordinates. */
  across: number;
  along: number;
  title: Title | null;
  ports: Ports;
  /** Input port → the first points of its wires, output port → their last, in flow coordinates. */
  entries: Point[][];
  exits: Point[][];
}

/** Ports where the flow reaches the border, and wires straight to them. */
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

/** The container around what was routed: room for padding and for a title that no wire crosses. */
function enclose(planned: Plan, ranking: Ranking, routed: Routed, item: Item | null): Enclosure {
  const span = routed.high - routed.low;
  if (item === null) {
    const across = ceilTo(span + 2 * MARGIN, 2 * GRID);
    const along = ceilTo(routed.depth + 2 * MARGIN, 2 * GRID);
    const shift = Math.round((across - span) / 2 - routed.low);
    const [width, height] = planned.vertical ? [across, along] : [along, across];
    const size = { width, height, across: shift, along: MARGIN };
    return { ...size, title: null, ...straightOn(planned, ranking, size) };
  }
  return planned.vertical ? encloseBelow(planned, ranking, routed, item) : encloseRight(planned, ranking, routed, item);
}

/** Running down: wires enter through the title's strip, so the title stands in a gap between them. */
function encloseBelow(planned: Plan, ranking: Ranking, routed: Routed, item: Item): Enclosure {
  const low = routed.low - PADDING;
  const width = ceilTo(routed.high - routed.low + 2 * PADDING, 2 * GRID);
  const entries = ranking.inputs.map((place) => place - low);
  const spot = titleSpot(titleForms(item), Math.min(width, ...entries), Math.max(0, ...entries), width);
  // wires that pass beside the title need no more room below it
  const below = routed.straight > 0 ? BELOW_TITLE - routed.straight : 0;
  const header = TITLE_PADDING + spot.form.lines * TITLE_LINE + GRID + below;
  const height = ceilTo(header + routed.depth + (planned.outputs > 0 ? 0 : PADDING), GRID);
  const { lines } = spot.form;
  const title: Title = { x: spot.x, y: TITLE_PADDING - 2, width: spot.form.width, height: lines * TITLE_LINE, lines };
  const size = { width: width + spot.missing, height, across: spot.missing - low, along: header };
  return { ...size, title, ...straightOn(planned, ranking, size) };
}

interface Spot {
  form: TitleLines;
  x: number;
  /** Width to add at the left. */
  missing: number;
}

/** Left of all entries on one line or two, else right of them, else the container grows. */
function titleSpot(forms: [TitleLines, TitleLines], first: number, last: number, width: number): Spot {
  const room = (form: TitleLines) => form.width + 2 * TITLE_PADDING;
  const left = forms.find((form) => room(form) <= first);
  if (left !== undefined) return { form: left, x: TITLE_PADDING, missing: 0 };
  const right = forms.find((form) => room(form) <= width - last);
  if (right !== undefined) return { form: right, x: last + TITLE_PADDING, missing: 0 };
  return { form: forms[1], x: TITLE_PADDING, missing: ceilTo(room(forms[1]) - first, 2 * GRID) };
}

/** Running right: the title has a strip of its own. */
function encloseRight(planned: Plan, ranking: Ranking, routed: Routed, item: Item): Enclosure {
  const [form] = titleForms(item);
  const header = TITLE_PADDING + TITLE_LINE + GRID;
  const before = planned.inputs > 0 ? 0 : PADDING;
  const after = planned.outputs > 0 ? 0 : PADDING;
  const width = ceilTo(Math.max(before + routed.depth + after, form.width + 2 * TITLE_PADDING), 2 * GRID);
  const height = ceilTo(header + PADDING / 2 + (routed.high - routed.low) + PADDING, 2 * GRID);
  const title: Title = { x: TITLE_PADDING, y: TITLE_PADDING - 2, width: form.width, height: TITLE_LINE, lines: 1 };
  const size = { width, height, across: header + PADDING / 2 - routed.low, along: before };
  return { ...size, title, ...straightOn(planned, ranking, size) };
}

/** Running across the flow around: wires come in and go out beside the beginning of the flow. */
function encloseTurned(planned: Plan, ranking: Ranking, routed: Routed, item: Item): Enclosure {
  const turned = turn(planned, ranking, routed, isStep(item));
  const { vertical } = planned;
  const [x0, x1] = vertical ? [turned.low, turned.high] : [turned.from, turned.to];
  const [y0, y1] = vertical ? [turned.from, turned.to] : [turned.low, turned.high];
  const entries = vertical ? [] : [...turned.inputs, ...turned.outputs].map((place) => place - x0 + PADDING);
  const inner = ceilTo(x1 - x0 + 2 * PADDING, 2 * GRID);
  // wires from above pass beside the title
  const spot = titleSpot(titleForms(item), Math.min(inner, ...entries), Math.max(0, ...entries), inner);
  const header = TITLE_PADDING + spot.form.lines * TITLE_LINE + BELOW_TITLE;
  const width = inner + spot.missing;
  const height = ceilTo(header + (y1 - y0) + PADDING, GRID);
  const x = PADDING + spot.missing - x0;
  const y = header - y0;
  const [across, along] = vertical ? [x, y] : [y, x];
  const title: Title = {
    ...{ x: spot.x, y: TITLE_PADDING - 2, width: spot.form.width },
    ...{ height: spot.form.lines * TITLE_LINE, lines: spot.form.lines },
  };
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

/** One of equal steps in a row: states go out where they came in. */
function isStep(item: Item): boolean {
  return item.kind === "group" && item.times === 1;
}

/** Wires through the border reach it. */
function toBorders(planned: Plan, line: Point[], wire: number, frame: Enclosure): Point[] {
  const { from, to, fromPort, toPort } = planned.wires[wire] ?? { from: 0, to: 0, fromPort: 0, toPort: 0 };
  const entry = from === BORDER ? (frame.entries[fromPort] ?? []) : line.slice(0, 1);
  const exit = to === BORDER ? (frame.exits[toPort] ?? []) : line.slice(-1);
  // an exit that begins at a corner takes its place
  const rest = to === BORDER && exit.length > 1 && !sameAcross(line[line.length - 1], exit[0]) ? -2 : -1;
  return [...entry, ...line.slice(1, rest), ...exit];
}

function sameAcross(one: Point | undefined, other: Point | undefined): boolean {
  return one !== undefined && other !== undefined && Math.abs(one[0] - other[0]) < 0.01;
}

/** Absolute box of an item, wherever it is; null where it is not visible. */
export function locate(found: Layout, id: string): Box | null {
  const stack: { placed: Placed; x: number; y: number }[] = [{ placed: found.root, x: 0, y: 0 }];
  for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
    const { placed, x, y } = at;
    for (const [i, item] of placed.frame.items.entries()) {
      const box = placed.geometry.boxes[i];
      if (box === undefined) continue;
      const absolute = { ...box, x: x + box.x, y: y + box.y };
      if (item.id === id) return absolute;
      const inner = placed.inner[i];
      if (inner) stack.push({ placed: inner, x: absolute.x, y: absolute.y });
    }
  }
  return null;
}
