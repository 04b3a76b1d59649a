import { append } from "../../graph/append.js";
import {
  type BundleNode,
  type Contents,
  childrenOf,
  contentsOf,
  costOf,
  type GraphIndex,
  type GraphNode,
  isFixed,
  isLayers,
  type ModuleNode,
  ROOT,
} from "../../graph/graph.js";
import { indexGraph } from "../../graph/indexing.js";
import { shortName } from "../../graph/names.js";
import { isPlain, kindsIn } from "../labels/container_words.js";
import { familyOf, LAYERS } from "../labels/op_families.js";
import { findRuns } from "../repeats/repeats.js";
import { type Blade, fansIn, fanWords } from "./fans.js";

/**
 * Bundles: neighbours in execution order that a container with very many children shows as one closed box, "… 214 ops".
 * They become nodes of the graph, so that they are expanded, linked and laid out like modules.
 */

/** Most children of any container, if a limit is set. */
export const MANY = 60;
/** Most children of a bundle. More are divided into bundles of about `SHARE`. */
const INSIDE = 24;
const SHARE = 20;

/** `light`: layers without weights, such as poolings, and norms. `block`: other modules. */
type Kind = "input" | "output" | "kept" | "op" | "light" | "block" | "bundle";

/** Children that stay together: one child, or all of a run. */
interface Unit {
  ids: string[];
  kind: Kind;
}

/** A unit, or a bundle to be. */
type Part = Unit | Bundle;

/** The parts of a bundle; `fan` for modules of one class side by side. */
type Bundle = Part[] & { fan?: readonly string[] };

/**
 * Most children of the model and of the containers that hold most of it or something kept, where a run counts as one; most
 * inputs and most outputs of the model.
 */
export interface Limits {
  most?: number | undefined;
  ends?: number | undefined;
  /** Modules that are in no bundle. */
  kept?: readonly string[] | undefined;
}

type Exact = { [Name in keyof Limits]-?: NonNullable<Limits[Name]> };

const UNLIMITED = Number.POSITIVE_INFINITY;

