/** The names of merged modules, runs and group panels. */

import { type GraphIndex, type GraphNode, isGroup, isLayers } from "../../graph/graph.js";
import type { Group, ShownContents } from "../repeats/contents.js";
import { haveSameWeights, weightsUsed } from "../repeats/used_weights.js";
import { mostInformative } from "./container_words.js";
import { byClass, localName, nodeWords, SAME_WEIGHTS, type Words } from "./labels.js";

/**
 * Words for modules that share a box, outermost first.
 *
 * @param members the run that the innermost module represents: `encoder.layer.0–11`
 * @param later the counterparts of the box in the later ones of the modules that its container represents
 */
export function boxedWords(index: GraphIndex, chain: string[], members: string[], later: string[] = []): Words {
  const head = members.length > 1 ? chain.indexOf(members[0] ?? "") : chain.length;
  const nodes = chain.map((id) => index.nodes.get(id)).filter((node) => node !== undefined);
  const inner = nodes[nodes.length - 1];
  if (inner === undefined) return { name: "", detail: "" };
  const own = nodeWords(index, inner, chain.length > 1 ? mostInformative(index, chain) : undefined);
  const { annotations } = index.graph;
  const renamed = annotations && chain.map((id) => annotations.get(id)?.rename).find((name) => name != null);
  if (renamed != null) return { name: renamed, detail: own.detail };
  if (chain.length === 1 && members.length < 2 && later.length === 0) return byClass(index, inner, own);
  const names = nodes
    .slice(0, head)
    .map((node) => (node.kind === "module" ? localName(index, node) : nodeWords(index, node).name));
  if (members.length < 2) {
    const spans = chain.length === 1 && inner.kind !== "op" && !isGroup(inner);
    const name = spans ? rangeName(index, [chain[0] ?? "", ...later]) : names.join(".");
    return byClass(index, inner, { name, detail: own.detail });
  }
  const [first, latest] = [members[0], members[members.length - 1]].map((id) => index.nodes.get(id ?? ""));
  const span = nameOfRun(index, members);
  const detail = first && latest && shareWeights(index, first, latest) ? own.detail + SAME_WEIGHTS : own.detail;
  return { name: [...names, span].join("."), detail };
}

function nameOfRun(index: GraphIndex, members: string[]): string {
  const [first, latest] = [members[0], members.at(-1)].map((id) => index.nodes.get(id ?? ""));
  return first?.kind === "module" || isLayers(first) ? rangeName(index, members) : spanOfOps(index, first, latest);
}

function shareWeights(index: GraphIndex, first: GraphNode, latest: GraphNode): boolean {
  const isOneModule = first.kind === "module" && latest.kind === "module" && first.path === latest.path;
  if (first.kind === "module" && (!isOneModule || first.parameters.total === 0)) return false;
  if (first.kind !== "module" && weightsUsed(index, first.id).size === 0) return false;
  return haveSameWeights(index, [first.id], [latest.id]);
}

/** `[:, 0] … [:, 9]`. */
function spanOfOps(index: GraphIndex, first: GraphNode | undefined, latest: GraphNode | undefined): string {
  const names = [first, latest].flatMap((node) => (node === undefined ? [] : [nodeWords(index, node).name]));
  return [...new Set(names)].join(" … ");
}

/** Whether anything in a group has weights. */
export function holdsWeights(index: GraphIndex, { contents, groups }: ShownContents): boolean {
  const hasWeights = (id: string) => {
    const node = index.nodes.get(id);
    return (node?.kind === "module" && node.parameters.total > 0) || weightsUsed(index, id).size > 0;
  };
  return contents.children.some(hasWeights) || [...groups.values()].some((group) => holdsWeights(index, group));
}

/** The name of a group panel. */
export function groupName(index: GraphIndex, { kind, members, step, times }: Group): string {
  if (kind === "steps") return "steps";
  if (kind === "step") return step > 0 ? `step ${step}` : "step";
  const modules = members.filter((child) => index.nodes.get(child)?.kind === "module");
  // the only module of each repeat has that name itself
  return modules.length === 0 || modules.length === times ? "repeat" : rangeName(index, modules);
}

/** What separates the names of layers that are one box. */
const BETWEEN_LAYERS = " · ";
/** Most numbers that a name lists one by one. */
const FEW = 3;

/**
 * The names of modules as one: `layer.0` … `layer.11` → `layer.0–11`, also for `layer.0.attention` … `layer.11.mlp`, and
 * `layer.2, 5, … 11` if numbers between them are missing.
 */
export function rangeName(index: GraphIndex, ids: readonly string[]): string {
  const names = ids.flatMap((id) => {
    const node = index.nodes.get(id);
    if (node === undefined) return [];
    return [node.kind === "module" ? localName(index, node) : nodeWords(index, node).name];
  });
  const layers = names.map((name) => name.split(BETWEEN_LAYERS));
  const areParallel = layers.every(({ length }) => length === layers[0]?.length);
  if (!areParallel) return rangeOf(names);
  return (layers[0] ?? []).map((_, i) => rangeOf(layers.map((parts) => parts[i] ?? ""))).join(BETWEEN_LAYERS);
}

function rangeOf(names: readonly string[]): string {
  const [first = "", last = first] = [names[0], names.at(-1)];
  if (last === first) return first;
  const [parts, others] = [first.split("."), last.split(".")];
  const at = parts.findIndex((part, i) => part !== others[i]);
  const range = numberRange(names.map((name) => name.split(".")[at] ?? ""));
  if (range === undefined) return `${first} … ${last}`;
  const [rest, otherRest] = [parts, others].map((all) => all.slice(at + 1));
  const same = rest?.join() === otherRest?.join() ? (rest ?? []) : [];
  return [...parts.slice(0, at), range, ...same].join(".");
}

/** `layer0`, `layer1`, `layer2` → `layer0–2`; `0–2`, `3–5` → `0–5`; undefined for other names. */
export function numberRange(names: readonly string[]): string | undefined {
  const found = names.map((name) => /^(.*?)(\d+)(?:–(\d+))?$/.exec(name));
  const [stem] = found.map((match) => match?.[1]);
  if (stem === undefined || found.some((match) => match?.[1] !== stem)) return undefined;
  const spans = found
    .map((match) => [Number(match?.[2]), Number(match?.[3] ?? match?.[2])] as const)
    .sort(([start], [other]) => start - other);
  const starts = [...new Set(spans.map(([start]) => start))];
  const end = spans.at(-1)?.[1] ?? 0;
  const isWhole = spans.every(([start], i) => i === 0 || start - (spans[i - 1]?.[1] ?? 0) <= 1);
  if (isWhole) return `${stem}${starts[0]}–${end}`;
  const listed = starts.length <= FEW ? starts : [...starts.slice(0, 2), `… ${starts.at(-1)}`];
  return stem + listed.join(", ");
}
