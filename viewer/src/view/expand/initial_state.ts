import { ancestors, type GraphIndex, ROOT } from "../../graph/graph.js";
import { LEGIBLE_SCALE } from "../../shared/legible.js";
import { boxOf, singleChain } from "../boxes.js";
import type { Frame } from "../frame.js";
import { type Limits, MANY } from "../grouping/bundles.js";
import { shownIndex } from "../grouping/shown_index.js";
import { recursionOf } from "../labels/way_words.js";
import type { ViewOptions } from "../options.js";
import { matching } from "../patterns.js";
import { type Direction, IN_ONE_FLOW, SHAPES, type State } from "../state.js";
import { view } from "../view.js";
import { ALONE, defaultExpansion, lacksTower, mainPaths, partsOfTheirOwn, stagesOf } from "./default_expansion.js";
import { AROUND_LINES, LEGIBLE_WIDTH, type MeasureSize, type Page, WIDEST } from "./page_limits.js";
import { pairsIn } from "./pairs.js";
import { mainDirection, shallow, turned, unrolledFor } from "./requested.js";
import { HIDES, smallBundles, withoutSmallBundles } from "./small_bundles.js";

/** What a picture shows at first: as much as fits a page. */

/**
 * Largest picture by default, px. In the narrowest text column of common themes (pydata-sphinx-theme: 608 px in a window of
 * 1280 px) its smallest text has 9 px. It may be wider for exemplars of blocks, and then scrolls in such a column.
 *
 * The height is about one screen of scrolling; for exemplars of blocks, 1,400 px with a legend.
 */
const SCREEN = { width: 675, height: 1020, tallest: 1340, widest: 675 };
/** Greatest height with everything collapsed (2,400 px with a legend), and if that needs bundles. */
const HIGHEST = 2300;
const HIGHEST_BUNDLED = 1300;
/** Greatest width of a low picture with everything collapsed, such as one of many inputs, if fewer boxes need bundles. */
const BROAD = 920;
/** Limits to try, in this order, if the picture is too large. */
const FEWER_ENDS: readonly Limits[] = [{ ends: 5 }, { ends: 3 }, { ends: 2 }];
const FEWER: readonly Limits[] = [40, 28, 20, 14, 10, 7, 5, 3, 2, 1].map((most) => ({ most, ends: Math.min(most, 3) }));
/** Limits that make room for exemplars while containers still show their order. */
const FEWER_ORDERLY: readonly Limits[] = [28, 20, 16, 14, 12, 10, 8, 7, 6, 5, 4].map((most) => ({ most }));

/** Smallest scale at which the author's options are respected. */
const TOLERABLE = 0.4;
/** Height of a legend with one line, as most have. */
const LEGEND = 32;

/** The state a picture starts from. */
export function initialState(traced: GraphIndex, options: ViewOptions, measure: MeasureSize): State {
  if (options.fit != null) return fitting(traced, options, options.fit, measure);
  const page: Page = {
    ...SCREEN,
    highest: HIGHEST,
    highestBundled: HIGHEST_BUNDLED,
    measure,
    mayScroll: true,
    mayBundle: true,
  };
  return stateIn(traced, options, mainDirection(options) ?? "TB", page);
}

/**
 * The state for a page, in the direction that shows more or is larger. Authors choose `depth` and `expand` for a screen:
 * both are ignored if they would make the picture tiny.
 */
function fitting(
  traced: GraphIndex,
  options: ViewOptions,
  page: readonly [width: number, height: number],
  measure: MeasureSize,
): State {
  const requested = onPage(traced, options, page, measure);
  if (requested.scale >= TOLERABLE || (options.depth == null && options.expand == null)) return requested.state;
  return onPage(traced, { ...options, depth: null, expand: null }, page, measure).state;
}

