/**
 * View → Layout: every container is laid out alone, inside-out, its children as boxes of fixed size. Equal containers
 * share one geometry, and what a toggle did not touch is not visited again.
 */
import { titleForms } from "./box.js";
import { type Ranking, rankByDot, type Viz } from "./dot.js";
import { enclose, toBorders } from "./enclose.js";
import { rankAsChain, rankAsColumn, rankPlainly } from "./layered.js";
import { type Inner, type Plan, type Ports, plan, planKey } from "./plan.js";
import { labelBox, type Point, type Routed, route } from "./route.js";
import { holdsSteps } from "./surface.js";
import type { Direction, Frame, Item, View } from "./view.js";
import { wrapped } from "./wrap.js";

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
  /** Its wire is at its right. */
  before: boolean;
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

/** Whether an instance broke down and a new one has to be made. */
export function isBroken(viz: Viz): boolean {
  return broken.has(viz);
}

/** How often in a row a container broke an instance. Two are no chance: it gets the plain layout, here and everywhere. */
const breakdowns = new Map<string, number>();
const HOPELESS = 2;

/**
 * dot's time grows faster than the number of things: beyond this the plain layout is used. Size and effort, not a clock,
 * bound a call (half a second at worst): the same graph is the same picture on every machine.
 */
const MOST_FOR_DOT = 1500;

/**
 * Lay a view out. Where dot fails, or is not there (null), containers get the plain layered layout. Throws where the
 * instance breaks down (`isBroken`): with a new one, ask again. Nothing is kept that would not be the same then.
 */
export function layout(view: View, viz: Viz | null, cache: LayoutCache = layoutCache()): Layout {
  const root = placeFrame({ viz, cache, line: view.line }, view.root, null, view.root.direction);
  return { root, width: root.geometry.width, height: root.geometry.height, direction: view.direction };
}

interface Context {
  viz: Viz | null;
  cache: LayoutCache;
  line: number;
}

/** `around` is the direction of the flow that the frame stands in. */
function placeFrame(context: Context, frame: Frame, item: Item | null, around: Direction): Placed {
  const title = item === null ? `line ${context.line}` : JSON.stringify(titleForms(item));
  const key = `${context.viz === null ? "plain" : ""} ${around} ${title}`;
  const known = placedFrames.get(frame);
  if (known?.key === key) return known.placed;
  const inner = frame.items.map((child) =>
    child.frame === null ? null : placeFrame(context, child.frame, child, frame.direction),
  );
  const geometry = geometryIn(context, frame, { item, around, key }, inner.map(innerSize));
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

/** As one flow or, where a model's is longer than a page is wide, in lines. */
function geometryIn(context: Context, frame: Frame, surroundings: Surroundings, inner: (Inner | null)[]): Geometry {
  if (holdsSteps(frame.id)) {
    const steps = { ...surroundings, key: `steps ${surroundings.key}` };
    return geometryOf(context, frame, steps, inner, (planned) => inOneRow(planned, rank(context, planned)));
  }
  const whole = geometryOf(context, frame, surroundings, inner);
  if (surroundings.item !== null) return whole;
  const column: Surroundings = { item: null, around: "TB", key: `column ${surroundings.key}` };
  const inLines = wrapped({ frame, inner, geometry: whole, longest: context.line }, (part, parts, ranking) =>
    geometryOf(context, part, ranking === undefined ? A_LINE : column, parts, ranking),
  );
  return inLines ?? whole;
}

const A_LINE: Surroundings = { item: null, around: "TB", key: "line" };

function geometryOf(
  context: Context,
  frame: Frame,
  surroundings: Surroundings,
  inner: (Inner | null)[],
  ranked?: (plan: Plan) => Ranking,
): Geometry {
  const planned = plan(frame, inner);
  const key = `${surroundings.key}|${planKey(planned)}`;
  const known = context.cache.get(key);
  if (known !== undefined) return known;
  const ranking = ranked === undefined ? rank(context, planned) : ranked(planned);
  const geometry = turnToPage(planned, ranking, route(planned, ranking), surroundings);
  context.cache.set(key, geometry);
  return geometry;
}

/** Room between the steps of a loop and the wires from them to the border, and between these. */
const BELOW_STEPS = 12;
const WIRE_STEP = 16;

/**
 * Steps of a loop begin at one height, though the state may leave them at another one than it enters. What they give
 * passes close below them: dot keeps wires as far apart as items.
 */
function inOneRow(planned: Plan, ranking: Ranking): Ranking {
  if (new Set(ranking.rank).size < planned.slots.length) return ranking;
  const start = Math.min(...planned.slots.map((slot, i) => (ranking.across[i] ?? 0) - slot.across / 2));
  const end = start + Math.max(...planned.slots.map((slot) => slot.across));
  const outputs = [...ranking.outputs];
  let least = end + BELOW_STEPS;
  for (const port of outputs.map((_, i) => i).sort((a, b) => (outputs[a] ?? 0) - (outputs[b] ?? 0))) {
    if ((outputs[port] ?? 0) < least) continue;
    outputs[port] = least;
    least += WIRE_STEP;
  }
  return { ...ranking, outputs, across: planned.slots.map((slot) => start + slot.across / 2) };
}

function innerSize(placed: Placed | null): Inner | null {
  if (placed === null) return null;
  const { width, height, ports } = placed.geometry;
  return { width, height, ports };
}

function rank(context: Context, planned: Plan): Ranking {
  // nothing is known of the flow (no pass was run): a column, in order, reads as a list
  if (planned.wires.length === 0) return rankAsColumn(planned);
  const chain = rankAsChain(planned);
  if (chain !== null) return chain;
  const { viz } = context;
  if (viz === null || planned.slots.length + planned.wires.length > MOST_FOR_DOT) return rankPlainly(planned);
  const key = planKey(planned);
  const times = breakdowns.get(key) ?? 0;
  if (times >= HOPELESS) return rankPlainly(planned);
  if (broken.has(viz)) throw new Error("the layout engine broke down");
  try {
    const ranking = rankByDot(planned, viz);
    breakdowns.delete(key);
    return ranking;
  } catch (error) {
    if (!isBreakdown(error)) return rankPlainly(planned);
    broken.add(viz);
    breakdowns.set(key, times + 1);
    throw error;
  }
}

/** A WebAssembly trap leaves the instance in an unknown state; a plain failure does not. */
function isBreakdown(error: unknown): boolean {
  return !(error instanceof Error) || error.name === "RuntimeError" || error instanceof RangeError;
}

/** Flow coordinates → x and y inside the container, with its title and padding. */
function turnToPage(planned: Plan, ranking: Ranking, routed: Routed, surroundings: Surroundings): Geometry {
  const { vertical } = planned;
  const frame = enclose(planned, ranking, routed, surroundings);
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
  const labels = routed.labels.map(({ across, along, text, net, before }): Label => {
    const [px, py] = point([across, along]);
    const [x, y, width, height] = vertical
      ? labelBox(true, px, py, text, before)
      : labelBox(false, py, px, text, false);
    return { x, y, width, height, before, wire: planned.wires.findIndex((wire) => wire.net === net) };
  });
  const { width, height, ports, title } = frame;
  return { width, height, boxes, lines, labels, ports, title };
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
