/** The names of merged modules, runs and group panels. */

import type { GraphIndex, GraphNode } from "../../graph/graph.js";
import type { Group, ShownContents } from "../repeats/contents.js";
import { haveSameWeights, weightsUsed } from "../repeats/used_weights.js";
import { mostInformative } from "./container_words.js";
import { byClass, localName, nodeWords, SAME_WEIGHTS, type Words } from "./labels.js";

/**
 * Words for modules that share a box, outermost first.
 *
 * @param members the run that the innermost module represents: `encoder.layer.0–11`
 * @param last the counterpart of the box in the last of the modules that its container represents
 */
export function boxedWords(index: GraphIndex, chain: string[], members: string[], last?: string): Words {
  const head = members.length > 1 ? chain.indexOf(members[0] ?? "") : chain.length;
  const nodes = chain.map((id) => index.nodes.get(id)).filter((node) => node !== undefined);
  const inner = nodes[nodes.length - 1];
  if (inner === undefined) return { name: "", detail: "" };
  const own = nodeWords(index, inner, chain.length > 1 ? mostInformative(index, chain) : undefined);
  const { annotations } = index.graph;
  const renamed = annotations && chain.map((id) => annotations.get(id)?.rename).find((name) => name != null);
  if (renamed != null) return { name: renamed, detail: own.detail };
  if (chain.length === 1 && members.length < 2 && last === undefined) return byClass(index, inner, own);
  const names = nodes
    .slice(0, head)
    .map((node) => (node.kind === "module" ? localName(index, node) : nodeWords(index, node).name));
  if (members.length < 2) {
    const spans = chain.length === 1 && inner.kind !== "op" && inner.kind !== "function";
    const name = spans ? spanName(index, chain, last) : names.join(".");
    return byClass(index, inner, { name, detail: own.detail });
  }
  const [first, latest] = [members[0], members[members.length - 1]].map((id) => index.nodes.get(id ?? ""));
  const span = first?.kind === "module" ? spanName(index, [first.id], latest?.id) : spanOfOps(index, first, latest);
  const detail = first && latest && shareWeights(index, first, latest) ? own.detail + SAME_WEIGHTS : own.detail;
  return { name: [...names, span].join("."), detail };
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
export function groupName(index: GraphIndex, { kind, contents, last, step }: Group): string {
  if (kind === "steps") return "steps";
  if (kind === "step") return step > 0 ? `step ${step}` : "step";
  const modules = contents.children.filter((child) => index.nodes.get(child)?.kind === "module");
  return modules.length === 0 ? "repeat" : spanName(index, modules, last);
}

/** `layer.0` … `layer.11` → `layer.0–11`, also for `layer.0.attention` … `layer.11.mlp`. */
export function spanName(index: GraphIndex, firsts: string[], lastId: string | undefined): string {
  const name = (id: string | undefined) => {
    const node = index.nodes.get(id ?? "");
    if (node === undefined) return "";
    return node.kind === "module" ? localName(index, node) : nodeWords(index, node).name;
  };
  const first = name(firsts[0]);
  const last = name(lastId);
  if (last === first || last === "") return first;
  const [parts, others] = [first.split("."), last.split(".")];
  const at = parts.findIndex((part, i) => part !== others[i]);
  const [, stem = "", number = ""] = /^(.*?)(\d+)$/.exec(others[at] ?? "") ?? [];
  const part = parts[at] ?? "";
  if (number === "" || !part.startsWith(stem) || !/^\d+$/.test(part.slice(stem.length))) return `${first} … ${last}`;
  const [rest, otherRest] = [parts, others].map((all) => all.slice(at + 1));
  const same = rest?.join() === otherRest?.join() ? (rest ?? []) : [];
  return [...parts.slice(0, at), `${part}–${number}`, ...same].join(".");
}
