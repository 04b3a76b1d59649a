import { append } from "./append.js";
import { shortName } from "./families.js";
import { ancestors, contentsOf, type GraphIndex, type ModuleNode, ROOT } from "./graph.js";
import { layout, layoutCache, type Viz } from "./layout.js";
import { type Bounds, isOpenable, type Measure, type Page, readable } from "./readable.js";
import { findRuns, repeat } from "./roll.js";
import { runId, runsIn, surface } from "./surface.js";
import { boxOf, type Direction, type Frame, type State, shownIndex, singleChain, view } from "./view.js";

/** What an author can say about the first picture; absent or null: the viewer chooses. */
export interface ViewOptions {
  depth?: number | null;
  expand?: string[] | null;
  /** What stays closed, whatever else is said. */
  collapse?: string[] | null;
  /**
   * For the whole picture, or by pattern for the inside of modules: the last that matches counts, `*` also for the model.
   * Pairs, because an object would put `0` before `*`.
   */
  direction?: Direction | readonly (readonly [pattern: string, direction: Direction])[] | null;
  /** Width and height, in px, of the page that the picture is for. */
  fit?: readonly [width: number, height: number] | null;
}

/** Longest picture, in px: about a screen of scrolling down, or the width of a page. */
const LONGEST = { TB: 1020, LR: 1200 } as const;
/** Widest, or running left to right highest, picture that a page shows without making it illegible. */
const BROADEST = { TB: 1056, LR: 640 } as const;

/** How small a page may show a picture: labels of 10 px are then as large as footnotes' signs, and legible. */
const LEGIBLE = 0.7;
/** Smaller than this is of no use. */
const TOLERABLE = 0.4;
/** What a picture has besides its lines: margins, labels, and wires from one to the next. */
const AROUND_LINES = 104;
/** Most legends are one line. */
const LEGEND = 32;

/** The state a picture starts from; without dot, what fits is judged by the plain layout. */
export function initialState(traced: GraphIndex, options: ViewOptions = {}, viz: Viz | null = null): State {
  const cache = layoutCache();
  const measure: Measure = (state) => layout(view(traced, state), viz, cache);
  if (options.fit != null) return fitting(traced, options, options.fit, measure);
  return stateIn(traced, options, mainDirection(options) ?? "TB", { bounds: screen, measure, isPaper: false });
}

/**
 * Of both directions the one that shows more on a page, or that the page shows larger. What an author wants open was
 * said for a screen, and is left aside where a page could only show it tiny.
 */
function fitting(
  traced: GraphIndex,
  options: ViewOptions,
  page: readonly [width: number, height: number],
  measure: Measure,
): State {
  const asked = onPage(traced, options, page, measure);
  if (asked.scale >= TOLERABLE || (options.depth == null && options.expand == null)) return asked.state;
  return onPage(traced, { ...options, depth: null, expand: null }, page, measure).state;
}

function onPage(
  traced: GraphIndex,
  options: ViewOptions,
  [width, height]: readonly [width: number, height: number],
  measure: Measure,
): { state: State; scale: number } {
  const [across, down] = [width / LEGIBLE, height / LEGIBLE - LEGEND];
  const bounds: Bounds = (direction) =>
    direction === "TB" ? { longest: down, broadest: across } : { longest: across, broadest: down };
  const measured = (direction: Direction) => {
    const state = stateIn(traced, options, direction, { bounds, measure, isPaper: true, line: across - AROUND_LINES });
    const drawn = measure(state);
    const scale = Math.min(1, width / drawn.width, height / drawn.height);
    return { state, scale, legible: scale >= LEGIBLE, boxes: boxes(view(traced, state).root) };
  };
  const main = mainDirection(options);
  if (main !== null) return measured(main);
  const [tall, wide] = [measured("TB"), measured("LR")];
  if (tall.legible !== wide.legible) return tall.legible ? tall : wide;
  const more = (tall.legible ? wide.boxes - tall.boxes : 0) || wide.scale - tall.scale;
  return more > 0 ? wide : tall;
}

/** How many boxes are in a container, those in open ones included. */
function boxes(frame: Frame): number {
  return frame.items.reduce((sum, item) => sum + (item.frame === null ? 1 : boxes(item.frame)), 0);
}

function screen(direction: Direction): ReturnType<Bounds> {
  return { longest: LONGEST[direction], broadest: BROADEST[direction] };
}

