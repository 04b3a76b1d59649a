/**
 * View → layout. Containers are laid out separately, innermost first, with expanded children as boxes of fixed size.
 * Equal containers share one geometry, and containers untouched by a toggle keep theirs.
 */
import { atOnce, mapSteps, type Steps } from "../shared/slices.js";
import { AROUND_LINES } from "../view/expand/page_limits.js";
import type { CaseSign, Frame, Item, View } from "../view/frame.js";
import type { Direction } from "../view/state.js";
import { type Context, closedGeometry, geometryIn, placeIn } from "./container.js";
import { isStep } from "./coord/enclosure.js";
import type { Box, Geometry, Label, Title } from "./coord/geometry.js";
import { titleForms } from "./coord/metrics.js";
import { A_LINE, type Surrounding } from "./coord/to_page.js";
import { ofPorts, orderOf, type PortOrder, portOrders } from "./decross/order.js";
import type { Inner } from "./input.js";
import type { Viz } from "./layering/dot.js";
import { type LayoutCache, layoutCache } from "./layering/rank.js";
import { frameKey, innerKey, onceFor, type SharedLayout } from "./shared_layout.js";
import { aroundTowers } from "./structures/around_towers.js";
import { sidewaysCell } from "./structures/cells.js";
import { hasColumns, joinedU, risingIn } from "./structures/structured.js";
import { AROUND, type Arms } from "./structures/u/arms.js";
import { Panels } from "./structures/u/panels.js";
import { inU } from "./structures/u/u.js";
import { uprightU } from "./structures/u/upright.js";
import { tangleIn } from "./wrapping/line_order.js";
import { LEGIBLE_STRETCH } from "./wrapping/wrap.js";

export { isBroken, type LayoutCache, layoutCache } from "./layering/rank.js";
export type { Box, Geometry, Label, Title, Viz };

/** A container with its positions. */
export interface Placed {
  frame: Frame;
  geometry: Geometry;
  /** Item → the layout of its inside; null unless expanded. */
  inner: (Placed | null)[];
  /** Whether it, or anything inside it, has a structure with its own layout. */
  shaped: boolean;
}

export interface Layout {
  root: Placed;
  width: number;
  height: number;
  direction: Direction;
  shaped: boolean;
  /** Whether a legend explains the colours. */
  legend: boolean;
  /** The cases that it explains, if there are several. */
  cases: readonly CaseSign[];
  /** What names of sizes mean, in parts. */
  sizes: readonly string[];
}

/** Frame → its layouts by surrounding and length of lines. */
const placedFrames = new WeakMap<Frame, Map<string, Placed>>();
/** More than a picture needs: from left to right, several lengths of lines are tried. */
const MOST_PLACED = 8;

/**
 * Lay out a view. Containers get the plain layered layout if dot fails or `viz` is null.
 *
 * @throws if the instance crashes (`isBroken`); call again with a new one. The cache stays valid.
 */
export function layout(view: View, viz: Viz | null, cache?: LayoutCache): Layout {
  return atOnce(layoutSteps(view, viz, cache));
}

/** The same in steps. */
export function* layoutSteps(view: View, viz: Viz | null, cache: LayoutCache = layoutCache()): Steps<Layout> {
  const place = (around: number, frame = view.root) =>
    placeFrame(
      { viz, cache, line: view.line, shapes: view.shapes, around, isNarrow: view.narrow, up: false },
      frame,
      null,
      frame.direction,
    );
  const root = (yield* placeU(view, place)) ?? (yield* placeLines(view, place));
  const { geometry, shaped } = root;
  const { direction, legend, cases, sizes } = view;
  return { root, width: geometry.width, height: geometry.height, direction, shaped, legend, cases, sizes };
}

/** A U, also from left to right. */
function* placeU(view: View, place: (around: number, frame: Frame) => Steps<Placed>): Steps<Placed | null> {
  const upright = uprightU(view);
  const placed = upright && (yield* place(AROUND_FRAMES[0], upright));
  return placed?.geometry.shaped === true ? placed : null;
}

