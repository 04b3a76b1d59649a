import { append } from "../graph/append.js";
import { ancestors, contentsOf, type GraphIndex, type ModuleNode, ROOT } from "../graph/graph.js";
import { LEGIBLE_SCALE } from "../shared/legible.js";
import { boxOf, singleChain } from "./boxes.js";
import { runId, runsIn, shownContents } from "./contents.js";
import { type Bounds, defaultExpansion, isOpenable, type Measure, type Page } from "./default_expansion.js";
import type { Frame } from "./frame.js";
import type { ViewOptions } from "./options.js";
import { matcher, matching, modules } from "./patterns.js";
import { findRuns, repeat } from "./repeats.js";
import { shownIndex } from "./shown_index.js";
import type { Direction, State } from "./state.js";
import { view } from "./view.js";

/** Longest picture on a screen, in px: about one screen of scrolling, or a page's width. */
const LONGEST = { TB: 1020, LR: 1200 } as const;
/** Broadest picture (across the flow) that stays legible in a page. */
const BROADEST = { TB: 1056, LR: 640 } as const;

/** Smallest scale at which the author's options are kept. */
const TOLERABLE = 0.4;
/** Width of margins, labels and wires around lines, in px. */
const AROUND_LINES = 104;
/** Height of a one-line legend, the usual case. */
const LEGEND = 32;

/** The state a picture starts from. */
export function initialState(traced: GraphIndex, options: ViewOptions, measure: Measure): State {
  if (options.fit != null) return fitting(traced, options, options.fit, measure);
  return stateIn(traced, options, mainDirection(options) ?? "TB", { bounds: screen, measure, isPaper: false });
}

/**
 * The state for a page, in the direction that shows more or larger. Authors choose `depth` and `expand` for a screen;
 * both are ignored if they would make the picture tiny.
 */
function fitting(
  traced: GraphIndex,
  options: ViewOptions,
  page: readonly [width: number, height: number],
  measure: Measure,
): State {
  const requested = onPage(traced, options, page, measure);
  if (requested.scale >= TOLERABLE || (options.depth == null && options.expand == null)) return requested.state;
  return onPage(traced, { ...options, depth: null, expand: null }, page, measure).state;
}

function onPage(
  traced: GraphIndex,
  options: ViewOptions,
  [width, height]: readonly [width: number, height: number],
  measure: Measure,
): { state: State; scale: number } {
  const [across, down] = [width / LEGIBLE_SCALE, height / LEGIBLE_SCALE - LEGEND];
  const bounds: Bounds = (direction) =>
    direction === "TB" ? { longest: down, broadest: across } : { longest: across, broadest: down };
  const measured = (direction: Direction) => {
    const state = stateIn(traced, options, direction, { bounds, measure, isPaper: true, line: across - AROUND_LINES });
    const drawn = measure(state);
    const scale = Math.min(1, width / drawn.width, height / drawn.height);
    return { state, scale, legible: scale >= LEGIBLE_SCALE, boxes: boxes(view(traced, state).root) };
  };
  const main = mainDirection(options);
  if (main !== null) return measured(main);
  const [tall, wide] = [measured("TB"), measured("LR")];
  if (tall.legible !== wide.legible) return tall.legible ? tall : wide;
  const more = (tall.legible ? wide.boxes - tall.boxes : 0) || wide.scale - tall.scale;
  return more > 0 ? wide : tall;
}

/** Number of boxes in a frame and the frames inside it. */
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
    return { ...start, expanded: defaultExpansion(traced, start, page, (id) => isClosed(id)).sort() };
  }
  const matched = matching(index, options.expand ?? []);
  const requested = new Set(matched.flatMap((id) => [id, ...ancestors(index, id)]).filter((id) => id !== ROOT));
  const shown = options.depth == null ? [] : shallow(index, options.depth);
  const candidates = [...new Set([...requested, ...shown])].filter(
    (id) => !singleChain(index, id).some((at) => closed.has(at)),
  );
  const unrolled = unrolledFor(index, requested, candidates);
  return { ...start, expanded: candidates.filter((id) => !isClosed(id, unrolled)).sort(), unrolled };
}

/** The direction of the root frame; null if the options don't set it. */
function mainDirection({ direction }: ViewOptions): Direction | null {
  if (direction == null || typeof direction === "string") return direction ?? null;
  return lastFirst(direction).find(([pattern]) => pattern === "*")?.[1] ?? "TB";
}

/** Modules whose direction differs from the root's. */
function turned(index: GraphIndex, rules: ViewOptions["direction"], main: Direction): Pick<State, "turned"> {
  if (rules == null || typeof rules === "string") return {};
  const tests = lastFirst(rules).map(([pattern, direction]) => ({ matches: matcher([pattern]), direction }));
  const directionOf = (node: ModuleNode) => tests.find(({ matches }) => matches(node))?.direction ?? main;
  const other = modules(index).filter((node) => directionOf(node) !== main);
  return other.length === 0 ? {} : { turned: other.map((node) => node.id).sort() };
}

function lastFirst<T>(rules: readonly T[]): T[] {
  return [...rules].reverse();
}

/** Expandable modules down to a depth: 1 means direct children of the model. */
function shallow(index: GraphIndex, depth: number): string[] {
  return modules(index)
    .filter((node) => ancestors(index, node.id).length <= depth && isOpenable(index, node.id))
    .map((node) => node.id);
}

/** Runs to unroll: those with a requested member that is expanded differently from the first. */
function unrolledFor(index: GraphIndex, requested: ReadonlySet<string>, expanded: string[]): string[] {
  const inside = expandedInside(index, expanded);
  const containers = new Set([...requested].map((id) => index.parent.get(id) ?? ROOT));
  const differs = (first: string, later: string) =>
    requested.has(later) && (inside.get(later) ?? "") !== (inside.get(first) ?? "");
  const unrolled = new Set<string>();
  for (const id of containers) {
    const contents = contentsOf(index, id);
    for (const run of findRuns(index, contents)) {
      const firsts = repeat(contents, run, 0);
      const later = contents.children.slice(run.start + run.period, run.start + run.period * run.times);
      if (later.some((member, i) => differs(firsts[i % run.period] ?? "", member))) unrolled.add(runId(contents, run));
    }
    // a repeat may contain a shorter run
    for (const { id: run, members } of runsIn(shownContents(index, id, unrolled)))
      if (members.some((member) => differs(members[0] ?? "", member))) unrolled.add(run);
  }
  return [...unrolled].sort();
}

/** Module → key of what is expanded inside; equal for equal modules expanded in the same way. */
function expandedInside(index: GraphIndex, expanded: string[]): Map<string, string> {
  const orderOf = (id: string) => index.order.get(id) ?? 0;
  const inside = new Map<string, number[]>();
  for (const id of expanded) {
    for (const parent of [id, ...ancestors(index, id)]) append(inside, parent, orderOf(id) - orderOf(parent));
  }
  return new Map([...inside].map(([id, offsets]) => [id, offsets.sort((a, b) => a - b).join()]));
}
