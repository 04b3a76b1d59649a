import { ancestors, type GraphIndex, ROOT } from "../../graph/graph.js";
import { shownIndex } from "../grouping/shown_index.js";
import { isPlain, mostInformative } from "../labels/container_words.js";
import type { State } from "../state.js";
import { exemplars } from "./exemplars.js";
import { Filling } from "./filling.js";
import { type Join, joining, showsJoin } from "./joins.js";
import { boxed, innermost, isInformative, isOpenable, shownIn, timesOf } from "./openable.js";
import { fitting, LEGIBLE_WIDTH, legendRoom, MAX_VISIBLE, nodesIn, type Page, WIDEST } from "./page_limits.js";
import { twinsOf } from "./twins.js";

/** Chooses the modules to expand if the author gives no options. */

/** Modules to expand. */
interface Expansion {
  expanded: string[];
  /**
   * How much they say about the model: 1 with exemplars of the costliest class of blocks in all towers, less with others
   * or only a part of the path to one, 0 without; undefined for models without blocks.
   */
  score: number | undefined;
}

/** Most exemplars of a class that are tried. */
const MOST_TRIED = 3;
/** Scores of an exemplar in one of several open towers, in a tower other than the first, and beside closed towers. */
const ONE_TOWER = 0.995;
const OTHER_TOWER = 0.99;
export const ALONE = 0.98;
/** Scores of a block with closed layers, another exemplar, one of a less costly class, and the path to one without it. */
const BLOCK = 0.97;
const SAME_CLASS = 0.95;
const OTHER_CLASS = 0.9;
const WAY = 0.5;
/** Score of all towers without a block. */
const TOWERS = 0.6;

/** Whether a score means that all towers are open, but not a block in each. */
export function lacksTower(score: number): boolean {
  return score > ALONE && score < 1;
}

/**
 * Opens an exemplar of each class of main blocks, as far as the picture stays on a page, in addition to what is open at
 * the start. Fills the rest of a screen breadth first, modules with few parameters last.
 */
export function defaultExpansion(
  traced: GraphIndex,
  start: State,
  page: Page,
  isClosed: (id: string) => boolean,
): Expansion {
  const index = shownIndex(traced, start);
  const isHidden = (id: string) =>
    isClosed(id) || ancestors(index, id).some((around) => index.nodes.get(around)?.kind === "bundle");
  const known = exemplars(
    shownIndex(traced, { plumbing: start.plumbing === true, functions: start.functions !== false, layers: false }),
  );
  const visible = known.map((paths) => onePerContainer(paths.filter((path) => !path.some(isHidden))));
  const spare = (state: State, width: number) => (page.mayScroll ? legendRoom(traced, state, width) : 0);
  const within = (width: number) =>
    fitting(start, { ...page, height: page.tallest, width, column: Math.max(page.width, LEGIBLE_WIDTH), spare });
  const fits = within(page.mayScroll ? WIDEST : page.widest);
  const { expanded, blocks, score } = withExemplars(index, start, visible, [within(page.widest), fits]);
  const room = { index, isClosed, fits };
  // if the skips of a repeated block end inside its parts, these open first
  const veiled = blocks.filter((id) => timesOf(index, id) > 1 && !showsJoin(index, id));
  const unveiled = withJoins(room, expanded, veiled, ["skip"]);
  const filled = new Filling(index, start, page, unveiled).breadthFirst(isClosed);
  const whole = withJoins(room, filled, blocks, ["skip", "join"]);
  return { expanded: whole, score: known.length > 0 ? score : undefined };
}

/** The paths to the best exemplar and to those in other towers, and unique parts of the model. */
export function mainPaths(traced: GraphIndex, start: State): readonly string[] {
  const index = shownIndex(traced, {
    plumbing: start.plumbing === true,
    functions: start.functions !== false,
    layers: false,
  });
  const [main = [], ...others] = exemplars(index).map(([path = []]) => path);
  return [
    ...main,
    ...others.filter((path) => path.length > 1 && path[0] !== main[0]).flat(),
    ...partsOfTheirOwn(index),
  ];
}

/** Most stages that are kept: more of them, such as layers of different sizes, are a list and may be shortened. */
const MOST_STAGES = 10;

