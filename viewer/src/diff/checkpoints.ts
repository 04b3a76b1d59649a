/** Whether weights saved from one model load into another, and under which names. */
import { append } from "../graph/append.js";
import { isWeight } from "../graph/graph.js";
import { otherRoles } from "./changes/other_roles.js";
import type { DiffItem, Keys, Side } from "./items.js";
import { Certainty } from "./match/certainty.js";
import { Interner } from "./match/hashes.js";
import type { Matching } from "./match/match.js";
import { Roles } from "./match/roles.js";
import { besidesOf, lastPart } from "./vocabulary.js";

interface Renaming {
  before: string;
  after: string;
}

export interface Checkpoints {
  verdict: "load" | "load-after-renaming" | "load-in-part" | "ambiguous" | "do-not-load";
  /** False if a file doesn't say which buffers are saved. */
  buffers_known: boolean;
  same: number;
  /** Only certain ones. */
  renamed: Renaming[];
  reshaped: Renaming[];
  gone: string[];
  new: string[];
  /** Weights that differ only by their names. */
  ambiguous: { before: string[]; after: string[] }[];
  /** Names in both models for weights with different uses: loading gives wrong results without an error. */
  other_role: string[];
}

interface Found {
  keys: readonly [Keys, Keys];
  pairs: Map<string, string>;
  taken: Set<string>;
  ambiguous: { before: string[]; after: string[] }[];
  /** The keys of each module's weights of one shape. */
  twins: readonly [Groups, Groups];
}

type Groups = ReadonlyMap<string, readonly string[]>;

export interface WeightMap {
  checkpoints: Checkpoints;
  /** Key → key of the counterpart, regardless of shape. */
  pairs: ReadonlyMap<string, string>;
  /** Whether the outputs are computed alike, regardless of which layers share their weights. */
  sameComputation: boolean;
  /** Whether equally many weights are used equally often. */
  sameSharing: boolean;
}

export function checkpoints(matching: Matching): WeightMap {
  const { a, b } = matching;
  const interner = new Interner();
  const roles = [new Roles(a, interner), new Roles(b, interner)] as const;
  const keys = [saved(a), saved(b)] as const;
  const twins = [grouped(keys[0], twinsOf), grouped(keys[1], twinsOf)] as const;
  const found: Found = { keys, twins, pairs: new Map(), taken: new Set(), ambiguous: [] };
  const owners = ownerMap(matching);
  const sameComputation = roles[0].outputs() === roles[1].outputs() && roles[0].outputs() !== "";
  const weights = [withTies(a, roles[0].ofWeights()), withTies(b, roles[1].ofWeights())] as const;
  byRole(found, weights, sameComputation ? undefined : owners);
  byPlace(found, owners, matching);
  const sameSharing = String(usesOfTensors(a)) === String(usesOfTensors(b));
  return { checkpoints: verdict(found, matching, sameComputation), pairs: found.pairs, sameComputation, sameSharing };
}

/** How often each weight is used under all of its names: layers that share a weight compute something else. */
function usesOfTensors({ parameters, steps }: Side): number[] {
  const counts = new Map<string, number>();
  for (const { kind, path, weights, readers } of steps) {
    const names = isWeight(kind) ? readers.map(() => path) : Object.values(weights);
    for (const name of names) {
      const tensor = [name, ...(parameters.get(name)?.tied ?? [])].sort()[0] ?? name;
      counts.set(tensor, (counts.get(tensor) ?? 0) + 1);
    }
  }
  return [...counts.values()].sort((x, y) => x - y);
}

function saved({ parameters }: Side): Keys {
  return new Map([...parameters].filter(([, { persistent }]) => persistent !== false));
}

function grouped(keys: Keys, group: (keys: Keys, key: string) => string): Groups {
  const found = new Map<string, string[]>();
  for (const key of keys.keys()) append(found, group(keys, key), key);
  return found;
}

function twinsOf(keys: Keys, key: string): string {
  const { owner, shape } = keys.get(key) ?? {};
  return `${owner} ${shape}`;
}

type RolesOf = ReadonlyMap<string, string>;

