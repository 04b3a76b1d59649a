/**
 * View → layout. Containers are laid out separately, innermost first, with expanded children as boxes of fixed size.
 * Equal containers share one geometry, and containers untouched by a toggle keep theirs.
 * A long file, as its functions are one recursion: each way to lay out a container lays out what it holds.
 */

import { holdsSteps } from "../view/contents.js";
import type { Frame, Item, Placing, View } from "../view/frame.js";
import { AROUND_LINES } from "../view/page.js";
import type { Shape } from "../view/shapes.js";
import type { Direction } from "../view/state.js";
import { type Alike, frameKey, innerKey } from "./alike.js";
import { arranged, reordered } from "./arranged.js";
import { branchesOf, mostInOrder } from "./branches.js";
import { isBareChain } from "./chain.js";
import type { Ranking, Viz } from "./dot.js";
import { type Engine, type LayoutCache, layoutCache, rank } from "./engine.js";
import { isStep } from "./frame.js";
import type { Box, Geometry, Label, Title } from "./geometry.js";
import { type Inner, plan } from "./input.js";
import { closeLoops, inOneRow } from "./loops.js";
import { titleForms } from "./metrics.js";
import { mirrored } from "./mirror.js";
import { ANY_ORDER, type Order, ofPorts, orderOf, type PortOrder, portOrders } from "./order.js";
import { A_LINE, LAST_LINE, type Surrounding, toPage } from "./page.js";
import { type Plan, planKey } from "./plan.js";
import { evenly } from "./routing/rhythm.js";
import { route } from "./routing/route.js";
import { keepPlaces } from "./streams.js";
import { AROUND, type Arms } from "./structures/arms.js";
import type { Place } from "./structures/columns.js";
import { Panels } from "./structures/panels.js";
import { hasColumns, joinedU, risingIn, structured } from "./structures/structured.js";
import { inU } from "./structures/u.js";
import { asColumn, wrapped } from "./wrap.js";

export { isBroken, type LayoutCache, layoutCache } from "./engine.js";
export type { Box, Geometry, Label, Title, Viz };

/** A container with its positions. */
export interface Placed {
  frame: Frame;
  geometry: Geometry;
  /** Item → the layout of its inside; null unless expanded. */
  inner: (Placed | null)[];
  /** Whether it, or anything inside it, has a structure with a layout of its own. */
  shaped: boolean;
}

export interface Layout {
  root: Placed;
  width: number;
  height: number;
  direction: Direction;
  shaped: boolean;
  /** Whether the colours are explained. */
  legend: boolean;
}

/** Frame → its layout; frames are immutable. */
const placedFrames = new WeakMap<Frame, { key: string; lines: string; placed: Placed }>();

/**
 * Lay out a view. Containers get the plain layered layout if dot fails or `viz` is null.
 *
 * @throws if the instance crashes (`isBroken`); call again with a new one. The cache stays valid.
 */
export function layout(view: View, viz: Viz | null, cache: LayoutCache = layoutCache()): Layout {
  const place = (around: number) =>
    placeFrame(
      { viz, cache, line: view.line, shapes: view.shapes, around, isNarrow: view.narrow, up: false },
      view.root,
      null,
      view.root.direction,
    );
  const [first, ...tighter] = AROUND_FRAMES;
  let root = place(first);
  if (view.root.direction === "LR") {
    for (const around of tighter) {
      const share = root.geometry.width / (view.line + AROUND_LINES);
      if (share <= 1 || share > HOPELESS) break;
      const other = place(around);
      if (other.geometry.width < root.geometry.width) root = other;
    }
  }
  const { geometry, shaped } = root;
  const { direction, legend } = view;
  return { root, width: geometry.width, height: geometry.height, direction, shaped, legend };
}

interface Context extends Engine {
  /** Length of lines. */
  line: number;
  shapes: readonly Shape[];
  /** How much shorter they are in an open container than around it. */
  around: number;
  /** Whether it is in columns. */
  isNarrow: boolean;
  /** Whether all flows up. */
  up: boolean;
}