/** The stages of the model: containers in a row with a main block, each of which holds modules. */
export function stagesOf(traced: GraphIndex, start: State): readonly string[] {
  const index = shownIndex(traced, { plumbing: start.plumbing === true, functions: start.functions !== false });
  const known = exemplars(
    shownIndex(traced, { plumbing: start.plumbing === true, functions: start.functions !== false, layers: false }),
  );
  const around = (known[0]?.[0] ?? []).slice(0, -1).map((id) => index.parent.get(id) ?? ROOT);
  return [...new Set(around)].flatMap((container) => {
    const stages = shownIn(index, container).filter((id) => {
      const node = index.nodes.get(innermost(index, id));
      return node?.kind === "module" && isOpenable(index, id) && isInformative(index, node);
    });
    return stages.length <= MOST_STAGES ? stages : [];
  });
}

/** Least share of a model's weights in a unique part, which no bundle hides. */
const LARGE = 0.1;
/** Most unique parts: a page may have no room for more. */
const FEW = 4;

/** Least share of a model's weights in its body, whose parts count like those of the model. */
const BODY = 0.9;

/** Large parts of a model that are the only ones of their class, such as an encoder. */
export function partsOfTheirOwn(index: GraphIndex, container = ROOT): string[] {
  const parts = shownIn(index, container).flatMap((id) => {
    const [whole, informative] = [index.nodes.get(id), mostInformative(index, boxed(index, id).chain)];
    return whole?.kind === "module" && informative !== undefined ? [{ id, whole, informative }] : [];
  });
  const weights = parts.reduce((sum, { whole }) => sum + whole.parameters.total, 0);
  const least = Math.max(1, LARGE * Math.max(weights, index.graph.model.parameters.total));
  const large = parts.filter(({ whole, informative }) => !isPlain(informative) && whole.parameters.total >= least);
  if (large.length > FEW) return [];
  const isOwn = (name: string) => parts.filter(({ informative }) => informative.class === name).length === 1;
  const own = large.flatMap(({ id, informative }) => (isOwn(informative.class) ? [id] : []));
  const [body] = large;
  const isBody = body !== undefined && body.whole.parameters.total >= BODY * index.graph.model.parameters.total;
  return isBody ? [...own, ...partsOfTheirOwn(index, innermost(index, body.id))] : own;
}

/** The first path into each container. */
function onePerContainer(paths: string[][]): string[][] {
  const containers = paths.map((path) => path.slice(0, -1).join(" "));
  return paths
    .filter((path, i) => path.length === 1 || containers.indexOf(containers[i] ?? "") === i)
    .slice(0, MOST_TRIED);
}

/** The first path into each part of the model, such as an encoder and a decoder with layers of one class. */
function onePerPart(paths: string[][]): string[][] {
  const parts = paths.map(([part]) => part);
  return paths
    .filter((path, i) => path.length > 1 && parts.indexOf(path[0]) === i)
    .concat(paths[0]?.length === 1 ? [paths[0]] : []);
}

/** Whether a picture with these open is no larger than a page. */
type Fits = (expanded: string[]) => boolean;

/** Opens the paths to exemplars of each class, and as much of the first exemplar as fits; its core may be wider. */
function withExemplars(
  index: GraphIndex,
  start: State,
  classes: string[][][],
  [fits, fitsWide]: readonly [Fits, Fits],
): { expanded: string[]; blocks: string[]; score: number } {
  const withTwins = (ids: string[]) => [...new Set(ids.flatMap((id) => twinsOf(index, id)))];
  const { path, open, score } = bestChoice(index, classes, (ids) => fits(withTwins(ids)));
  let expanded = [...new Set([...start.expanded, ...withTwins(open)])];
  const add = (ids: string[], isFitting = fits) => {
    const more = [...new Set([...expanded, ...withTwins(ids)])];
    if (ids.length > 0 && nodesIn(index, more) <= MAX_VISIBLE && isFitting(more)) expanded = more;
  };
  const block = path[path.length - 1] ?? "";
  // all of its layers may be in a sequence
  if (expanded.includes(block)) {
    add(plainIn(index, block));
    const way = nestedIn(index, block);
    for (const i of way.keys()) add(way.slice(0, i + 1));
  }
  const firsts = classes.flatMap(onePerPart);
  for (const first of firsts) if (first !== path) add(first);
  if (expanded.includes(block)) add(coreOf(index, block), fitsWide);
  const blocks = [path, ...firsts].map((way) => way[way.length - 1] ?? "");
  return { expanded, blocks: [...new Set(blocks)].filter((id) => expanded.includes(id)), score };
}

interface Room {
  index: GraphIndex;
  isClosed: (id: string) => boolean;
  fits: Fits;
}