/** All names of a tied weight get the role of any of them. */
function withTies({ parameters }: Side, roles: RolesOf): RolesOf {
  const found = new Map(roles);
  for (const [name, { tied = [] }] of parameters) {
    const role = [name, ...tied].map((other) => roles.get(other)).find((known) => known !== undefined);
    if (role !== undefined) found.set(name, role);
  }
  return found;
}

/**
 * Pairs weights by the whole computation before and after them. In models that differ, an extra block shifts the last
 * blocks: there, the counterparts of the modules must agree.
 */
function byRole(found: Found, roles: readonly [RolesOf, RolesOf], owners?: (key: string) => string): void {
  const groups = [group(found.keys[0], roles[0]), group(found.keys[1], roles[1])] as const;
  for (const [role, before] of groups[0]) {
    const after = groups[1].get(role) ?? [];
    if (owners === undefined || before.every((key) => after.includes(owners(key)))) pairGroup(found, before, after);
  }
}

function group(keys: Keys, roles: RolesOf): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const [key, { shape, kind = "parameter" }] of keys) {
    const role = roles.get(key);
    if (role !== undefined) append(found, `${kind} ${shape} ${role}`, key);
  }
  return found;
}

function pairGroup(found: Found, before: string[], after: string[]): void {
  if (before.length !== after.length) return;
  const isOfOneTensor = (keys: string[], side: 0 | 1) => {
    const tied = found.keys[side].get(keys[0] ?? "")?.tied ?? [];
    return keys.slice(1).every((key) => tied.includes(key));
  };
  if (before.every((key) => after.includes(key))) for (const key of before) pair(found, key, key);
  else if (isOfOneTensor(before, 0) && isOfOneTensor(after, 1)) tie(found, before, after);
  else {
    found.ambiguous.push({ before, after });
    before.forEach((key, i) => {
      pair(found, key, after.includes(key) ? key : (after[i] ?? ""));
    });
  }
}

/** Pairs the names of one tensor: equal names, and the others in order. */
function tie(found: Found, before: string[], after: string[]): void {
  const others = after.filter((key) => !before.includes(key));
  for (const key of before) pair(found, key, after.includes(key) ? key : (others.shift() ?? ""));
}

function pair(found: Found, before: string, after: string): void {
  if (found.pairs.has(before) || found.taken.has(after) || after === "") return;
  found.pairs.set(before, after);
  found.taken.add(after);
}

/** Key → its key in the counterpart of its module; "" if the module has none. */
function ownerMap({ a, after }: Matching): (key: string) => string {
  const paths = new Map<string, string>([["", ""]]);
  for (const [x, y] of after) {
    if (x.kind === "module" && (x.call === 1 || !paths.has(x.path))) paths.set(x.path, y.path);
    if (isWeight(x.kind)) paths.set(x.path, y.path);
  }
  // a list, or a module that is never called: by its container
  const pathOf = (path: string): string | undefined => {
    const known = paths.get(path);
    if (known !== undefined || a.byId.has(path)) return known;
    const cut = path.lastIndexOf(".");
    const holder = pathOf(path.slice(0, Math.max(cut, 0)));
    return holder === undefined ? undefined : joined(holder, path.slice(cut + 1));
  };
  return (key) => {
    const owner = a.parameters.get(key)?.owner ?? "";
    const path = pathOf(owner);
    return paths.get(key) ?? (path === undefined ? "" : joined(path, owner === "" ? key : key.slice(owner.length + 1)));
  };
}

function joined(path: string, name: string): string {
  return path === "" ? name : `${path}.${name}`;
}

/** Pairs other weights by the counterparts of their modules. Equal weights in one module are ambiguous. */
function byPlace(found: Found, owners: (key: string) => string, matching: Matching): void {
  const open = [...found.keys[0].keys()].filter((key) => !found.pairs.has(key));
  const keys = candidatesOf(found, open, owners);
  const certainty = new Certainty(matching);
  const known = new Map<string, Found["ambiguous"][number]>();
  for (const one of found.ambiguous) for (const name of one.before) setFirst(known, besidesOf(name), one);
  for (const [key, other] of keys) {
    if (key !== other && isDoubtful(found, certainty, key, other, matching)) {
      const doubt = setFirst(known, besidesOf(key), { before: [], after: [] });
      if (doubt.before.length === 0) found.ambiguous.push(doubt);
      doubt.before.push(key);
      doubt.after.push(other);
    }
    pair(found, key, other);
  }
  // one name of a shared weight has the counterpart of the other
  for (const key of open) if (found.keys[1].get(owners(key))?.tied?.includes(key)) pair(found, key, key);
}

