import { noSteps, type Steps } from "../shared/slices.js";
import { AROUND_LINES } from "../view/expand/page_limits.js";
import type { Frame, Placing } from "../view/frame.js";
import { holdsSteps } from "../view/repeats/contents.js";
import type { Shape } from "../view/state.js";
import type { Geometry } from "./coord/geometry.js";
import { A_LINE, type Surrounding, toPage } from "./coord/to_page.js";
import { branchesOf, mostInOrder, type Try } from "./decross/branches.js";
import { mirrored } from "./decross/mirror.js";
import { ANY_ORDER, crossings, MOST_IN_ORDER, type Order, ofPorts, orderOf, type PortOrder } from "./decross/order.js";
import { type Inner, plan } from "./input.js";
import { isBareChain } from "./layering/chain.js";
import type { Ranking } from "./layering/dot.js";
import { type Engine, rank } from "./layering/rank.js";
import { closeLoops, inOneRow } from "./loops.js";
import { type Plan, planKey } from "./plan.js";
import { evenly } from "./routing/rhythm.js";
import { route } from "./routing/route.js";
import type { Once } from "./shared_layout.js";
import { aroundTowers } from "./structures/around_towers.js";
import { arranged, reordered } from "./structures/arranged.js";
import { cellRows, FOR_ROWS, placesIn } from "./structures/cells.js";
import type { PlaceSubframe } from "./structures/columns.js";
import { keepPlaces } from "./structures/streams.js";
import { structured } from "./structures/structured.js";
import { asColumn } from "./wrapping/line_column.js";
import { wrapped } from "./wrapping/wrap.js";

/** The layout of one container, given the sizes of its open items: in one flow, in lines, or by its structure. */

export interface Context extends Engine {
  /** Length of lines. */
  line: number;
  shapes: readonly Shape[];
  /** How much shorter lines are in an open container than around it. */
  around: number;
  /** Whether it is inside columns. */
  isNarrow: boolean;
  /** Whether everything flows up. */
  up: boolean;
}

/** The layout of a frame with all items closed; null if none is open, or all are below each other. */
export function* closedGeometry(context: Context, frame: Frame, ports: PortOrder | null): Steps<Geometry | null> {
  if (frame.items.length > MOST_IN_ORDER || frame.placing) return null;
  if (context.viz === null || holdsSteps(frame.id) || frame.items.every((item) => item.frame === null)) return null;
  const order = ofPorts(ports);
  if (isBareChain(plan(frame, [], order))) return null;
  const at = { around: frame.direction, isNarrow: context.isNarrow };
  const around: Surrounding = { ...A_LINE, ...at, key: `closed ${at.around} ${at.isNarrow}`, order };
  return (yield* shaped(context, frame, around, [])) ?? (yield* inOrder(context, frame, around, []));
}

/** One flow or, left to right, several lines if it is longer than `line`. */
export function* geometryIn(
  context: Context,
  frame: Frame,
  surrounding: Surrounding,
  inner: (Inner | null)[],
  once: Once,
): Steps<Geometry> {
  if (holdsSteps(frame.id)) {
    const steps = { ...surrounding, key: `steps ${surrounding.key}` };
    return yield* geometryOf(context, frame, steps, inner, function* (planned) {
      return inOneRow(planned, yield* rank(context, planned));
    });
  }
  if (frame.placing?.lines === 0) return yield* asPlaced(context, frame, surrounding, inner, frame.placing);
  const inShape = yield* shaped(context, frame, surrounding, inner);
  if (inShape !== null) return inShape;
  const whole = yield* once("whole", () => inOrder(context, frame, surrounding, inner));
  const isRoot = surrounding.item === null;
  const outside = isRoot ? A_LINE : { ...surrounding, order: null, leavesAtEnd: true };
  const { align = "start" } = frame.placing ?? {};
  const column: Surrounding = { ...outside, key: `column ${align} ${surrounding.key}` };
  const lines = frame.placing?.lines ?? 0;
  // a little longer than its share, because lines break between items
  const line = lines > 0 ? (1.15 * whole.width) / lines : context.line;
  const widest = isRoot ? line + AROUND_LINES : line;
  const room =
    lines > 0
      ? { enough: line, longest: line, widest: line }
      : { enough: line, longest: widest - AROUND_LINES, widest };
  const inLines = yield* wrapped(
    { frame, inner, geometry: whole, once, ...room },
    (kind, part, parts, along, order) => {
      if (kind === "column")
        return geometryOf(context, part, column, parts, (planned) => noSteps(asColumn(planned, align)));
      const leavesAtEnd = kind === "last" && surrounding.around === "LR";
      const key = `line ${leavesAtEnd} ${JSON.stringify(along)}`;
      return geometryOf(
        context,
        part,
        { ...A_LINE, key, order: order ?? null, leavesAtEnd, ...(along && { alongLine: along }) },
        parts,
      );
    },
  );
  return inLines ?? whole;
}

