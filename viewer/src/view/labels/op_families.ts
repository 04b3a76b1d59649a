/** The families of nodes, which determine their colours, and the glyphs of ops. */
import {
  type BundleNode,
  childrenOf,
  type FunctionNode,
  type GraphIndex,
  type GraphNode,
  type ModuleNode,
  type OpNode,
} from "../../graph/graph.js";
import { shortName } from "../../graph/names.js";
import { type Family, type FamilyMatch, familyMatch } from "./family_words.js";

export type { Family } from "./family_words.js";

/** The family of a node, by its class or function name. */
export function family(node: GraphNode): Family {
  if (node.kind !== "module" && node.kind !== "op") return "other";
  const { family } = matchOf(node);
  // `toString` isn't a cast
  return MINOR.includes(family) && !isLast(node) ? "other" : family;
}

function matchOf(node: ModuleNode | OpNode): FamilyMatch {
  const name = shortName(node.kind === "module" ? node.class : node.name);
  // a class `Norm` normalises, `torch.norm` measures
  return familyMatch(node.kind === "op" && name === "norm" ? "vector_norm" : name);
}

/** Families of layers that have weights or combine what others computed. */
export const LAYERS: readonly Family[] = ["attention", "convolution", "embedding", "linear", "recurrence"];
/** Families that a class has by its name, whatever it contains: attention is mostly linear layers. */
const ROLES: readonly Family[] = ["attention", "recurrence", "embedding", "loss"];
/** What may follow the last word of a name: `LSTMCell` is recurrence, `LSTMClassifier` isn't. */
const AFTER_LAST = /^(_|cell|layer|module|head|as|\d+d?|v\d+)*$/i;
/** Families of ops that say nothing about the module around them. */
const MINOR: readonly Family[] = ["elementwise", "shape", "other"];
/** Share of a module's FLOPs, or else of its parameters, that determines its family. */
const MOST = 0.8;
/** A module with one of these families inside has no other family, even one that computes most; with an activation, none. */
const MIXING: readonly Family[] = ["attention", "recurrence"];

/** The FLOPs and weights of the ops of a family. */
interface Amounts {
  flops: number;
  weights: number;
}

type Tally = Map<Family, Amounts>;

interface Known {
  /** Computation of a module → its amounts by family. */
  tallies: Map<string, Tally>;
  /** Class and classes inside → the amounts of all such modules: equal blocks share a colour, whatever their sizes. */
  blocks: Map<string, Tally>;
  /** Computation of a module → the amounts of its block. */
  blockOf: Map<string, Tally>;
  /** Class and computation of a module → its family. */
  families: Map<string, Family>;
  /** The same by module, because keys are long. */
  familyOf: Map<ModuleNode, Family>;
}

/** Cached, because every toggle needs them. */
const knownOf = new WeakMap<GraphIndex, Known>();

/** Of what it stands for, if that is of one kind. */
function familyOfBundle(index: GraphIndex, { layers, fan = "" }: BundleNode): Family {
  const one = index.nodes.get(fan);
  return one === undefined ? (layers ? "convolution" : "other") : familyOf(index, one);
}

/** The family of a node; a module has the one of its content, unless its class has a role. */
export function familyOf(index: GraphIndex, node: GraphNode): Family {
  if (node.kind === "function") return familyOfFunction(index, node);
  if (node.kind === "bundle") return familyOfBundle(index, node);
  if (node.kind !== "module") return family(node);
  const { families, familyOf } = learnFamilies(index);
  const known = familyOf.get(node);
  if (known !== undefined) return known;
  const key = `${node.class} ${computationOf(node)}`;
  const found = families.get(key) ?? familyOfModule(index, node);
  families.set(key, found);
  familyOf.set(node, found);
  return found;
}

function familyOfModule(index: GraphIndex, node: ModuleNode): Family {
  const role = roleIn(index, node);
  if (role !== undefined) return role;
  const tally = learnFamilies(index).blockOf.get(computationOf(node)) ?? new Map<Family, Amounts>();
  const isWhole = tally.has("activation");
  if (!isWhole && kindIn(index, node, "op").some((op) => family(op) === "attention")) return "attention";
  const main = mostOf(tally, "flops") ?? mostOf(tally, "weights") ?? ownFamily(node, tally);
  return MIXING.some((family) => tally.has(family) && (family !== main || isWhole)) ? "other" : main;
}

/** The family of a function call: by its name, or else the only major family inside. */
function familyOfFunction(index: GraphIndex, { id, name }: FunctionNode): Family {
  const own = familyMatch(name).family;
  if (!MINOR.includes(own)) return own;
  const inside = new Set(childrenOf(index, id).flatMap((child) => familyIn(index, child)));
  if (inside.has("attention")) return "attention";
  const major = [...inside].filter((family) => !MINOR.includes(family));
  return (major.length > 0 ? major.length === 1 : inside.size === 1) ? (major[0] ?? [...inside][0] ?? own) : "other";
}

function familyIn(index: GraphIndex, id: string): Family[] {
  const node = index.nodes.get(id);
  return node?.kind === "op" || node?.kind === "module" ? [familyOf(index, node)] : [];
}

function roleIn(index: GraphIndex, node: ModuleNode): Family | undefined {
  return isStem(index, learnFamilies(index), node) ? undefined : roleOf(node);
}

/** Whether an embedding is the stem of a convolutional network. A patch embedding has no activation. */
function isStem(index: GraphIndex, facts: Known, node: ModuleNode): boolean {
  if (roleOf(node) !== "embedding") return false;
  const tally = tallyOfContent(index, facts, node);
  return tally.has("convolution") && tally.has("activation");
}

