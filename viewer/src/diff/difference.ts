/** Two graphs → what changed, as data: the format `modeldiagrams-diff`. */

import { costSignOf } from "../graph/bounds.js";
import type { GraphData, Json } from "../graph/graph.js";
import { classesTogether, sharingTogether, sizesTogether } from "./changes/decisions.js";
import {
  CHANGE_KINDS,
  type Change,
  type ChangeId,
  type Fact,
  Facts,
  kindOf,
  type Level,
  NO_PLACE,
} from "./changes/facts.js";
import { growthFacts } from "./changes/growth.js";
import { interfaceFacts, reasons } from "./changes/interface.js";
import { moduleFacts } from "./changes/modules.js";
import { opFacts, outputFacts } from "./changes/ops.js";
import { textOf } from "./changes/texts.js";
import { weightFacts } from "./changes/weight_changes.js";
import { type Checkpoints, checkpoints, type WeightMap } from "./checkpoints.js";
import { type DiffItem, isLeaf, type Side } from "./items.js";
import { normalised } from "./match/hashes.js";
import { Matching } from "./match/match.js";
import { holders, isPlumbing, patternOf, stemOf } from "./vocabulary.js";

interface End {
  model: string;
  class: string;
  parameters: number;
  flops: number | null;
  /** `≤` or `≈` if the FLOPs depend on assumed sizes. */
  flops_sign?: string;
}

export interface Difference {
  format: "modeldiagrams-diff";
  version: "1.1";
  before: End;
  after: End;
  /** Whether nothing differs. */
  same: boolean;
  /** Whether the outputs are computed alike, regardless of modules and names. */
  same_computation: boolean;
  /** Reasons why the comparison may be wrong. */
  reservations: string[];
  /** For two different architectures: class of layers → how many in each. Null for one architecture. */
  inventory: Record<string, [number, number]> | null;
  checkpoints: Checkpoints;
  changes: Change[];
}

export interface Comparison {
  difference: Difference;
  /** Node of the first graph → its counterpart in the second; "" is the model. */
  pairs: Map<string, string>;
}

/** What changed between two graphs, each as JSON text. */
export function differenceOf(before: string, after: string): Difference {
  return comparisonOf(before, after).difference;
}

/** Compare two graphs, always in one direction, so that the other direction gives the mirrored result. */
export function comparisonOf(before: string, after: string): Comparison {
  const [one, other]: [GraphData, GraphData] = [JSON.parse(before), JSON.parse(after)];
  if (before === after || isFirst(one, other)) return compared(one, other, false);
  const { difference, pairs } = compared(other, one, true);
  return { difference: mirrored(difference), pairs: new Map([...pairs].map(([x, y]) => [y, x])) };
}

/** Orders two graphs by their text as written by this engine: files of browsers and Python differ. */
function isFirst(one: GraphData, other: GraphData): boolean {
  for (const part of ["model", "nodes", "adjacency"] as const) {
    const [x, y] = [JSON.stringify(one[part]), JSON.stringify(other[part])];
    if (x !== y) return x < y;
  }
  return JSON.stringify(one) <= JSON.stringify(other);
}

function compared(before: GraphData, after: GraphData, isMirrored: boolean): Comparison {
  const matching = new Matching(normalised(before), normalised(after));
  const { a, b } = matching;
  const weights = checkpoints(matching);
  const isOne = isOneArchitecture(matching, weights);
  const found = isOne ? weights.checkpoints : unrelated(weights.checkpoints);
  const changes = listed(factsOf(matching, weights, isOne), found, weights.sameComputation);
  const difference: Difference = {
    format: "modeldiagrams-diff",
    version: "1.1",
    before: end(before),
    after: end(after),
    same: changes.length === 0,
    same_computation:
      weights.sameComputation && weights.sameSharing && changes.every(({ id }) => id !== "output-rewired"),
    reservations: isMirrored ? reasons(b, a) : reasons(a, b),
    inventory: isOne ? null : inventory(a, b),
    checkpoints: found,
    changes,
  };
  return { difference, pairs: new Map([...matching.after].map(([x, y]) => [x.id, y.id])) };
}

/** Between two architectures, equal shapes of weights mean nothing. */
function unrelated(found: Checkpoints): Checkpoints {
  return { ...found, verdict: "do-not-load", renamed: [], ambiguous: [], other_role: [] };
}

function end({ model, status }: GraphData): End {
  const sign = (status.assumed_flops ?? []).length > 0 ? { flops_sign: costSignOf(status) } : {};
  const parameters = model.parameters.total;
  return { model: model.name, class: model.class, parameters, flops: model.flops ?? null, ...sign };
}