/** Keys with those of the counterparts of their modules; unchanged names first. */
function candidatesOf(found: Found, open: readonly string[], owners: (key: string) => string): [string, string][] {
  const candidates = new Map<string, string>();
  const isFree = (name: string) => found.keys[1].has(name) && !found.taken.has(name);
  // of the names of one tensor, the unchanged one
  const meantBy = (key: string) => (found.keys[1].get(owners(key))?.tied?.includes(key) ? key : owners(key));
  for (const key of open) if (isFree(meantBy(key))) candidates.set(key, meantBy(key));
  const meant = new Set(candidates.values());
  for (const key of open) if (!candidates.has(key) && isFree(key) && !meant.has(key)) candidates.set(key, key);
  return [...candidates].sort(([x, y], [z, w]) => Number(x !== y) - Number(z !== w));
}

/** Adds an entry unless there is one. */
function setFirst<K, V>(map: Map<K, V>, key: K, value: V): V {
  const first = map.get(key) ?? value;
  map.set(key, first);
  return first;
}

/** Whether another weight fits just as well. */
function isDoubtful(found: Found, certainty: Certainty, key: string, other: string, { a, b }: Matching): boolean {
  // a weight of another shape can't be loaded
  if (String(found.keys[0].get(key)?.shape) !== String(found.keys[1].get(other)?.shape)) return false;
  if (lastPart(key) !== lastPart(other) && (hasTwin(found, 0, key) || hasTwin(found, 1, other))) return true;
  const owner = ownerOf(a, key);
  return owner !== undefined && ownerOf(b, other) !== undefined && !certainty.isCertain(owner);
}

/** Whether a module has two weights of one shape. */
function hasTwin({ keys, twins }: Found, at: 0 | 1, key: string): boolean {
  return (twins[at].get(twinsOf(keys[at], key)) ?? []).length > 1;
}

function ownerOf({ parameters, byId }: Side, key: string): DiffItem | undefined {
  return byId.get(parameters.get(key)?.owner ?? "");
}

function verdict(found: Found, matching: Matching, sameComputation: boolean): Checkpoints {
  const [before, after] = found.keys;
  const pairs = [...found.pairs];
  const shape = (at: 0 | 1, name: string) => String(found.keys[at].get(name)?.shape);
  const fits = ([x, y]: [string, string]) => shape(0, x) === shape(1, y);
  const unsure = new Set(found.ambiguous.flatMap(({ before: keys }) => keys));
  const say = ([x, y]: [string, string]): Renaming => ({ before: x, after: y });
  const result = {
    buffers_known: [matching.a, matching.b].every(({ data }) => isFrom(data.version ?? "1.0", 2)),
    same: pairs.filter((one) => one[0] === one[1] && fits(one)).length,
    renamed: pairs.filter((one) => one[0] !== one[1] && fits(one) && !unsure.has(one[0])).map(say),
    reshaped: pairs.filter((one) => !fits(one)).map(say),
    gone: [...before.keys()].filter((key) => !found.pairs.has(key)),
    new: [...after.keys()].filter((key) => !found.taken.has(key)),
    ambiguous: found.ambiguous,
    other_role: otherRoles(found.keys, found.pairs, matching, sameComputation),
  };
  return { verdict: wordFor(result, before.size + after.size > 0 && !pairs.some(fits)), ...result };
}

function isFrom(version: string, minor: number): boolean {
  const [major = 1, given = 0] = version.split(".").map(Number);
  return major > 1 || given >= minor;
}

function wordFor(found: Omit<Checkpoints, "verdict">, nothing: boolean): Checkpoints["verdict"] {
  if (nothing) return "do-not-load";
  if (found.ambiguous.length > 0) return "ambiguous";
  if (found.gone.length + found.new.length + found.reshaped.length > 0) return "load-in-part";
  return found.renamed.length > 0 ? "load-after-renaming" : "load";
}
