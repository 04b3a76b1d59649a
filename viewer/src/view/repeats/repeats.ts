/** Finds runs: children of a container that repeat the same computation. */

import { type Contents, childrenOf, contentsOf, type GraphIndex, type OpNode } from "../../graph/graph.js";
import { shortName } from "../../graph/names.js";
import { memoByObject } from "../../shared/memo.js";
import { atOnce, type Steps } from "../../shared/slices.js";
import { runsLikeFirst } from "../case_marks.js";
import { haveSameWeights } from "./used_weights.js";
import { Wiring } from "./wiring.js";

/**
 * Equal repeats among a container's children: either chained, where each reads the one before, or parallel, where all
 * read the same tensors and feed the same list.
 */
export interface Run {
  /** Position of the first child in `Contents.children`. */
  start: number;
  /** Children per repeat. */
  period: number;
  /** Number of repeats. */
  times: number;
  /** Whether each repeat reads the one before. */
  isChained: boolean;
}

/** Longest period searched: models often change every sixth layer, and each layer has ops around it. */
const MAX_PERIOD = 48;

/** Fewest parallel repeats that are folded. */
const MIN_PARALLEL = 3;
/** Fewest repeats of plain ops that are folded, and fewest ops in all: a few are clearer one by one. */
const MIN_PLAIN = 4;
const MIN_PLAIN_OPS = 10;

/** A container's children, prepared for a search. */
interface Search {
  index: GraphIndex;
  contents: Contents;
  /** Child → key of its computation. */
  keys: string[];
  wiring: Wiring;
  /** The runs found so far, and where to look for the next. */
  runs: Run[];
  at: number;
}

const NONE: ReadonlySet<string> = new Set();

/** Contents never change. */
const searches = new WeakMap<Contents, Search>();

/** The runs among a container's children in execution order, each as long as possible. */
export function findRuns(index: GraphIndex, contents: Contents): Run[] {
  return atOnce(findRunsSteps(index, contents));
}

/** The same in steps. */
export function* findRunsSteps(index: GraphIndex, contents: Contents): Steps<Run[]> {
  const search = searches.get(contents) ?? newSearch(index, contents);
  searches.set(contents, search);
  while (search.at < search.keys.length) {
    lookOn(search, MAX_PERIOD);
    yield;
  }
  return search.runs;
}

/** The runs of single blocks within each repeat of a run, by their positions in the first repeat. */
export function runsWithin(index: GraphIndex, contents: Contents, { start, period, times }: Run): Run[] {
  const search = searches.get(contents) ?? newSearch(index, contents);
  // repeated calls of one module are in different repeats
  const keys = contents.children.slice(0, start + period).map((id) => computationKey(index, id, NONE));
  const inEveryRepeat = (run: Run) => {
    for (let which = 1; which < times; which += 1) {
      if (!search.wiring.leavesAsOne(run.start + which * period, 1, run.times)) return false;
    }
    return true;
  };
  const inside: Search = { ...search, keys, runs: [], at: start };
  while (inside.at < keys.length) lookOn(inside, 1);
  return inside.runs.filter(inEveryRepeat).map((run) => ({ ...run, start: run.start - start }));
}

function newSearch(index: GraphIndex, contents: Contents): Search {
  const again = pathsCalledAgain(index, contents);
  const keys = contents.children.map((id) => computationKey(index, id, again));
  return { index, contents, keys, wiring: new Wiring(index, contents), runs: [], at: 0 };
}

/** Look for a run at the next position. */
function lookOn(search: Search, maxPeriod: number): void {
  const run = longestRun(search, search.at, maxPeriod);
  if (run !== undefined) search.runs.push(run);
  search.at += run === undefined ? 1 : run.period * run.times;
}

/** The children of one repeat of a run. */
export function repeat(contents: Contents, run: Run, which: number): string[] {
  const at = run.start + which * run.period;
  return contents.children.slice(at, at + run.period);
}

/** Whether every repeat of a run calls the same modules with the same weights. */
export function areAlike(index: GraphIndex, contents: Contents, run: Run): boolean {
  const [first, last] = [repeat(contents, run, 0), repeat(contents, run, run.times - 1)];
  const paths = (ids: string[]) =>
    ids.flatMap((id) => {
      const node = index.nodes.get(id);
      return node?.kind === "module" ? [node.path] : [];
    });
  return paths(first).join() === paths(last).join() && haveSameWeights(index, first, last);
}