function factsOf(matching: Matching, weights: WeightMap, isOne: boolean): Fact[] {
  const facts = new Facts();
  const { a, b, similarity } = matching;
  interfaceFacts(matching, facts);
  if (!isOne) {
    facts.add("architecture", "", [a.data.model.class, b.data.model.class], [a.root, b.root]);
    return facts.all();
  }
  const covered = moduleFacts(matching, facts);
  opFacts(matching, facts, covered);
  outputFacts(matching, facts);
  weightFacts(matching, facts, covered, weights);
  if (facts.all().length === 0 && !similarity.isExact(a.root, b.root)) unexplained(matching, facts);
  growthFacts(matching, facts);
  return classesTogether(sharingTogether(sizesTogether(facts.all())));
}

/** Reports what no other change covers, so that it is never "no change". */
function unexplained({ a, b, after }: Matching, facts: Facts): void {
  const sizes = ({ sources }: DiffItem) => String(sources.map(({ from, output }) => from.shapes[output]));
  for (const [x, y] of after) {
    if (x.kind !== "op" || sizes(x) !== sizes(y) || JSON.stringify(x.shapes) === JSON.stringify(y.shapes)) continue;
    facts.add("inner-shape", y.label, [(x.shapes[0] ?? null) as Json, (y.shapes[0] ?? null) as Json], [x, y]);
  }
  if (facts.all().length === 0) facts.add("other", "", NO_PLACE, [a.root, b.root]);
}

/** Outputs with another shape or dtype, and more or fewer outputs of a series, such as the cache of each layer. */
function isConsequence({ id, subject }: Change, facts: readonly Fact[]): boolean {
  if (id === "output-dtype") return facts.some((fact) => /^(input-)?dtype$/.test(fact.id));
  if (!facts.some((fact) => EXPLAINING.test(fact.id))) return false;
  return id === "output-shape" || (/^output-(added|removed)$/.test(id) && subject.includes("[*]"));
}

/** The changes from which these follow. */
const EXPLAINING = /^(size|argument|replaced|example-input|added|removed|repeats|inner-shape|shared|unshared)$/;

/** Changes that don't change a computation whose outputs are alike. */
const OF_COMPUTATION = /^(reordered|rewired|rewritten|moved|calls|other|op-|residual-)/;

function listed(facts: Fact[], found: Checkpoints, isSameComputation: boolean): Change[] {
  const affected = affectedModules(found);
  const rank = new Map(Object.keys(CHANGE_KINDS).map((id, i) => [id, i]));
  const sorted = [...facts].sort((x, y) => (rank.get(x.id) ?? 0) - (rank.get(y.id) ?? 0));
  return sorted.map((fact) => {
    const cause = fact.cause === undefined ? -1 : sorted.indexOf(fact.cause);
    const change = { ...changeOf(fact, affected), caused_by: cause < 0 ? null : cause };
    const isAlike = isSameComputation && change.level === "notable" && OF_COMPUTATION.test(change.id);
    return isAlike || isConsequence(change, facts) ? { ...change, level: "detail" as const } : change;
  });
}

/** Paths of modules whose weights don't load unchanged, in the first and the second graph. */
function affectedModules({ gone, new: come, renamed, reshaped, ambiguous }: Checkpoints): [Set<string>, Set<string>] {
  const both = [...renamed, ...reshaped].filter(
    ({ before, after }) => before !== after || reshaped.some((one) => one.before === before),
  );
  const before = [...gone, ...both.map((one) => one.before), ...ambiguous.flatMap((one) => one.before)];
  const after = [...come, ...both.map((one) => one.after), ...ambiguous.flatMap((one) => one.after)];
  return [holders(before), holders(after)];
}

/** Changes of code alone, independent of weights. */
const CODE =
  /^(op-|residual|rewired|rearranged|rewritten|class|output-shape|input-dtype|example|reordered|frozen|unfrozen|dtype|other|tied|untied|growth|named-shape)/;

function changeOf({ id, subject, before, after, places }: Fact, affected: [Set<string>, Set<string>]): Change {
  const isAffected =
    !CODE.test(id) &&
    places.some((ends) => ends.some((item, at) => item !== null && affected[at as 0 | 1].has(item.path)));
  const ownsWeight = /^weight-/.test(id);
  const level: Level = isAffected || ownsWeight ? "breaking" : isIdle(id, places) ? "detail" : kindOf(id).level;
  const ends = places.map(([x, y]): Change["places"][number] => [x?.id ?? null, y?.id ?? null]);
  const change: Change = {
    id,
    level,
    text: "",
    subject,
    before,
    after,
    where: [],
    places: ends,
    count: counted(id, ends).length,
    parameters: parametersOf(id, places),
    caused_by: null,
  };
  return worded(change);
}

