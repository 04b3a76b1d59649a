/**
 * Bundles: neighbours in execution order that a container with very many children shows as one closed box, "… 214 ops".
 * They become nodes of the graph, so that they are expanded, linked and laid out as modules are.
 */
import { append } from "../../graph/append.js";
import {
  type BundleNode,
  type Contents,
  contentsOf,
  type GraphIndex,
  type GraphNode,
  type ModuleNode,
  ROOT,
} from "../../graph/graph.js";
import { indexGraph } from "../../graph/indexing.js";
import { costOf } from "../expand/cost.js";
import { bundleWords } from "../labels/bundle_words.js";
import { familyOf, LAYERS } from "../labels/op_families.js";
import { findRuns } from "../repeats/repeats.js";

/** No container shows more children than this, if any limit is set. */
export const MANY = 60;
/** A bundle shows at most this many children; more are bundled in it again, in shares of about so many. */
const INSIDE = 24;
const SHARE = 20;

/** Light are layers without weights, such as poolings, and norms; blocks are or hold other modules. */
type Kind = "input" | "output" | "kept" | "op" | "light" | "block" | "bundle";

/** Children that stay together: one, or all of a run. */
interface Unit {
  ids: string[];
  kind: Kind;
}

/** A unit, or what becomes a bundle. */
type Part = Unit | Part[];

/**
 * Most children that the model and containers of most of it, or around what is kept, show, counting runs as one, and most
 * inputs, and outputs, of the model.
 */
export interface Limits {
  most?: number | undefined;
  ends?: number | undefined;
  /** Modules that are in no bundle. */
  kept?: readonly string[] | undefined;
}

type Exact = { [Name in keyof Limits]-?: NonNullable<Limits[Name]> };

const UNLIMITED = Number.POSITIVE_INFINITY;

/** The graph with bundles wherever a container has more children. */
export function bundled(index: GraphIndex, { most = UNLIMITED, ends = UNLIMITED, kept = [] }: Limits): GraphIndex {
  const hierarchy = new Map(index.graph.hierarchy);
  const beginning = new Map<string, BundleNode[]>();
  const around = new Set(kept.map((id) => index.parent.get(id)));
  for (const [id, contents] of index.contents) {
    const limit = id === ROOT || around.has(id) || holdsMost(index, id) ? most : Math.max(most, MANY);
    if (contents.children.length <= Math.min(limit, id === ROOT ? ends : UNLIMITED)) continue;
    const parts = partsOf(index, contents, { most: limit, ends, kept });
    for (const part of parts) addBundles({ index, hierarchy, beginning }, part, id === ROOT ? null : id);
  }
  if (beginning.size === 0) return index;
  const nodes = index.graph.nodes.flatMap((node): GraphNode[] => [...(beginning.get(node.id) ?? []), node]);
  return indexGraph({ ...index.graph, nodes, hierarchy }, index.series);
}

/** Share of the model's cost above which a container is its trunk. */
const TRUNK = 0.5;

function holdsMost(index: GraphIndex, id: string): boolean {
  const node = index.nodes.get(id);
  return node?.kind === "module" && costOf(index, node) > TRUNK * costOf(index, index.graph.model);
}

/** The graph to be. */
interface Draft {
  index: GraphIndex;
  hierarchy: Map<string, string | null>;
  /** Child → the bundles that begin with it, outermost first. */
  beginning: Map<string, BundleNode[]>;
}

function addBundles(draft: Draft, part: Part, parent: string | null): void {
  const { index, hierarchy, beginning } = draft;
  if (!Array.isArray(part)) {
    for (const id of part.ids) hierarchy.set(id, parent);
    return;
  }
  const ids = unitsOf(part).flatMap((unit) => unit.ids);
  const [first = ""] = ids;
  const id = `bundle:${first}+${ids.length - 1}`;
  // weights may precede what else there is
  const begin = ids.find((inner) => !isWeight(index.nodes.get(inner))) ?? first;
  append(beginning, begin, { kind: "bundle", id, ...bundleWords(index, ids) });
  hierarchy.set(id, parent);
  for (const inner of part) addBundles(draft, inner, id);
}

function isWeight(node: GraphNode | undefined): boolean {
  return node?.kind === "parameter" || node?.kind === "buffer" || node?.kind === "constant";
}

// -- choosing ---------------------------------------------------------------------------------------------------------

function partsOf(index: GraphIndex, contents: Contents, { most, ends, kept }: Exact): Part[] {
  const units = unitsIn(index, contents, new Set(kept));
  const cuts = new Cuts(contents);
  const only = (kind: Unit["kind"]) => units.filter((unit) => unit.kind === kind);
  const body = units.filter(({ kind }) => kind !== "input" && kind !== "output");
  return [
    ...shortened(only("input"), ends, cuts),
    ...withoutMiddles(body, most, cuts),
    ...shortened(only("output"), ends, cuts),
  ];
}

function unitsIn(index: GraphIndex, contents: Contents, kept: ReadonlySet<string>): Unit[] {
  const units: Unit[] = [];
  const runs = new Map(findRuns(index, contents).map((run) => [run.start, run.period * run.times]));
  for (let at = 0; at < contents.children.length; ) {
    const length = runs.get(at) ?? 1;
    const ids = contents.children.slice(at, at + length);
    const kinds = ids.map((id) => index.nodes.get(id)?.kind);
    const [first] = kinds;
    const isEnd = first === "input" || first === "output";
    units.push({ ids, kind: isEnd ? first : ids.some((id) => kept.has(id)) ? "kept" : kindOf(index, ids) });
    at += length;
  }
  return units;
}