/** Paths of modules that are called more than once. */
function pathsCalledAgain(index: GraphIndex, contents: Contents): Set<string> {
  const nodes = contents.children.map((id) => index.nodes.get(id));
  return new Set(nodes.flatMap((node) => (node?.kind === "module" && (node.call ?? 1) > 1 ? [node.path] : [])));
}

/** A key that is equal for children with equal computation and marks, regardless of names and weights. */
function computationKey(index: GraphIndex, id: string, again: ReadonlySet<string>): string {
  const key = unmarkedKey(index, id, again);
  const mark = index.graph.marks?.get(id);
  const annotated = index.graph.annotations?.get(id)?.key;
  if (annotated !== undefined) return `${annotated} ${key}`;
  return mark === undefined ? key : `${mark.status} ${mark.words} ${key}`;
}

function unmarkedKey(index: GraphIndex, id: string, again: ReadonlySet<string>): string {
  const node = index.nodes.get(id);
  if (node === undefined || node.kind === "input" || node.kind === "output") return `unique ${id}`;
  if (node.kind === "bundle") return node.layers ? groupKey(index, id, "layers") : `unique ${id}`;
  if (node.kind === "function") return groupKey(index, id, `function ${node.function ?? node.name}`);
  // the first step of a recurrence has another signature, as one initial tensor serves as all states
  if (node.kind === "module" && again.has(node.path)) return `again ${node.path} ${innerKey(index, id)}`;
  if (node.kind === "module") return node.signature ? `module ${node.class} ${node.signature}` : `unique ${id}`;
  const shapes = (node.outputs ?? []).map((tensor) => index.graph.tensors.get(tensor)?.shape ?? null);
  // a reshape after the last repeat, which pictures omit, gives its result another shape
  const way = index.graph.passWays?.decisions.get(id);
  if (way !== undefined) return `decision ${way.source} ${way.condition}`;
  if (node.kind === "op") return JSON.stringify(["op", node.name, argumentsWithoutIndices(node), shapes.map(elements)]);
  return JSON.stringify([node.kind, shapes]);
}

/** The contents of a function call or of layers, and how they are connected. */
function groupKey(index: GraphIndex, id: string, title: string): string {
  const { children, links } = contentsOf(index, id);
  const inner = links.filter(({ from, to }) => from !== null && to !== null);
  const pairs = inner.map(({ from, to }) => [children.indexOf(from ?? ""), children.indexOf(to ?? "")]);
  // no JSON: nested in JSON, it would double in length with each level
  return `${title}(${children.map((child) => computationKey(index, child, NONE)).join()}) ${pairs.join(" ")}`;
}

/** The number of elements: the product of known sizes, and the symbols. */
function elements(shape: readonly (number | string)[] | null): string {
  const known = (shape ?? []).filter((size) => typeof size === "number");
  const symbols = (shape ?? []).filter((size) => typeof size === "string");
  return shape === null ? "?" : [known.reduce((all, size) => all * size, 1), ...symbols].join();
}

/** The ops and classes inside a module, regardless of where its tensors come from. */
function innerKey(index: GraphIndex, id: string): string {
  return childrenOf(index, id)
    .map((child) => {
      const node = index.nodes.get(child);
      return node?.kind === "module" ? `${node.class}(${innerKey(index, child)})` : computationKey(index, child, NONE);
    })
    .join();
}

/** The arguments of an op without indices, which differ between the steps of a loop, and between experts. */
function argumentsWithoutIndices(node: OpNode): unknown {
  return isIndexing(node) ? JSON.stringify(node.arguments ?? {}).replace(/\d+/g, "#") : (node.arguments ?? {});
}

function isIndexing(node: OpNode): boolean {
  return /^(getitem|select|narrow|eq)$/.test(shortName(node.name));
}

function longestRun(search: Search, start: number, maxPeriod: number): Run | undefined {
  const { index, contents, keys, wiring } = search;
  let best: Run | undefined;
  const longest = Math.min(maxPeriod, Math.floor((keys.length - start) / 2));
  for (let period = 1; period <= longest; period += 1) {
    const size = best === undefined ? period : best.period * best.times;
    // most periods are multiples of one that was found and can't cover more
    if (period * equalRepeats(keys, start, period) <= size) continue;
    const run = repeats(search, start, period);
    if (run !== undefined && period * run.times > size) best = run;
  }
  return best !== undefined && worthwhile(index, contents, wiring, best) ? best : undefined;
}