function stateIn(traced: GraphIndex, options: ViewOptions, direction: Direction, page: Page): State {
  const index = shownIndex(traced, { expanded: [], unrolled: [], direction });
  const shape = { ...turned(index, options.direction, direction), ...(page.line && { line: page.line }) };
  const start: State = { expanded: [], unrolled: [], direction, ...shape };
  const closed = new Set(matching(index, options.collapse ?? []));
  const isClosed = (id: string, unrolled: string[] = []) =>
    boxOf(index, id, new Set(unrolled)).chain.some((inner) => closed.has(inner));
  if (options.depth == null && options.expand == null) {
    return { ...start, expanded: readable(traced, start, page, (id) => isClosed(id)).sort() };
  }
  const matched = matching(index, options.expand ?? []);
  const wanted = new Set(matched.flatMap((id) => [id, ...ancestors(index, id)]).filter((id) => id !== ROOT));
  const shown = options.depth == null ? [] : shallow(index, options.depth);
  const asked = [...new Set([...wanted, ...shown])].filter(
    (id) => !singleChain(index, id).some((at) => closed.has(at)),
  );
  const unrolled = unrolledFor(index, wanted, asked);
  return { ...start, expanded: asked.filter((id) => !isClosed(id, unrolled)).sort(), unrolled };
}

/** The model's own direction; null where nobody says. */
function mainDirection({ direction }: ViewOptions): Direction | null {
  if (direction == null || typeof direction === "string") return direction ?? null;
  return lastFirst(direction).find(([pattern]) => pattern === "*")?.[1] ?? "TB";
}

/** Modules whose inside is to run otherwise than the picture. */
function turned(index: GraphIndex, wanted: ViewOptions["direction"], main: Direction): Pick<State, "turned"> {
  if (wanted == null || typeof wanted === "string") return {};
  const tests = lastFirst(wanted).map(([pattern, direction]) => ({ matches: matcher([pattern]), direction }));
  const directionOf = (node: ModuleNode) => tests.find(({ matches }) => matches(node))?.direction ?? main;
  const other = modules(index).filter((node) => directionOf(node) !== main);
  return other.length === 0 ? {} : { turned: other.map((node) => node.id).sort() };
}

function lastFirst<T>(rules: readonly T[]): T[] {
  return [...rules].reverse();
}

/** Every module down to a depth: with 1, those directly in the model. */
function shallow(index: GraphIndex, depth: number): string[] {
  return modules(index)
    .filter((node) => ancestors(index, node.id).length <= depth && isOpenable(index, node.id))
    .map((node) => node.id);
}

/** Modules whose path or class matches a pattern. */
function matching(index: GraphIndex, patterns: string[]): string[] {
  return modules(index)
    .filter(matcher(patterns))
    .map((node) => node.id);
}

function matcher(patterns: string[]): (node: ModuleNode) => boolean {
  const rules = patterns.map(glob);
  return (node) => [node.path, shortName(node.class), node.class].some((name) => rules.some((rule) => rule.test(name)));
}

/** Runs to be shown one by one: those of which a later member is wanted otherwise than the one on show stands open. */
function unrolledFor(index: GraphIndex, wanted: ReadonlySet<string>, expanded: string[]): string[] {
  const inside = opened(index, expanded);
  const containers = new Set([...wanted].map((id) => index.holder.get(id) ?? ROOT));
  const differs = (standIn: string, later: string) =>
    wanted.has(later) && (inside.get(later) ?? "") !== (inside.get(standIn) ?? "");
  const unrolled = new Set<string>();
  for (const id of containers) {
    const contents = contentsOf(index, id);
    for (const run of findRuns(index, contents)) {
      const standIns = repeat(contents, run, 0);
      const later = contents.children.slice(run.start + run.period, run.start + run.period * run.times);
      if (later.some((member, i) => differs(standIns[i % run.period] ?? "", member)))
        unrolled.add(runId(contents, run));
    }
    // a repeat may hold a shorter run
    for (const { id: run, members } of runsIn(surface(index, id, unrolled)))
      if (members.some((member) => differs(members[0] ?? "", member))) unrolled.add(run);
  }
  return [...unrolled].sort();
}

/** Module → what of it is open, as text: equal for equal modules that are open in the same way. */
function opened(index: GraphIndex, expanded: string[]): Map<string, string> {
  const place = (id: string) => index.order.get(id) ?? 0;
  const inside = new Map<string, number[]>();
  for (const id of expanded) {
    for (const holder of [id, ...ancestors(index, id)]) append(inside, holder, place(id) - place(holder));
  }
  return new Map([...inside].map(([id, places]) => [id, places.sort((a, b) => a - b).join()]));
}

/** `*` stands for anything, `?` for one character; as Python's `patterns.py` has it. */
function glob(pattern: string): RegExp {
  const escaped = pattern.replace(/[.+^${}()|[\]\\]/g, "\\$&");
  return new RegExp(`^${escaped.replace(/\*/g, ".*").replace(/\?/g, ".")}$`, "su");
}

function modules(index: GraphIndex): ModuleNode[] {
  return index.graph.nodes.filter((node): node is ModuleNode => node.kind === "module");
}
