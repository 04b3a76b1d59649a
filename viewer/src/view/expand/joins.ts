import { costOf, type GraphIndex, type GraphNode, isFixed, ROOT } from "../../graph/graph.js";
import { familyOf, LAYERS } from "../labels/op_families.js";
import { foldedContents } from "../repeats/contents.js";
import { innermost, isOpenable, shownIn, timesOf } from "./openable.js";

/** Finds modules that are worth opening because tensors are joined inside them. */

/** `skip`: the module's input is joined with its result, as in a residual. `join`: branches inside are joined, as in a gate. */
export type Join = "skip" | "join";

/** Modules in a container with such joins inside, the costliest first. */
export function joining(index: GraphIndex, container: string, kinds: readonly Join[]): string[] {
  const found = shownIn(index, innermost(index, container)).filter((id) => {
    // a run consists of blocks and isn't part of one
    const isPart = isOpenable(index, id) && timesOf(index, id) === 1;
    const join = isPart ? joinIn(index, id) : undefined;
    return join !== undefined && kinds.includes(join);
  });
  return found.sort((a, b) => costIn(index, b) - costIn(index, a));
}

/** Whether a residual or a gate is visible among the parts of a module. */
export function showsJoin(index: GraphIndex, id: string): boolean {
  const inner = innermost(index, id);
  const meets = ([child, sources]: [string, Set<string>]) =>
    index.nodes.get(child)?.kind === "op" && kindOf([...sources]) !== undefined;
  return [...sourcesIn(index, inner)].some(meets);
}

/** The join in a module with layers; undefined if the layers form a chain. */
export function joinIn(index: GraphIndex, id: string): Join | undefined {
  const inner = innermost(index, id);
  const node = index.nodes.get(inner);
  if (node?.kind !== "module" || familyOf(index, node) === "normalisation") return undefined;
  if (!shownIn(index, inner).some((child) => isLayer(index, index.nodes.get(child)))) return undefined;
  const kinds = [...sourcesIn(index, inner).values()].map((sources) => kindOf([...sources]));
  return kinds.includes("skip") ? "skip" : kinds.find((kind) => kind !== undefined);
}

function kindOf(sources: string[]): Join | undefined {
  if (sources.length < 2) return undefined;
  const outside = sources.filter((source) => source.startsWith(" ")).length;
  return outside === 0 ? "join" : outside < sources.length ? "skip" : undefined;
}

/** Child → the tensors that it reads apart from weights, with a blank before those from outside. */
function sourcesIn(index: GraphIndex, id: string): Map<string, Set<string>> {
  const { contents } = foldedContents(index, id);
  const sources = new Map<string, Set<string>>();
  for (const { from, to, fromPort } of contents.links) {
    if (to === null || isFixed(index.nodes.get(from ?? ROOT)?.kind)) continue;
    const known = sources.get(to) ?? new Set();
    sources.set(to, known.add(`${from ?? ""} ${fromPort}`));
  }
  return sources;
}

/** Layers, and modules with several kinds of layers. */
function isLayer(index: GraphIndex, node: GraphNode | undefined): boolean {
  if (node === undefined) return false;
  const family = familyOf(index, node);
  return LAYERS.includes(family) || (node.kind === "module" && family === "other");
}

function costIn(index: GraphIndex, id: string): number {
  const node = index.nodes.get(innermost(index, id));
  return node?.kind === "module" ? costOf(index, node) : 0;
}