/** The graph with bundles wherever a container exceeds its limit. */
export function bundled(index: GraphIndex, { most = UNLIMITED, ends = UNLIMITED, kept = [] }: Limits): GraphIndex {
  const hierarchy = new Map(index.graph.hierarchy);
  const beginning = new Map<string, BundleNode[]>();
  const around = new Set(kept.map((id) => index.parent.get(id)));
  for (const [id, contents] of index.contents) {
    const limit = id === ROOT || around.has(id) || holdsMost(index, id) ? most : Math.max(most, MANY);
    if (contents.children.length <= Math.min(limit, id === ROOT ? ends : UNLIMITED)) continue;
    const parts = partsOf(index, contents, { most: limit, ends, kept });
    const draft = { index, hierarchy, beginning, stem: stemIn(parts, limit === most) };
    for (const part of parts) addBundles(draft, part, id === ROOT ? null : id);
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

/** The bundle before all others in the trunk of a model: its first modules, before the first stage. */
function stemIn(parts: Part[], isTrunk: boolean): Part | undefined {
  const [first, next] = parts.filter((part) => kindOfPart(part) !== "input");
  const isStem = isTrunk && Array.isArray(first) && unitsOf(first).some(({ kind }) => kind === "block");
  return isStem && next !== undefined && kindOfPart(next) === "kept" ? first : undefined;
}

/** The graph in the making. */
interface Draft {
  index: GraphIndex;
  stem: Part | undefined;
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
  // weights may come before the rest
  const begin = ids.find((inner) => !isFixed(index.nodes.get(inner)?.kind)) ?? first;
  const { fan } = part;
  const words = fan ? { ...fanWords(index, fan), fan: fan[0] ?? "" } : bundleWords(index, ids);
  append(beginning, begin, { kind: "bundle", id, ...words, ...(part === draft.stem && { name: "stem" }) });
  hierarchy.set(id, parent);
  for (const inner of part) addBundles(draft, inner, id);
}

// -- choosing ---------------------------------------------------------------------------------------------------------

function partsOf(index: GraphIndex, contents: Contents, { most, ends, kept }: Exact): Part[] {
  const units = unitsIn(index, contents, new Set(kept));
  const cuts = new Cuts(contents);
  const only = (kind: Unit["kind"]) => units.filter((unit) => unit.kind === kind);
  const body = units.filter(({ kind }) => kind !== "input" && kind !== "output");
  return [
    ...shortened(only("input"), ends, cuts),
    ...withoutMiddles(withFans(index, contents, body, most), most, cuts),
    ...shortened(only("output"), ends, cuts),
  ];
}

/** With a bundle for each fan, the largest first, until at most `most` parts are left. */
function withFans(index: GraphIndex, contents: Contents, body: Unit[], most: number): Part[] {
  const single = body.flatMap(({ ids, kind }) => (ids.length === 1 && kind !== "kept" ? ids : []));
  let parts: Part[] = body;
  for (const blades of body.length > most ? fansIn(index, contents, single) : []) {
    if (parts.length <= most) break;
    const inside = new Set(blades.flatMap(({ id, before }) => [id, ...before]));
    const isInside = (part: Part) => !Array.isArray(part) && inside.has(part.ids[0] ?? "");
    const at = parts.findIndex(isInside);
    const fan = fanOf(body, blades);
    parts = parts.flatMap((part, i) => (i === at ? [fan] : isInside(part) ? [] : [part]));
  }
  return parts;
}

/** Most modules of a fan side by side; more are in several rows, each of which opens. */
const SIDE_BY_SIDE = 6;

function fanOf(body: readonly Unit[], blades: readonly Blade[]): Bundle {
  const fan = blades.map(({ id }) => id);
  const inside = new Set(blades.flatMap(({ id, before }) => [id, ...before]));
  if (fan.length <= SIDE_BY_SIDE)
    return Object.assign(
      body.filter(({ ids }) => inside.has(ids[0] ?? "")),
      { fan },
    );
  const rows = Math.ceil(fan.length / SIDE_BY_SIDE);
  const starts = Array.from({ length: rows + 1 }, (_, row) => Math.round((row * fan.length) / rows));
  return Object.assign(
    starts.slice(1).map((end, row) => fanOf(body, blades.slice(starts[row], end))),
    { fan },
  );
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
  if (ids.some((id) => isLayers(index.nodes.get(id)))) return "block";
  const modules = ids.flatMap((id) => {
    const node = index.nodes.get(id);
    return node?.kind === "module" ? [node] : [];
  });
  if (modules.length === 0) return "op";
  const isLight = (node: ModuleNode) =>
    contentsOf(index, node.id).children.length < 2 && !LAYERS.includes(familyOf(index, node));
  return ids.length === 1 && modules.every(isLight) ? "light" : "block";
}

/** The first inputs or outputs, and the others as a bundle. */
function shortened(ends: Unit[], most: number, cuts: Cuts): Part[] {
  if (ends.length <= most) return ends;
  return [...ends.slice(0, most - 1), divided(ends.slice(most - 1), cuts)];
}

/**
 * Bundles the middles of the longest stretches of ops until at most `most` parts are left; without more ops, of ops and
 * light layers, and then of everything.
 */
function withoutMiddles(body: readonly Part[], most: number, cuts: Cuts): Part[] {
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

/** What is bundled first, second and last. */
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
  if (!Array.isArray(part)) return part.kind;
  // what is one box for many stays one
  return part.fan ? "kept" : "bundle";
}

/** The content of a bundle: all units or, if there are many, bundles of equal shares. */
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

/** The cheapest place; of equal ones, the nearest to the middle. */
function cheapest(places: number[], costOf: (place: number) => number, middle: number): number {
  const ranked = places.map((place) => ({ place, cost: costOf(place), far: Math.abs(place - middle) }));
  ranked.sort((a, b) => a.cost - b.cost || a.far - b.far);
  return ranked[0]?.place ?? Math.round(middle);
}

function unitsOf(parts: Part[]): Unit[] {
  return parts.flatMap((part) => (Array.isArray(part) ? unitsOf(part) : [part]));
}

/** Counts the tensors that are alive between two children of a container: bundles begin and end where there are few. */
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

// -- text --------------------------------------------------------------------------------------------------------------

/** The text on bundles: `… 214 ops` and `mul ×80, add ×60, sin, …`. */

const KINDS: readonly (readonly [kind: RegExp, one: string, several: string])[] = [
  [/input/, "input", "inputs"],
  [/output/, "output", "outputs"],
  [/module/, "module", "modules"],
  [/function/, "function", "functions"],
  [/op/, "op", "ops"],
  [/parameter|buffer/, "weight", "weights"],
  [/constant/, "constant", "constants"],
];
/** Most names, and most characters of all. */
const MAX_NAMES = 4;
const MAX_LENGTH = 40;

function bundleWords(index: GraphIndex, ids: string[]): { name: string; content: string } {
  const single = ids.flatMap((id) => (isLayers(index.nodes.get(id)) ? childrenOf(index, id) : [id]));
  const nodes = single.map((id) => index.nodes.get(id)).filter((node) => node !== undefined);
  const parts = KINDS.flatMap(([kind, one, several]) => {
    const count = nodes.filter((node) => kind.test(node.kind)).length;
    return count === 0 ? [] : [`${count} ${count === 1 ? one : several}`];
  });
  return { name: `… ${parts.join(", ")}`, content: contentOf(index, nodes) };
}

/** The most frequent classes and functions, or names of inputs and outputs. */
function contentOf(index: GraphIndex, nodes: GraphNode[]): string {
  const counts = new Map<string, number>();
  for (const node of nodes) {
    for (const [name, count] of namesOf(index, node)) counts.set(name, (counts.get(name) ?? 0) + count);
  }
  const named = [...counts].sort(([, a], [, b]) => b - a);
  const shown: string[] = [];
  for (const [name, count] of named.slice(0, MAX_NAMES)) {
    const text = count > 1 ? `${name} ×${count}` : name;
    if (shown.length > 0 && [...shown, text].join(", ").length > MAX_LENGTH) break;
    shown.push(text);
  }
  return [...shown, ...(shown.length < named.length ? ["…"] : [])].join(", ");
}

/** Names and counts of a node; a plain container lists its contents. */
function namesOf(index: GraphIndex, node: GraphNode): (readonly [name: string, count: number])[] {
  if (node.kind === "module") {
    const inside = isPlain(node) ? [...kindsIn(index, node).values()] : [];
    return inside.length > 0 ? inside.map(({ name, count }) => [name, count]) : [[shortName(node.class), 1]];
  }
  if (node.kind === "op") return [[shortName(node.name), 1]];
  return node.kind === "input" || node.kind === "output" || node.kind === "function" ? [[node.name, 1]] : [];
}
