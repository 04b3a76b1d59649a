/** A convolution with its normalisation and, if there is one, its activation as one box, as in papers. It opens like a module. */
import {
  type BundleNode,
  type Contents,
  contentsOf,
  type GraphIndex,
  type GraphNode,
  isFixed,
} from "../../graph/graph.js";
import { indexGraph } from "../../graph/indexing.js";
import { shortName } from "../../graph/names.js";
import { nodeWords } from "../labels/labels.js";
import { familyOf } from "../labels/op_families.js";

type Part = "convolution" | "normalisation" | "activation";

/** Layers in a row, and what each of them is. */
interface Group {
  ids: string[];
  parts: (Part | undefined)[];
}

/** Longest name that lists all parts; beyond it, only the convolution is named. */
const LONGEST_NAME = 24;

/** The graph with a closed box for every group of layers that isn't all there is in its container. */
export function withLayers(index: GraphIndex): GraphIndex {
  const { graph } = index;
  // the parts show where a pass failed, and what a difference consists of
  if (graph.status.error || graph.marks !== undefined) return index;
  const hierarchy = new Map(graph.hierarchy);
  const beginning = new Map<string, BundleNode>();
  for (const contents of index.contents.values()) {
    for (const ids of groupsIn(index, contents)) {
      const [first = ""] = ids;
      const id = `bundle:${first}+${ids.length - 1}`;
      beginning.set(first, { kind: "bundle", id, layers: true, ...wordsOf(index, ids) });
      hierarchy.set(id, hierarchy.get(first) ?? null);
      for (const inner of ids) hierarchy.set(inner, id);
    }
  }
  if (beginning.size === 0) return index;
  const nodes = graph.nodes.flatMap((node): GraphNode[] => {
    const begun = beginning.get(node.id);
    return begun === undefined ? [node] : [begun, node];
  });
  return indexGraph({ ...graph, nodes, hierarchy }, index.series);
}

function groupsIn(index: GraphIndex, contents: Contents): string[][] {
  const isEnd = (id: string) => {
    const kind = index.nodes.get(id)?.kind;
    return isFixed(kind) || kind === "input" || kind === "output";
  };
  const steps = contents.children.filter((id) => !isEnd(id));
  return chainsIn(index, contents, steps)
    .flatMap((chain) => divide(index, chain))
    .filter((ids) => ids.length > 1 && ids.length < steps.length);
}

/** Longest stretches of convolutions, normalisations and activations that one tensor passes, one after the other. */
function chainsIn(index: GraphIndex, contents: Contents, steps: readonly string[]): string[][] {
  const chains: string[][] = [];
  let last: string | undefined;
  for (const id of steps) {
    const isPart = partOf(index, id) !== undefined;
    if (isPart && last !== undefined && passes(index, contents, last, id)) chains.at(-1)?.push(id);
    else if (isPart) chains.push([id]);
    last = isPart ? id : undefined;
  }
  return chains;
}

/** Whether all that a node returns goes to the next one, which reads nothing else. */
function passes(index: GraphIndex, { links }: Contents, from: string, to: string): boolean {
  const leaving = links.filter((link) => link.from === from);
  const arriving = links.filter((link) => link.to === to && !isFixed(index.nodes.get(link.from ?? "")?.kind));
  return leaving.length > 0 && leaving.every((link) => link.to === to) && arriving.every((link) => link.from === from);
}

/** Divides a chain into groups with one part of each kind: they begin with a convolution or, with pre-activation, end with one. */
function divide(index: GraphIndex, chain: readonly string[]): string[][] {
  const parts = chain.map((id) => partOf(index, id));
  const endsWithConvolution = parts[0] !== "convolution";
  const groups: Group[] = [];
  for (const [i, id] of chain.entries()) {
    const group = groups.at(-1);
    const part = parts[i];
    const begins = endsWithConvolution ? group?.parts.at(-1) === "convolution" : part === "convolution";
    if (group === undefined || begins || group.parts.includes(part)) groups.push({ ids: [id], parts: [part] });
    else {
      group.ids.push(id);
      group.parts.push(part);
    }
  }
  const isWhole = (group: Group) => group.parts.includes("convolution") && group.parts.includes("normalisation");
  return groups.filter(isWhole).map(({ ids }) => ids);
}

/** What a node is in a group; undefined for others, and for nodes that the author annotated. */
function partOf(index: GraphIndex, id: string): Part | undefined {
  const node = index.nodes.get(id);
  if (node === undefined || (node.kind !== "op" && node.kind !== "module") || index.graph.annotations?.has(id)) return;
  const isLayer = node.kind === "op" || contentsOf(index, id).children.every((child) => isOp(index, child));
  const family = isLayer ? familyOf(index, node) : "other";
  return family === "convolution" || family === "normalisation" || family === "activation" ? family : undefined;
}

function isOp(index: GraphIndex, id: string): boolean {
  const kind = index.nodes.get(id)?.kind;
  return kind === "op" || isFixed(kind);
}

/** `conv1 · bn1 · relu` or, with numbers, `0–2`; and `Conv2d 3 → 64, 7×7, s2 · BN · ReLU`. */
function wordsOf(index: GraphIndex, ids: readonly string[]): { name: string; content: string } {
  const words = ids.flatMap((id) => {
    const node = index.nodes.get(id);
    return node === undefined ? [] : [{ ...nodeWords(index, node), node, part: partOf(index, id) }];
  });
  const names = words.map(({ name }) => name);
  const [first = "", last = ""] = [names[0], names.at(-1)];
  const all = names.every((name) => /^\d+$/.test(name)) ? `${first}–${last}` : names.join(" · ");
  const main = words.find(({ part }) => part === "convolution");
  const content = words.map(({ node, part, name, detail }) => {
    if (node.kind !== "module") return name;
    return part === "convolution" ? detail : shortName(node.class).replace(/^BatchNorm(\dd)?$/, "BN");
  });
  return { name: all.length <= LONGEST_NAME ? all : (main?.name ?? first), content: content.join(" · ") };
}