/** Whether a module that was added, removed or shared has no weights and no effect: an `Identity`, or a shared `ReLU`. */
function isIdle(id: ChangeId, places: Fact["places"]): boolean {
  const items = places.flatMap((ends) => ends.filter((item) => item !== null));
  if (items.some(({ total }) => total > 0)) return false;
  if (id === "shared" || id === "unshared") return true;
  return (id === "added" || id === "removed") && items.every(makesNothing);
}

function makesNothing({ kind, label, children }: DiffItem): boolean {
  return kind === "op" ? isPlumbing(label) : kind === "module" && children.every(makesNothing);
}

function worded(change: Change): Change {
  const placed = { ...change, where: whereIn(change.id, change.places) };
  return { ...placed, text: textOf(placed) };
}

/** One place of each change: for merged layers, the one with a counterpart; for a module, its first call. */
function counted(id: ChangeId, places: Change["places"]): Change["places"] {
  if (id === "merged" || id === "split") return places.filter((place) => !place.includes(null));
  if (id !== "calls") return places;
  const module = ([x, y]: Change["places"][number]) => (y ?? x ?? "").replace(/#\d+$/, "");
  return [...new Map(places.map((place) => [module(place), place])).values()];
}

/** The position of a change, by ids in the second graph or else in the first. */
function whereIn(id: ChangeId, places: Change["places"]): string[] {
  const ids = counted(id, places).map(([x, y]) => y ?? x ?? "");
  const paths = ids.map((one) =>
    one
      .replace(/\/.*$/, "")
      .replace(/^\w+:/, "")
      .replace(id === "calls" ? /#\d+$/ : "", ""),
  );
  const lists = id === "repeats" ? paths.map((path) => stemOf(path).replace(/[._]$/, "")) : paths;
  const patterns = new Map<string, Set<string>>();
  for (const path of lists) patterns.set(patternOf(path), (patterns.get(patternOf(path)) ?? new Set()).add(path));
  const shown = [...patterns].map(([pattern, found]) => (found.size === 1 ? [...found].join() : pattern));
  return shown.map((path) => (path === "" ? "(model)" : path));
}

function parametersOf(id: ChangeId, places: Fact["places"]): number {
  if (!/^(added|removed|repeats|replaced)$/.test(id)) return 0;
  // later calls of a module have the weights of its first
  const counted = (item: DiffItem | null) => (item?.call === 1 ? item.total : 0);
  return places.reduce((sum, [x, y]) => sum + counted(y) - counted(x), 0);
}

/** With a smaller share of weights that have a counterpart, a list of changes would be invented. */
const ONE_ARCHITECTURE = 0.5;

/** Of the model with fewer weights: those with a namesake, or an equal shape, in the other. */
function isOneArchitecture({ a, b, similarity }: Matching, { pairs, sameComputation }: WeightMap): boolean {
  if (sameComputation || similarity.isExact(a.root, b.root)) return true;
  const fewer = Math.min(a.parameters.size, b.parameters.size);
  const shape = ({ parameters }: Side, key: string) => String(parameters.get(key)?.shape);
  const common = [...pairs].filter(([key, other]) => key === other || shape(a, key) === shape(b, other)).length;
  return fewer === 0 || common / fewer >= ONE_ARCHITECTURE;
}

function inventory(a: Side, b: Side): Record<string, [number, number]> {
  const counts = [a, b].map(({ items }) =>
    items.filter((item) => isLeaf(item) && item.label !== "Identity").map(({ label }) => label),
  );
  const count = (at: number, label: string) => (counts[at] ?? []).filter((one) => one === label).length;
  const labels = [...new Set(counts.flat())].sort();
  return Object.fromEntries(labels.map((label) => [label, [count(0, label), count(1, label)]]));
}

/** The same the other way round. */
function mirrored(given: Difference): Difference {
  const { checkpoints: found } = given;
  const swap = ({ before, after }: { before: string; after: string }) => ({ before: after, after: before });
  return {
    ...given,
    before: given.after,
    after: given.before,
    inventory:
      given.inventory && Object.fromEntries(Object.entries(given.inventory).map(([label, [x, y]]) => [label, [y, x]])),
    checkpoints: {
      ...found,
      renamed: found.renamed.map(swap),
      reshaped: found.reshaped.map(swap),
      gone: found.new,
      new: found.gone,
      ambiguous: found.ambiguous.map(({ before, after }) => ({ before: after, after: before })),
    },
    changes: given.changes.map(mirroredChange),
  };
}

function mirroredChange(change: Change): Change {
  const id = kindOf(change.id).mirror ?? change.id;
  const places = change.places.map(([x, y]): [string | null, string | null] => [y, x]);
  const result = {
    ...change,
    id,
    before: change.after,
    after: change.before,
    places,
    parameters: -change.parameters || 0,
  };
  return worded(result);
}