function onPage(
  traced: GraphIndex,
  options: ViewOptions,
  [width, height]: readonly [width: number, height: number],
  measure: MeasureSize,
): { state: State; scale: number } {
  const [across, down] = [width / LEGIBLE_SCALE, height / LEGIBLE_SCALE - LEGEND];
  const limits = {
    width: across,
    height: down,
    tallest: down,
    widest: across,
    highest: down,
    highestBundled: down,
    line: across - AROUND_LINES,
  };
  const measured = (direction: Direction, mayBundle: boolean): Candidate => {
    const state = stateIn(traced, options, direction, { ...limits, measure, mayScroll: false, mayBundle });
    const drawn = measure(state);
    const scale = Math.min(1, width / drawn.width, height / drawn.height);
    return { state, scale, legible: scale >= LEGIBLE_SCALE, boxes: boxes(view(traced, state).root) };
  };
  const main = mainDirection(options);
  const directions: Direction[] = main === null ? ["TB", "LR"] : [main];
  const whole = better(directions.map((direction) => measured(direction, false)));
  return whole.legible ? whole : better(directions.map((direction) => measured(direction, true)));
}

interface Candidate {
  state: State;
  scale: number;
  legible: boolean;
  boxes: number;
}

/** The candidate that is legible, or else shows more, or else is larger. */
function better([tall, wide = tall]: Candidate[]): Candidate {
  if (tall === undefined || wide === undefined) throw new Error("expected a candidate");
  if (tall.legible !== wide.legible) return tall.legible ? tall : wide;
  const more = (tall.legible ? wide.boxes - tall.boxes : 0) || wide.scale - tall.scale;
  return more > 0 ? wide : tall;
}

/** Number of boxes in a frame and the frames inside it. */
function boxes(frame: Frame): number {
  return frame.items.reduce((sum, item) => sum + (item.frame === null ? 1 : boxes(item.frame)), 0);
}

function stateIn(traced: GraphIndex, options: ViewOptions, direction: Direction, page: Page): State {
  const kinds = {
    ...(options.functions === false && { functions: false }),
    ...(options.layers === false && { layers: false }),
  };
  const index = shownIndex(traced, kinds);
  const shape = {
    ...kinds,
    ...turned(index, options.direction, direction),
    ...(page.line && { line: page.line }),
    ...(options.legend === false && { legend: false }),
    ...(options.edge_width && { edgeWidth: options.edge_width }),
    ...(options.shapes && { shapes: options.shapes === "none" ? [] : options.shapes }),
  };
  const start = withBundles(traced, { expanded: [], unrolled: [], direction, ...shape }, page);
  const closed = new Set(matching(index, options.collapse ?? []));
  const isClosed = (id: string, unrolled: string[] = []) =>
    boxOf(index, id, new Set(unrolled)).chain.some((inner) => closed.has(inner));
  if (options.depth == null && options.expand == null) {
    return withDefaultExpansion(traced, start, page, (id) => isClosed(id) || recursionOf(index, id) > 0);
  }
  const matched = matching(index, options.expand ?? []);
  const requested = new Set(matched.flatMap((id) => [id, ...ancestors(index, id)]).filter((id) => id !== ROOT));
  const shown = options.depth == null ? [] : shallow(index, options.depth);
  const candidates = [...new Set([...requested, ...shown])].filter(
    (id) => !singleChain(index, id).some((at) => closed.has(at)),
  );
  const unrolled = unrolledFor(index, requested, candidates);
  const expanded = candidates.filter((id) => !isClosed(id, unrolled));
  return { ...start, expanded: [...expanded, ...bundlesAround(traced, start, requested)].sort(), unrolled };
}

/**
 * What the picture shows without `depth` and `expand`: with the layouts of structures, unless one flow shows more because
 * it is narrower, or as much without bundles. The shape of a U says most. Structures that the author asked for stay.
 */