/** In one flow or, left to right, in lines, which are shortened if they are too wide and that doesn't tangle the wires. */
function* placeLines(view: View, place: (around: number) => Steps<Placed>): Steps<Placed> {
  const [first, ...tighter] = AROUND_FRAMES;
  let root = yield* place(first);
  if (view.root.direction === "TB") return root;
  const room = view.line + AROUND_LINES;
  for (const around of tighter) {
    const { width } = root.geometry;
    if (width <= room || width > HOPELESS * room) break;
    const other = yield* place(around);
    const isLegible = width <= LEGIBLE_STRETCH * room && tangle(other) > tangle(root) + A_TANGLE;
    if (other.geometry.width < width && !isLegible) root = other;
  }
  return root;
}

/** Longer lines are better than this much tangle. */
const A_TANGLE = 4;

/** How hard it is to follow the wires in a container and inside it. */
function tangle({ frame, geometry, inner }: Placed): number {
  return inner.reduce((sum, one) => sum + (one === null ? 0 : tangle(one)), tangleIn(geometry, frame));
}

/**
 * @param around the direction of the parent frame
 * @param ports the order of the frame's ports there
 */
function* placeFrame(
  context: Context,
  frame: Frame,
  item: Item | null,
  around: Direction,
  ports: PortOrder | null = null,
): Steps<Placed> {
  const title = item === null ? "" : titleForms(item, context.isNarrow).map(({ lines, width }) => `${lines} ${width}`);
  const looks = `${context.shapes} ${context.isNarrow} ${context.up}`;
  const kind = item !== null && isStep(item) ? "step" : "";
  const key = `${context.viz === null ? "plain" : ""} ${looks} ${around} ${kind} ${title}`;
  const placeKey = `${key} ${JSON.stringify(ports)}`;
  const wholeKey = `${placeKey} ${context.line} ${context.around}`;
  const before = placedFrames.get(frame)?.get(wholeKey);
  if (before !== undefined) return before;
  const alike = yield* alikeOf(context, frame, { around, key, placeKey }, ports);
  const outer = item === null ? context.line + AROUND_LINES : context.line;
  const inside = { ...context, isNarrow: context.isNarrow || alike.hasColumns };
  inside.line = Math.max(SHORTEST_LINE, outer - context.around);
  const place = function* (arms: Arms | null): Steps<Placed | null> {
    const inner = yield* mapSteps(frame.items, function* (child, i) {
      const within = arms === null ? inside : { ...inside, isNarrow: true, up: arms.right.includes(i) };
      const order = alike.ports[i] ?? null;
      return child.frame && (yield* placeFrame(within, child.frame, child, frame.direction, order));
    });
    const surrounding = { item, around, isNarrow: context.isNarrow, key, order: alike.order };
    const [sizes, insides] = [inner.map(innerSize), innerKey(inner)];
    // only flows from left to right depend on the length of lines
    const within = `${frame.direction === "LR" ? context.line : ""} ${insides}`;
    const lay = () =>
      arms === null
        ? geometryIn(context, frame, surrounding, sizes, onceFor(alike, insides))
        : inU(frame, sizes, arms, placeIn(context, surrounding));
    const geometry = alike.geometries.get(within) ?? (yield* lay());
    if (geometry === null) return null;
    alike.geometries.set(within, geometry);
    return { frame, geometry, inner, shaped: geometry.shaped === true || inner.some((one) => one?.shaped) };
  };
  const joined = alike.arms === null ? yield* placeJoined(inside, frame, { ...A_LINE, item, around, key }) : null;
  const placed = joined ?? (alike.arms && (yield* place(alike.arms))) ?? (yield* place(null));
  if (placed === null) throw new Error("expected a layout");
  const best = yield* narrower(context, placed, { item, around }, alike.width);
  remember(frame, wholeKey, best);
  yield;
  return best;
}