function roleOf(node: ModuleNode): Family | undefined {
  const { family } = matchOf(node);
  return ROLES.includes(family) && isLast(node) ? family : undefined;
}

/** Whether the word that determines the family is the last. */
function isLast(node: ModuleNode | OpNode): boolean {
  const { name, end } = matchOf(node);
  return AFTER_LAST.test(name.slice(end));
}

/** The family with nearly all of an amount, else `other`; undefined if the amount is 0. */
function mostOf(tally: Tally, amount: keyof Amounts): Family | undefined {
  const all = [...tally].reduce((sum, [, amounts]) => sum + amounts[amount], 0);
  if (all === 0) return undefined;
  return [...tally].find(([, amounts]) => amounts[amount] >= MOST * all)?.[0] ?? "other";
}

/** The family of a module without weights: by its class, or else the one of all its ops. */
function ownFamily(node: ModuleNode, tally: Tally): Family {
  const own = family(node);
  if (own !== "other") return own;
  const inside = [...tally.keys()];
  const major = inside.filter((family) => !MINOR.includes(family));
  return (major.length > 0 ? major.length === 1 : inside.length === 1) ? (major[0] ?? inside[0] ?? own) : own;
}

/** Looks at every module once. */
export function learnFamilies(index: GraphIndex): Known {
  let facts = knownOf.get(index);
  if (facts === undefined) {
    facts = { tallies: new Map(), blocks: new Map(), blockOf: new Map(), families: new Map(), familyOf: new Map() };
    knownOf.set(index, facts);
    for (const node of index.graph.nodes) {
      if (node.kind !== "module") continue;
      addAll(blockOf(index, facts, node), tallyOf(index, facts, node));
    }
  }
  return facts;
}

/** Equal for modules with equal content. */
function computationOf({ id, signature, parameters }: ModuleNode): string {
  return signature ? `${signature} ${parameters.total}` : id;
}

function blockOf(index: GraphIndex, { blocks, blockOf }: Known, node: ModuleNode): Tally {
  const computation = computationOf(node);
  const known = blockOf.get(computation);
  if (known !== undefined) return known;
  const key = blockKey(index, node);
  const block = blocks.get(key) ?? new Map<Family, Amounts>();
  blocks.set(key, block);
  blockOf.set(computation, block);
  return block;
}

function blockKey(index: GraphIndex, node: ModuleNode): string {
  const inside = kindIn(index, node, "module").map((child) => child.class);
  return `${node.class}(${[...new Set(inside)].sort().join()})`;
}

function tallyOf(index: GraphIndex, facts: Known, node: ModuleNode): Tally {
  const computation = computationOf(node);
  const counted = facts.tallies.get(computation);
  if (counted !== undefined) return counted;
  const role = isStem(index, facts, node) ? undefined : roleOf(node);
  const all = { flops: node.flops ?? 0, weights: node.parameters.total };
  const tally = role === undefined ? tallyOfContent(index, facts, node) : new Map([[role, all]]);
  facts.tallies.set(computation, tally);
  return tally;
}

function tallyOfContent(index: GraphIndex, facts: Known, node: ModuleNode): Tally {
  const own = family(node);
  const tally: Tally = new Map();
  const modules = kindIn(index, node, "module");
  for (const child of modules) addAll(tally, tallyOf(index, facts, child));
  let unused = modules.length > 0 ? node.parameters.own : node.parameters.total;
  for (const op of kindIn(index, node, "op")) {
    const weights = Object.values(op.weights ?? {}).reduce((sum, name) => sum + sizeOf(index, name), 0);
    const computed = family(op);
    add(tally, computed, { flops: op.flops ?? 0, weights: 0 });
    if (weights > 0)
      add(tally, computed === "activation" || MINOR.includes(computed) ? own : computed, { flops: 0, weights });
    unused -= weights;
  }
  if (unused > 0) add(tally, own, { flops: 0, weights: unused });
  return tally;
}

function addAll(tally: Tally, more: Tally): void {
  for (const [family, amounts] of more) add(tally, family, amounts);
}

function add(tally: Tally, family: Family, { flops, weights }: Amounts): void {
  const sum = tally.get(family) ?? { flops: 0, weights: 0 };
  tally.set(family, { flops: sum.flops + flops, weights: sum.weights + weights });
}

function kindIn<K extends "op" | "module">(index: GraphIndex, node: ModuleNode, kind: K) {
  return childrenOf(index, node.id).flatMap((id) => {
    const child = index.nodes.get(id);
    return child?.kind === kind ? [child as Extract<GraphNode, { kind: K }>] : [];
  });
}

function sizeOf(index: GraphIndex, weight: string): number {
  return index.graph.parameters.get(weight)?.shape?.reduce((product, size) => product * size, 1) ?? 0;
}

/** The sign of an op that combines tensors elementwise or by concatenation. */
export type Glyph = "add" | "sub" | "mul" | "div" | "cat";

const GLYPHS: ReadonlyMap<string, Glyph> = new Map(
  Object.entries({
    add: "add",
    iadd: "add",
    radd: "add",
    sub: "sub",
    isub: "sub",
    rsub: "sub",
    mul: "mul",
    imul: "mul",
    rmul: "mul",
    multiply: "mul",
    div: "div",
    truediv: "div",
    itruediv: "div",
    cat: "cat",
    concat: "cat",
    concatenate: "cat",
  } as const),
);

/** The glyph for an op's name, if any. */
export function glyph(name: string): Glyph | undefined {
  return GLYPHS.get(shortName(name));
}