/** The layout that the author asked for. */
function asPlaced(
  context: Context,
  frame: Frame,
  surrounding: Surrounding,
  inner: (Inner | null)[],
  placing: Placing,
): Steps<Geometry> {
  const { align } = placing;
  const ranked = function* (planned: Plan) {
    Object.assign(planned, { align });
    return placing.most > 0 ? arranged(planned, placing) : reordered(planned, yield* rank(context, planned), placing);
  };
  const key = `${JSON.stringify(placing)} ${surrounding.key}`;
  const around = { ...surrounding, key, order: null, keepsRows: align !== undefined };
  return geometryOf(context, frame, around, inner, ranked);
}

/** The layout of a structure that the frame has, if any. */
function* shaped(
  context: Context,
  frame: Frame,
  surrounding: Surrounding,
  inner: (Inner | null)[],
): Steps<Geometry | null> {
  if (context.up || frame.direction !== "TB" || surrounding.around !== "TB") return null;
  return yield* structured(frame, inner, context.shapes, placeIn(context, surrounding));
}

/** Lays out the parts of a structure. */
export function placeIn(context: Context, surrounding: Surrounding): PlaceSubframe {
  return function* ({ frame, inner, closed, moved, moves, isAround, up = false, isRail }) {
    const around = { ...(isAround ? surrounding : A_LINE), isNarrow: true, up, keepsRows: true };
    const key = `${isAround ? "around" : "column"} ${moves} ${up} ${surrounding.key}`;
    const ranked = function* (planned: Plan) {
      for (const wire of planned.wires) if (isRail?.(wire)) Object.assign(wire, { rail: true, trunk: false });
      return moved(planned, yield* rank(context, planned));
    };
    const lay = (all: (Inner | null)[], order: Order | null) =>
      geometryOf(context, frame, { ...around, key: `${key} ${order === null}`, order }, all, ranked);
    if (inner.every((one, i) => one === (closed[i] ?? null))) return yield* lay(inner, null);
    const order = orderOf(yield* lay(closed, null), frame, null);
    const strict: Try = { across: () => noSteps(null), make: () => lay(inner, { ...order, isStrict: true }) };
    return yield* mostInOrder(frame, order, [], yield* lay(inner, order), [strict]);
  };
}