/** Also opens the parts of blocks in which tensors are joined, as far as the page has room. */
function withJoins(
  { index, isClosed, fits }: Room,
  open: string[],
  blocks: string[],
  kinds: readonly Join[],
): string[] {
  let expanded = open;
  const add = (id: string) => {
    const more = [...new Set([...expanded, ...twinsOf(index, id)])];
    if (!isClosed(id) && nodesIn(index, more) <= MAX_VISIBLE && fits(more)) expanded = more;
  };
  const around = new Set(blocks);
  // iterating a set includes elements added meanwhile
  for (const container of around) {
    for (const id of joining(index, container, kinds)) if (!expanded.includes(id)) add(id);
    for (const id of shownIn(index, innermost(index, container))) if (expanded.includes(id)) around.add(id);
  }
  return expanded;
}

interface Choice {
  /** The path to an exemplar. */
  path: string[];
  /** What to open on it, and around others. */
  open: string[];
  score: number;
}

function bestChoice(index: GraphIndex, classes: string[][][], fits: (ids: string[]) => boolean): Choice {
  const [main = [], ...others] = classes;
  // also what is around other exemplars, so that towers look alike
  const around = classes.flatMap(([path = []]) => path.slice(0, -1));
  const first = new Set(main[0]);
  // a main block that is in no container isn't in a tower, so other blocks aren't in another one
  const isInTower = (main[0] ?? []).length > 1;
  const towers = others.flatMap(([path = []]) =>
    !isInTower || path.slice(0, -1).every((id) => first.has(id)) ? [] : [path],
  );
  const [best, one] = towers.length === 0 ? [1, 1] : [ALONE, ONE_TOWER];
  const inAll = towers.flat();
  const choices: Choice[] = [
    ...main
      .slice(0, 1)
      .flatMap((path) => [
        ...(towers.length > 0 ? [{ path, open: [...around, ...path, ...inAll], score: 1 }] : []),
        { path, open: [...around, ...path], score: one },
      ]),
    ...towers.map((path) => ({ path, open: [...around, ...path], score: OTHER_TOWER })),
    // without its layers, if they are in a sequence
    ...main
      .slice(0, 1)
      .flatMap((path) => (endsInSequence(index, path) ? [{ path, open: path.slice(0, -1), score: BLOCK }] : [])),
    ...main.map((path, i) => ({ path, open: path, score: i === 0 ? best : SAME_CLASS })),
    ...(towers.length > 0 ? [{ path: main[0] ?? [], open: around, score: TOWERS }] : []),
    ...others.flatMap(([path]) => (path === undefined ? [] : [{ path, open: path, score: OTHER_CLASS }])),
    ...main.slice(0, 1).flatMap((path) =>
      path.slice(1).map((_, i) => {
        const open = path.slice(0, path.length - 1 - i);
        return { path, open, score: (WAY * open.length) / path.length };
      }),
    ),
  ];
  choices.sort((a, b) => b.score - a.score);
  return choices.find(({ open }) => fits(open)) ?? { path: [], open: [], score: 0 };
}

function endsInSequence(index: GraphIndex, path: string[]): boolean {
  const node = index.nodes.get(innermost(index, path[path.length - 1] ?? ""));
  return path.length > 1 && node?.kind === "module" && isPlain(node);
}

/** Plain sequences in a block. */
function plainIn(index: GraphIndex, id: string): string[] {
  return shownIn(index, innermost(index, id)).filter((inner) => {
    const node = index.nodes.get(innermost(index, inner));
    return node?.kind === "module" && isPlain(node) && isOpenable(index, inner);
  });
}

/** Least share of a block's weights in its core, such as a mixture of experts. */
const CORE = 0.8;

/** The part that holds nearly all of a block. */
function coreOf(index: GraphIndex, block: string): string[] {
  const weightsOf = (id: string) => {
    const node = index.nodes.get(innermost(index, id));
    return node?.kind === "module" ? node.parameters.total : 0;
  };
  const most = Math.max(1, CORE * weightsOf(block));
  return shownIn(index, innermost(index, block)).filter((id) => weightsOf(id) >= most && isOpenable(index, id));
}

/** The path into modules of the block's own class inside it, such as the smaller hourglass in an hourglass. */
function nestedIn(index: GraphIndex, block: string): string[] {
  const own = index.nodes.get(innermost(index, block));
  const way: string[] = [];
  for (let at: string | undefined = block; at !== undefined; ) {
    const inside = shownIn(index, innermost(index, at));
    at = inside.find((id) => {
      const node = index.nodes.get(innermost(index, id));
      return own?.kind === "module" && node?.kind === "module" && node.class === own.class;
    });
    if (at !== undefined) way.push(at);
  }
  return way;
}