function kindOf(index: GraphIndex, ids: string[]): Kind {
  const modules = ids.flatMap((id) => {
    const node = index.nodes.get(id);
    return node?.kind === "module" ? [node] : [];
  });
  if (modules.length === 0) return "op";
  const isLight = (node: ModuleNode) =>
    contentsOf(index, node.id).children.length < 2 && !LAYERS.includes(familyOf(index, node));
  return ids.length === 1 && modules.every(isLight) ? "light" : "block";
}

/** The first ends, and the others as a bundle. */
function shortened(ends: Unit[], most: number, cuts: Cuts): Part[] {
  if (ends.length <= most) return ends;
  return [...ends.slice(0, most - 1), divided(ends.slice(most - 1), cuts)];
}

/**
 * Bundles the middles of the longest stretches of ops until at most `most` parts are left; if there are no more ops, of
 * ops and light layers, and then of everything.
 */
function withoutMiddles(body: Unit[], most: number, cuts: Cuts): Part[] {
  const parts: Part[] = [...body];
  while (parts.length > most) {
    const stretch = TIERS.map((kinds) => longestStretch(parts, kinds)).find((found) => found !== undefined);
    if (stretch === undefined) break;
    const length = Math.min(stretch.length, parts.length - most + 1);
    const spare = stretch.length - length;
    const from = stretch.start + Math.floor(spare / 4);
    const starts = Array.from({ length: Math.ceil((spare + 1) / 2) }, (_, i) => from + i);
    const costOf = (start: number) => cuts.before(parts[start]) + cuts.before(parts[start + length]);
    const start = cheapest(starts, costOf, stretch.start + spare / 2);
    parts.splice(start, length, divided(unitsOf(parts.slice(start, start + length)), cuts));
  }
  return parts;
}

/** What is bundled first, and if there is no more of it. */
const TIERS: readonly (readonly Kind[])[] = [["op"], ["op", "light"], ["op", "light", "block", "bundle"]];

/** The longest stretch of at least two parts of some kinds in a row. */
function longestStretch(parts: Part[], kinds: readonly Kind[]): { start: number; length: number } | undefined {
  let best: { start: number; length: number } | undefined;
  for (let start = 0; start < parts.length; ) {
    let end = start;
    for (let part = parts[end]; part !== undefined && kinds.includes(kindOfPart(part)); part = parts[end]) end += 1;
    if (end - start > Math.max(1, best?.length ?? 0)) best = { start, length: end - start };
    start = end + 1;
  }
  return best;
}

function kindOfPart(part: Part): Kind {
  return Array.isArray(part) ? "bundle" : part.kind;
}

/** The content of a bundle: all units or, if these are many, equal shares of them as bundles. */
function divided(units: Unit[], cuts: Cuts): Part[] {
  if (units.length <= INSIDE) return units;
  const count = Math.min(INSIDE, Math.ceil(units.length / SHARE));
  const share = units.length / count;
  const borders = Array.from({ length: count + 1 }, (_, i) => {
    if (i === 0 || i === count) return Math.round(i * share);
    const nearby = Array.from({ length: Math.floor(share / 5) + 1 }, (_, j) => Math.round((i - 0.1) * share) + j);
    return cheapest(nearby, (at) => cuts.before(units[at]), i * share);
  });
  return borders.slice(1).map((end, i) => {
    const shareOf = units.slice(borders[i], end);
    return shareOf.length === 1 ? (shareOf[0] ?? []) : divided(shareOf, cuts);
  });
}

/** The cheapest place, of several the one nearest to the middle. */
function cheapest(places: number[], costOf: (place: number) => number, middle: number): number {
  const ranked = places.map((place) => ({ place, cost: costOf(place), far: Math.abs(place - middle) }));
  ranked.sort((a, b) => a.cost - b.cost || a.far - b.far);
  return ranked[0]?.place ?? Math.round(middle);
}

function unitsOf(parts: Part[]): Unit[] {
  return parts.flatMap((part) => (Array.isArray(part) ? unitsOf(part) : [part]));
}

/** How many tensors of a container are alive between two of its children: bundles begin and end where few are. */
class Cuts {
  readonly #positions: Map<string, number>;
  /** Position → number of tensors made before it and read there or later. */
  readonly #alive: number[];

  constructor({ children, links }: Contents) {
    this.#positions = new Map(children.map((id, i) => [id, i]));
    const lastRead = new Map<string, { made: number; read: number }>();
    for (const { from, to, fromPort } of links) {
      const [made, read] = [this.#positions.get(from ?? ""), this.#positions.get(to ?? "")];
      if (made === undefined || read === undefined) continue;
      const known = lastRead.get(`${from} ${fromPort}`);
      lastRead.set(`${from} ${fromPort}`, { made, read: Math.max(read, known?.read ?? 0) });
    }
    const changes = children.map(() => 0);
    for (const { made, read } of lastRead.values()) {
      changes[made + 1] = (changes[made + 1] ?? 0) + 1;
      if (read + 1 < changes.length) changes[read + 1] = (changes[read + 1] ?? 0) - 1;
    }
    let alive = 0;
    this.#alive = changes.map((change) => {
      alive += change;
      return alive;
    });
  }

  before(part: Part | undefined): number {
    const [first] = part === undefined ? [] : unitsOf([part]);
    const position = this.#positions.get(first?.ids[0] ?? "");
    return position === undefined ? 0 : (this.#alive[position] ?? 0);
  }
}