/**
 * The chained repeats from a position on or, if there is only one, the parallel ones. Blocks that read skips in reverse
 * order are levels of a U, not repeats. A first block that reads less than the last doesn't represent it, unless the run
 * is a loop, whose first step may read a constant.
 */
function repeats({ index, contents, keys, wiring }: Search, start: number, period: number): Run | undefined {
  const childrenAt = (which: number) => repeat(contents, { start, period, times: 1, isChained: false }, which);
  const count = (matches: (times: number) => boolean) => {
    let times = 1;
    const runs = () => runsLikeFirst(index, childrenAt(0), childrenAt(times));
    while (equalRepeat(keys, start, period, times) && runs() && matches(times)) times += 1;
    while (times > 1 && !wiring.leavesAsOne(start, period, times)) times -= 1;
    return times;
  };
  if (!wiring.isConnected(start, period)) return undefined;
  const chained = count((times) => wiring.isChained(start, period, times));
  if (chained > 1) {
    const run = { start, period, times: chained, isChained: true };
    const isTold = readsAsMuch(index, contents, run) && !wiring.readsBackwards(start, period, chained);
    return isTold || areAlike(index, contents, run) ? run : undefined;
  }
  const parallel = count((times) => wiring.isParallel(start, period, times));
  return parallel < MIN_PARALLEL ? undefined : { start, period, times: parallel, isChained: false };
}

/**
 * Whether the modules of the first repeat read as many tensors as those of the last: a skip may read zeros, which pictures
 * omit. Ops between modules may begin with zeros.
 */
function readsAsMuch(index: GraphIndex, contents: Contents, run: Run): boolean {
  const isModule = (id: string) => index.nodes.get(id)?.kind === "module";
  const readIn = (which: number) =>
    repeat(contents, run, which)
      .filter(isModule)
      .map((id) => readsIn(index, id));
  return readIn(0).join() === readIn(run.times - 1).join();
}

/** How many tensors the ops in a node read. */
function readsIn(index: GraphIndex, id: string): number {
  const { children } = contentsOf(index, id);
  if (children.length === 0) return readsByOp(index).get(id) ?? 0;
  return children.reduce((sum, child) => sum + readsIn(index, child), 0);
}

/** Op → how many tensors it reads. */
const readsByOp = memoByObject((index: GraphIndex) => {
  const counts = new Map<string, number>();
  for (const { to, flow } of [...index.graph.adjacency.values()].flat())
    if (flow !== "shape") counts.set(to, (counts.get(to) ?? 0) + 1);
  return counts;
});

/** How many consecutive stretches from a position on have equal keys. */
function equalRepeats(keys: string[], start: number, period: number): number {
  let times = 1;
  while (equalRepeat(keys, start, period, times)) times += 1;
  return times;
}

function equalRepeat(keys: string[], start: number, period: number, times: number): boolean {
  const at = start + times * period;
  if (at + period > keys.length) return false;
  for (let i = 0; i < period; i += 1) if (keys[at + i] !== keys[start + i]) return false;
  return true;
}

function isBlock(index: GraphIndex, id = ""): boolean {
  return contentsOf(index, id).children.length > 0;
}

function worthwhile(index: GraphIndex, contents: Contents, wiring: Wiring, run: Run): boolean {
  const first = repeat(contents, run, 0).find((id) => isBlock(index, id));
  if (first === undefined) {
    if (run.times >= MIN_PLAIN && run.period * run.times >= MIN_PLAIN_OPS) return true;
    return run.times > 2 && run.isChained && readsOtherParts(index, contents, wiring, run);
  }
  return run.times > 2 || contentsOf(index, first).children.length > 1;
}

/** Whether each repeat reads another part of a tensor: a loop over time that calls no module. */
function readsOtherParts(index: GraphIndex, contents: Contents, wiring: Wiring, run: Run): boolean {
  return readsDifferentIndices(index, contents, run) || wiring.readsDifferentResults(run.start, run.period);
}

function readsDifferentIndices(index: GraphIndex, contents: Contents, run: Run): boolean {
  const argumentsOf = (id = "") => {
    const node = index.nodes.get(id);
    return node?.kind === "op" && isIndexing(node) ? JSON.stringify(node.arguments) : "";
  };
  const second = repeat(contents, run, 1);
  return repeat(contents, run, 0).some((id, i) => argumentsOf(id) !== argumentsOf(second[i]));
}