/** A cell that is too wide for a column with everything closed runs from left to right, if that makes it narrower. */
function* narrower(
  context: Context,
  placed: Placed,
  { item, around }: { item: Item | null; around: Direction },
  closedWidth: number | null,
): Steps<Placed> {
  const width = closedWidth ?? placed.geometry.width;
  // containers that flow up are laid out downwards and turned upside down
  const mayTurn = item !== null && !context.up && around === "TB" && width > LEGIBLE_STRETCH * context.line;
  const sideways = mayTurn ? sidewaysCell(placed.frame) : null;
  const other = sideways && (yield* placeFrame(context, sideways, item, "TB"));
  return other !== null && other.geometry.width < placed.geometry.width ? other : placed;
}

function remember(frame: Frame, key: string, placed: Placed): void {
  const known = placedFrames.get(frame);
  if (known === undefined || known.size >= MOST_PLACED) placedFrames.set(frame, new Map([[key, placed]]));
  else known.set(key, placed);
}

/** A frame with two open containers that form a U; null without any. */
function* placeJoined(context: Context, frame: Frame, surrounding: Surrounding): Steps<Placed | null> {
  if (context.up || frame.placing || frame.direction !== "TB" || surrounding.around !== "TB") return null;
  const joined = joinedU(frame, context.shapes);
  if (joined === null) return null;
  const { frame: whole, arms, owners, pair, insides } = joined;
  const inner = yield* mapSteps(whole.items, function* (child, i) {
    const within = { ...context, isNarrow: true, up: arms.right.includes(i) };
    return child.frame && (yield* placeFrame(within, child.frame, child, "TB"));
  });
  const panels = new Panels(joined);
  const sizes = inner.map(innerSize);
  const at = { ...surrounding, isNarrow: context.isNarrow, key: `joined ${surrounding.key}` };
  const geometry = yield* inU(whole, sizes, arms, placeIn(context, at), panels);
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

/** What a frame shares with equal frames in equal surroundings. */
function* alikeOf(
  context: Context,
  frame: Frame,
  { around, key, placeKey }: { around: Direction; key: string; placeKey: string },
  ports: PortOrder | null,
): Steps<SharedLayout> {
  const { alike } = context.cache;
  const whole = `${placeKey} ${aroundTowers(frame, context.shapes).join(";")}|${frameKey(frame)}`;
  const known = alike.get(whole);
  if (known !== undefined) return known;
  const closed = yield* closedGeometry(context, frame, ports);
  const made: SharedLayout = {
    ports: closed === null ? [] : portOrders(frame, closed),
    order: closed === null ? ofPorts(ports) : orderOf(closed, frame, ports),
    arms: yield* armsOf(context, frame, around, key),
    geometries: new Map(),
    hasColumns: hasColumns(frame, context.shapes),
    width: closed?.width ?? null,
  };
  alike.set(whole, made);
  return made;
}

/** The arms of a frame that is drawn as a U; inside a U, everything is in one flow. */
function* armsOf(context: Context, frame: Frame, around: Direction, key: string): Steps<Arms | null> {
  if (context.up || frame.placing || frame.direction !== "TB" || around !== "TB") return null;
  return yield* risingIn(frame, context.shapes, placeIn(context, { ...A_LINE, key: `closed ${key}` }));
}

/** Space around the lines of open containers, like `AROUND_LINES`: more if the picture becomes too wide. */
const AROUND_FRAMES = [80, 140, 200, 240] as const;
/** Pictures that are wider by this factor don't fit with shorter lines either. */
const HOPELESS = 2;
/** Least length of lines. */
const SHORTEST_LINE = 160;

function innerSize(placed: Placed | null): Inner | null {
  if (placed === null) return null;
  const { width, height, ports } = placed.geometry;
  return { width, height, ports };
}