/** `around` is the direction of the parent frame, and `ports` the order of the frame's ports there. */
function placeFrame(
  context: Context,
  frame: Frame,
  item: Item | null,
  around: Direction,
  ports: PortOrder | null = null,
): Placed {
  const title = item === null ? "" : titleForms(item, context.isNarrow).map(({ lines, width }) => `${lines} ${width}`);
  // only what runs left to right depends on the length of lines
  const line = frame.direction === "LR" ? context.line : "";
  const looks = `${context.shapes} ${context.isNarrow} ${context.up}`;
  const kind = item !== null && isStep(item) ? "step" : "";
  const key = `${context.viz === null ? "plain" : ""} ${looks} ${around} ${line} ${kind} ${title}`;
  const placeKey = `${key} ${JSON.stringify(ports)}`;
  const lines = `${context.line} ${context.around}`;
  const known = placedFrames.get(frame);
  if (known?.key === placeKey && known.lines === lines) return known.placed;
  const alike = alikeOf(context, frame, { around, key, placeKey }, ports);
  const outer = item === null ? context.line + AROUND_LINES : context.line;
  const inside = { ...context, isNarrow: context.isNarrow || alike.hasColumns };
  inside.line = Math.max(SHORTEST_LINE, outer - context.around);
  const place = (arms: Arms | null): Placed | null => {
    const inner = frame.items.map((child, i) => {
      const within = arms === null ? inside : { ...inside, isNarrow: true, up: arms.right.includes(i) };
      return child.frame && placeFrame(within, child.frame, child, frame.direction, alike.ports[i] ?? null);
    });
    const surrounding = { item, around, isNarrow: context.isNarrow, key, order: alike.order };
    const [sizes, within] = [inner.map(innerSize), innerKey(inner)];
    const lay = () =>
      arms === null
        ? geometryIn(context, frame, surrounding, sizes)
        : inU(frame, sizes, arms, placeIn(context, surrounding));
    const geometry = alike.geometries.get(within) ?? lay();
    if (geometry === null) return null;
    alike.geometries.set(within, geometry);
    return { frame, geometry, inner, shaped: geometry.shaped === true || inner.some((one) => one?.shaped) };
  };
  const joined = alike.arms === null ? placeJoined(inside, frame, { ...A_LINE, item, around, key }) : null;
  const placed = joined ?? (alike.arms && place(alike.arms)) ?? place(null);
  if (placed === null) throw new Error("expected a layout");
  placedFrames.set(frame, { key: placeKey, lines, placed });
  return placed;
}

/** A frame with two open containers that are one U; null if it has none. */
function placeJoined(context: Context, frame: Frame, surrounding: Surrounding): Placed | null {
  if (context.up || frame.placing || frame.direction !== "TB" || surrounding.around !== "TB") return null;
  const joined = joinedU(frame, context.shapes);
  if (joined === null) return null;
  const { frame: whole, arms, owners, pair, insides } = joined;
  const inner = whole.items.map((child, i) => {
    const within = { ...context, isNarrow: true, up: arms.right.includes(i) };
    return child.frame && placeFrame(within, child.frame, child, "TB");
  });
  const panels = new Panels(joined);
  const sizes = inner.map(innerSize);
  const at = { ...surrounding, isNarrow: context.isNarrow, key: `joined ${surrounding.key}` };
  const geometry = inU(whole, sizes, arms, placeIn(context, at), panels);
  const [outside, ...parts] = (geometry && panels.apart(geometry)) ?? [];
  if (outside === undefined) return null;
  const ownedBy = (owner: number) => inner.filter((_, i) => owners[i] === owner);
  const placed = insides.map((inside, owner): Placed | null => {
    const part = parts[owner];
    return part === undefined ? null : { frame: inside, geometry: part, inner: ownedBy(owner), shaped: true };
  });
  const others = ownedBy(AROUND);
  const all = frame.items.map((_, i) =>
    pair.includes(i) ? (placed[pair.indexOf(i)] ?? null) : (others.shift() ?? null),
  );
  return { frame, geometry: outside, inner: all, shaped: true };
}