function withDefaultExpansion(traced: GraphIndex, start: State, page: Page, isClosed: (id: string) => boolean): State {
  let isShaped = false;
  const measure: MeasureSize = (state) => {
    const drawn = page.measure(state);
    if (drawn.shaped) isShaped = true;
    return drawn;
  };
  const shaped = bestScored(traced, withPair(traced, start, page, isClosed), { ...page, measure }, isClosed);
  const mayBePlain = isShaped && start.shapes === undefined;
  const plain = mayBePlain ? bestScored(traced, { ...start, shapes: IN_ONE_FLOW }, page, isClosed) : shaped;
  const score = Math.max(plain.score, shaped.score);
  if (isShaped ? score < 1 : score < LITTLE || lacksTower(score)) {
    const narrow = bestScored(traced, { ...start, narrow: true }, page, isClosed);
    if (narrow.score > score) return narrow.state;
  }
  if (!mayBePlain) return shaped.state;
  const hidesMore = shaped.state.kept !== undefined && plain.state.kept === undefined;
  const isBetter = plain.score > shaped.score && !isU(shaped.state, page);
  return isBetter || hidesMore || !page.measure(shaped.state).shaped ? plain.state : shaped.state;
}

/** With an encoder and its decoder open if they make a U that fits a page. */
function withPair(traced: GraphIndex, start: State, page: Page, isClosed: (id: string) => boolean): State {
  const shapes = start.shapes ?? SHAPES;
  const isBundled = start.most !== undefined && start.most !== MANY;
  if (isBundled || start.direction !== "TB" || !shapes.includes("u")) return start;
  const pairs = isU(start, page) ? [] : pairsIn(traced, start).filter((pair) => !pair.some(isClosed));
  const states = pairs.map((pair): State => ({ ...start, expanded: [...pair] }));
  const fits = (state: State) => {
    const { width, height } = page.measure(state);
    return width <= (page.mayScroll ? WIDEST : page.width) && height <= page.tallest;
  };
  return states.find((state) => isU(state, page) && fits(state)) ?? start;
}

/** Below this score, that of a block of any class, narrow containers are tried; also if a tower or a structure is incomplete. */
const LITTLE = 0.9;

interface Scored {
  state: State;
  score: number;
}

/** The state with the best score: wider, or with more bundles, if that makes room. */
function bestScored(traced: GraphIndex, start: State, page: Page, isClosed: (id: string) => boolean): Scored {
  let best: Scored = { state: start, score: 0 };
  let holdsU: boolean | undefined;
  const few = (state: State) => smallBundles(shownIndex(traced, state)).length;
  const fewAtStart = few(start);
  for (const { from, page: room } of attempts(traced, start, page)) {
    const isBundled = from.kept !== start.kept;
    if (isBundled) {
      // bundles hide more than a second tower shows, and half of a U
      holdsU ??= isU(best.state, page);
      if (holdsU || best.score >= ALONE) break;
    }
    const { expanded, score } = defaultExpansion(traced, from, room, isClosed);
    const state = withoutSmallBundles(traced, { ...from, expanded: expanded.sort() }, { ...room, widest: page.widest });
    const reached = (score ?? Math.sign(expanded.length)) - HIDES * (few(state) - fewAtStart);
    if (reached > best.score || best.state === start) best = { state, score: reached };
    if (reached === 1 || (score === undefined && isBundled)) break;
  }
  return best;
}

/** Whether a picture shows a U. */
function isU(state: State, page: Page): boolean {
  return page.measure({ ...state, shapes: ["u"] }).shaped === true;
}

/** How much taller a picture may be if that keeps the stages of the model out of bundles. */
const FOR_STAGES = 1.25;

/** A closed state to begin with, and the page that the picture may take. */
interface Attempt {
  from: State;
  page: Page;
}

/** Fewer inputs and outputs, then a wider page, then bundles, first without stages in them. */
function* attempts(traced: GraphIndex, start: State, page: Page): Generator<Attempt> {
  const widths = page.mayScroll ? [page.widest, LEGIBLE_WIDTH, WIDEST] : [page.widest];
  for (const { limits, room } of limitsFor(traced, start, page)) {
    for (const widest of widths) {
      const tried = new Set<GraphIndex>();
      const lines = linesWithin(start, page, widest);
      for (const more of limits.filter((one) => isTighter(one, start))) {
        const from: State = { ...start, ...more, ...lines };
        const index = shownIndex(traced, from);
        if (!tried.has(index)) yield { from, page: { ...room, widest } };
        tried.add(index);
      }
    }
  }
}