/** The layout that keeps the order unless that adds crossings; found once for equal containers. */
function* inOrder(context: Context, frame: Frame, around: Surrounding, inner: (Inner | null)[]): Steps<Geometry> {
  const { order } = around;
  const planned = plan(frame, inner, order, around.isNarrow, context.shapes);
  const isClosed = inner.every((one) => one === null);
  const towers = isClosed ? aroundTowers(frame, context.shapes) : [];
  const branches = isClosed ? [...towers, ...branchesOf(planned)] : [];
  const ownKey = planKey(planned);
  const free = () => geometryOfPlan(context, planned, around, undefined, ownKey);
  if (order === null && branches.length === 0) return yield* free();
  const key = `in order ${around.key} ${towers.join(";")}|${ownKey}`;
  const known = context.cache.geometries.get(key);
  if (known !== undefined) return known;
  const inThis = (more: Partial<Order>) => {
    const at = { ...around, order: { ...ANY_ORDER, ...order, ...more } };
    return tryOf(context, frame, at, () => plan(frame, inner, at.order, at.isNarrow, context.shapes));
  };
  const others = [inThis({ isStrict: true })];
  const first = yield* free();
  if (isClosed) {
    const mirror = { ...around, key: `mirrored ${around.key}` };
    const turned = function* (one: Plan) {
      return mirrored(yield* rank(context, one, ownKey));
    };
    others.unshift(
      tryOf(context, frame, mirror, () => planned, turned),
      inThis({ isStrict: true, isSource: true }),
      ...rowsOf(towers, first).map((rows) => inThis({ isStrict: true, rows, places: placesIn(rows, planned) })),
    );
  }
  const most = yield* mostInOrder(frame, order ?? ANY_ORDER, branches, first, others);
  const rows = branches.length > towers.length + 1 ? cellRows(planned) : null;
  const cell = rows && (yield* inThis({ isStrict: true, rows, places: placesIn(rows, planned) }).make());
  const found = cell !== null && crossings(cell, frame) <= crossings(most, frame) + FOR_ROWS ? cell : most;
  context.cache.geometries.set(key, found);
  return found;
}

/** The rows of a layout limited to listed items, with at least two each; none if there are none. */
function rowsOf(lists: readonly number[][], { rows }: Geometry): number[][][] {
  const beside = lists.flatMap((items) => rows.map((row) => items.filter((item) => row.includes(item))));
  const found = beside.filter(({ length }) => length > 1);
  return found.length === 0 ? [] : [found];
}

/** A layout that is only ranked until it is needed. */
function tryOf(
  context: Context,
  frame: Frame,
  surrounding: Surrounding,
  planned: () => Plan,
  ranked = (one: Plan) => rank(context, one),
): Try {
  let found: { planned: Plan; ranking: Ranking } | undefined;
  const find = function* () {
    if (found === undefined) {
      const made = planned();
      found = { planned: made, ranking: keepPlaces(made, yield* ranked(made)) };
    }
    return found;
  };
  return {
    // where it turns, ports are elsewhere
    *across() {
      return surrounding.around === frame.direction ? (yield* find()).ranking : null;
    },
    *make() {
      const { planned: made, ranking } = yield* find();
      return yield* geometryOfPlan(context, made, surrounding, () => noSteps(ranking));
    },
  };
}

function geometryOf(
  context: Context,
  frame: Frame,
  surrounding: Surrounding,
  inner: (Inner | null)[],
  ranked?: (plan: Plan) => Steps<Ranking>,
): Steps<Geometry> {
  const planned = plan(frame, inner, surrounding.order, surrounding.isNarrow, context.shapes);
  return geometryOfPlan(context, planned, surrounding, ranked);
}

function* geometryOfPlan(
  context: Context,
  planned: Plan,
  surrounding: Surrounding,
  ranked: (plan: Plan) => Steps<Ranking> = (one) => rank(context, one, ownKey),
  ownKey = planKey(planned),
): Steps<Geometry> {
  const key = `${surrounding.key}|${ownKey}`;
  const known = context.cache.geometries.get(key);
  if (known !== undefined) return known;
  const ranking = keepPlaces(planned, yield* ranked(planned));
  const rows = route(planned, ranking);
  const [closed, routed] = closeLoops(planned, surrounding.keepsRows === true ? rows : evenly(planned, ranking, rows));
  const rises = context.up || surrounding.up === true;
  const geometry = toPage(closed, ranking, routed, rises, surrounding);
  context.cache.geometries.set(key, geometry);
  return geometry;
}