/** What a frame shares with equal ones in equal surroundings. */
function alikeOf(
  context: Context,
  frame: Frame,
  { around, key, placeKey }: { around: Direction; key: string; placeKey: string },
  ports: PortOrder | null,
): Alike {
  const { alike } = context.cache;
  const whole = `${placeKey}|${frameKey(frame)}`;
  const known = alike.get(whole);
  if (known !== undefined) return known;
  const closed = closedGeometry(context, frame, ports);
  const made: Alike = {
    ports: closed === null ? [] : portOrders(frame, closed),
    order: closed === null ? ofPorts(ports) : orderOf(closed, frame, ports),
    arms: armsOf(context, frame, around, key),
    geometries: new Map(),
    hasColumns: hasColumns(frame, context.shapes),
  };
  alike.set(whole, made);
  return made;
}

/** Most items whose order is kept: a stack of 80 layers, all unrolled, would take a third longer. */
const MOST_IN_ORDER = 48;

/** The layout of a frame with all of its items closed; null if none is open, or all are below each other. */
function closedGeometry(context: Context, frame: Frame, ports: PortOrder | null): Geometry | null {
  if (frame.items.length > MOST_IN_ORDER || frame.placing) return null;
  if (context.viz === null || holdsSteps(frame.id) || frame.items.every((item) => item.frame === null)) return null;
  const order = ofPorts(ports);
  if (isBareChain(plan(frame, [], order))) return null;
  const at = { around: frame.direction, isNarrow: context.isNarrow };
  const around: Surrounding = { ...A_LINE, ...at, key: `closed ${at.around} ${at.isNarrow}`, order };
  return shaped(context, frame, around, []) ?? inOrder(context, frame, around, []);
}

/** The arms of a frame that is drawn as a U; inside of one, all runs in one flow. */
function armsOf(context: Context, frame: Frame, around: Direction, key: string): Arms | null {
  if (context.up || frame.placing || frame.direction !== "TB" || around !== "TB") return null;
  return risingIn(frame, context.shapes, placeIn(context, { ...A_LINE, key: `closed ${key}` }));
}

/** Space around the lines of open containers, as `AROUND_LINES`: more if the picture becomes too wide. */
const AROUND_FRAMES = [80, 140, 200, 240] as const;
/** Pictures that are wider by this factor don't fit with shorter lines, either. */
const HOPELESS = 2;
/** Shorter lines say nothing. */
const SHORTEST_LINE = 160;

/** One flow or, left to right, several lines if it is longer than `line`. */
function geometryIn(context: Context, frame: Frame, surrounding: Surrounding, inner: (Inner | null)[]): Geometry {
  if (holdsSteps(frame.id)) {
    const steps = { ...surrounding, key: `steps ${surrounding.key}` };
    return geometryOf(context, frame, steps, inner, (planned) => inOneRow(planned, rank(context, planned)));
  }
  if (frame.placing?.lines === 0) return asPlaced(context, frame, surrounding, inner, frame.placing);
  const inShape = shaped(context, frame, surrounding, inner);
  if (inShape !== null) return inShape;
  const whole = inOrder(context, frame, surrounding, inner);
  const isRoot = surrounding.item === null;
  const outside = isRoot ? A_LINE : { ...surrounding, order: null, leavesAtEnd: true };
  const { align = "start" } = frame.placing ?? {};
  const column: Surrounding = { ...outside, key: `column ${align} ${surrounding.key}` };
  const lines = frame.placing?.lines ?? 0;
  // a little longer than its share, as lines break between items
  const line = lines > 0 ? (1.15 * whole.width) / lines : context.line;
  const widest = isRoot ? line + AROUND_LINES : line;
  const room =
    lines > 0
      ? { enough: line, longest: line, widest: line }
      : { enough: line, longest: widest - AROUND_LINES, widest };
  const inLines = wrapped({ frame, inner, geometry: whole, ...room }, (kind, part, parts) =>
    kind === "column"
      ? geometryOf(context, part, column, parts, (planned) => asColumn(planned, align))
      : geometryOf(context, part, kind === "last" && surrounding.around === "LR" ? LAST_LINE : A_LINE, parts),
  );
  return inLines ?? whole;
}

/** The layout that the author asks for. */
function asPlaced(
  context: Context,
  frame: Frame,
  surrounding: Surrounding,
  inner: (Inner | null)[],
  placing: Placing,
): Geometry {
  const { align } = placing;
  const ranked = (planned: Plan) => {
    Object.assign(planned, { align });
    return placing.most > 0 ? arranged(planned, placing) : reordered(planned, rank(context, planned), placing);
  };
  const key = `${JSON.stringify(placing)} ${surrounding.key}`;
  return geometryOf(
    context,
    frame,
    { ...surrounding, key, order: null, keepsRows: align !== undefined },
    inner,
    ranked,
  );
}