/** Limits to try in this order, and the page that pictures with them may take. */
function limitsFor(traced: GraphIndex, start: State, page: Page): { limits: readonly Limits[]; room: Page }[] {
  if (!page.mayBundle) return [{ limits: [{}], room: page }];
  const kept = mainPaths(traced, start);
  const stages = stagesOf(traced, start);
  const tallest = page.mayScroll ? page.tallest * FOR_STAGES : page.tallest;
  const orderly = (ids: readonly string[]) => FEWER_ORDERLY.map((most): Limits => ({ ...most, kept: ids }));
  return [
    { limits: [{}, ...FEWER_ENDS], room: page },
    ...(stages.length > 0 ? [{ limits: orderly([...new Set([...kept, ...stages])]), room: { ...page, tallest } }] : []),
    { limits: orderly(kept), room: page },
  ];
}

/** Lines of a flow from left to right are as long as the picture may be wide. */
function linesWithin({ direction }: State, page: Page, widest: number): Partial<State> {
  return direction === "LR" && page.mayScroll ? { line: widest - AROUND_LINES } : {};
}

function isTighter({ most = 0, ends = 0 }: Limits, than: Limits): boolean {
  return most <= (than.most ?? Number.POSITIVE_INFINITY) && ends <= (than.ends ?? Number.POSITIVE_INFINITY);
}

/** With as few bundles as everything collapsed needs to fit the page. */
function withBundles(traced: GraphIndex, start: State, page: Page): State {
  const whole = shownIndex(traced, start);
  const orderly: State = shownIndex(traced, { ...start, most: MANY }) === whole ? start : { ...start, most: MANY };
  if (!page.mayBundle || isWithin(page, orderly)) return orderly;
  const kept = partsOfTheirOwn(whole);
  const limited = (more: Partial<State>) =>
    [...FEWER_ENDS, ...FEWER].map((limits): State => ({ ...orderly, ...limits, ...more }));
  // large parts are bundled like others if a page has no room for them
  const fewer = [...(kept.length > 0 ? limited({ kept }) : []), ...limited({})];
  const last = fewer[fewer.length - 1] ?? orderly;
  return orderlyWithin(orderly, page) ?? fewer.find((state) => isWithin(page, state, page.highestBundled)) ?? last;
}

/** With everything collapsed and only inputs and outputs bundled: by structure, in one flow, or with narrow boxes. */
function orderlyWithin(orderly: State, page: Page): State | undefined {
  const widest = page.mayScroll ? WIDEST : page.width;
  if (page.measure(orderly).shaped) {
    if (isU(orderly, page) && isWithin(page, orderly, page.highest, widest)) return orderly;
    const shaped = FEWER_ENDS.map((limits): State => ({ ...orderly, ...limits }));
    const found = shaped.find((state) => isWithin(page, state) && page.measure(state).shaped);
    if (found !== undefined) return found;
    const plain: State = { ...orderly, shapes: IN_ONE_FLOW };
    if (orderly.shapes === undefined && isWithin(page, plain)) return plain;
  }
  const narrow: State = { ...orderly, narrow: true };
  if (isWithin(page, narrow, page.highest, widest)) return narrow;
  return page.mayScroll && isWithin(page, narrow, page.height, BROAD) ? narrow : undefined;
}

/** Whether a picture with everything collapsed fits. It may scroll a little in a narrow column, to avoid more bundles. */
function isWithin(
  page: Page,
  state: State,
  highest = page.highest,
  widest = page.mayScroll ? LEGIBLE_WIDTH : page.width,
): boolean {
  const { width, height } = page.measure(state);
  return width <= widest && height <= highest;
}

/** Bundles that hide requested modules. */
function bundlesAround(traced: GraphIndex, state: State, requested: ReadonlySet<string>): string[] {
  const index = shownIndex(traced, state);
  const around = [...requested].flatMap((id) => (index.nodes.has(id) ? ancestors(index, id) : []));
  return [...new Set(around)].filter((id) => index.nodes.get(id)?.kind === "bundle");
}