/** The layout of a structure that the frame has, if any. */
function shaped(context: Context, frame: Frame, surrounding: Surrounding, inner: (Inner | null)[]): Geometry | null {
  if (context.up || frame.direction !== "TB" || surrounding.around !== "TB") return null;
  return structured(frame, inner, context.shapes, placeIn(context, surrounding));
}

/** Lays out the parts of a structure. */
function placeIn(context: Context, surrounding: Surrounding): Place {
  return ({ frame, inner, closed, moved, moves, isAround, up = false, isRail }) => {
    const around = { ...(isAround ? surrounding : A_LINE), isNarrow: true, up, keepsRows: true };
    const key = `${isAround ? "around" : "column"} ${moves} ${up} ${surrounding.key}`;
    const ranked = (planned: Plan) => {
      for (const wire of planned.wires) if (isRail?.(wire)) Object.assign(wire, { rail: true, trunk: false });
      return moved(planned, rank(context, planned));
    };
    const lay = (all: (Inner | null)[], order: Order | null) =>
      geometryOf(context, frame, { ...around, key: `${key} ${order === null}`, order }, all, ranked);
    const isOpen = inner.some((one, i) => one !== (closed[i] ?? null));
    return lay(inner, isOpen ? orderOf(lay(closed, null), frame, null) : null);
  };
}

/** The layout that keeps the order, unless edges cross for it; found once for equal containers. */
function inOrder(context: Context, frame: Frame, around: Surrounding, inner: (Inner | null)[]): Geometry {
  const { order } = around;
  const planned = plan(frame, inner, order, around.isNarrow, context.shapes);
  const branches = inner.every((one) => one === null) ? branchesOf(planned) : [];
  if (order === null && branches.length === 0) return geometryOfPlan(context, planned, around);
  const key = `in order ${around.key}|${planKey(planned)}`;
  const known = context.cache.geometries.get(key);
  if (known !== undefined) return known;
  const lay = (more: Partial<Order>) => () =>
    geometryOf(context, frame, { ...around, order: { ...ANY_ORDER, ...order, ...more } }, inner);
  const free = () => geometryOfPlan(context, planned, around);
  const others = [lay({ isStrict: true })];
  if (inner.every((one) => one === null)) {
    others.unshift(lay({ isStrict: true, isSource: true }));
    const mirror = { ...around, key: `mirrored ${around.key}` };
    others.unshift(() => geometryOfPlan(context, planned, mirror, (one) => mirrored(rank(context, one))));
  }
  const found = mostInOrder(frame, order ?? ANY_ORDER, branches, [free, ...others]);
  context.cache.geometries.set(key, found);
  return found;
}

function geometryOf(
  context: Context,
  frame: Frame,
  surrounding: Surrounding,
  inner: (Inner | null)[],
  ranked?: (plan: Plan) => Ranking,
): Geometry {
  const planned = plan(frame, inner, surrounding.order, surrounding.isNarrow, context.shapes);
  return geometryOfPlan(context, planned, surrounding, ranked);
}

function geometryOfPlan(
  context: Context,
  planned: Plan,
  surrounding: Surrounding,
  ranked?: (plan: Plan) => Ranking,
): Geometry {
  const key = `${surrounding.key}|${planKey(planned)}`;
  const known = context.cache.geometries.get(key);
  if (known !== undefined) return known;
  const ranking = keepPlaces(planned, ranked === undefined ? rank(context, planned) : ranked(planned));
  const rows = route(planned, ranking);
  const [closed, routed] = closeLoops(planned, surrounding.keepsRows === true ? rows : evenly(planned, ranking, rows));
  const rises = context.up || surrounding.up === true;
  const geometry = toPage(closed, ranking, routed, rises, surrounding);
  context.cache.geometries.set(key, geometry);
  return geometry;
}

function innerSize(placed: Placed | null): Inner | null {
  if (placed === null) return null;
  const { width, height, ports } = placed.geometry;
  return { width, height, ports };
}
