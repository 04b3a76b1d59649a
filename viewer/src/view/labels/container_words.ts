/** Which class tells what a box is, where modules without a meaning of their own are around it. */
import { childrenOf, type GraphIndex, type ModuleNode } from "../../graph/graph.js";
import { shortName } from "../../graph/names.js";
import { singleChain } from "../boxes.js";
import { familyOf, LAYERS } from "./op_families.js";

/** Classes that only hold others. */
const PLAIN = /^(Sequential|ModuleList|ModuleDict|.*Sequential)$/;
/** Most kinds of content that are listed, and most letters of the list. */
const MOST_KINDS = 3;
const MOST_LETTERS = 30;

/** The innermost module of a chain of only children with a telling class: of `InvertedResidual.Sequential` the former. */
export function tellingOf(index: GraphIndex, chain: readonly string[]): ModuleNode | undefined {
  const modules = chain.flatMap((id) => {
    const node = index.nodes.get(id);
    return node?.kind === "module" ? [node] : [];
  });
  return modules.filter((node) => !isPlain(node)).at(-1) ?? modules.at(-1);
}

/** `Bottleneck ×3` for a `Sequential` of these; of many kinds only the one with most of the weights, `DenseBlock ×4, …`. */
export function classWords(index: GraphIndex, node: ModuleNode): string {
  if (!isPlain(node)) return shortName(node.class);
  const kinds = kindsIn(index, node);
  const listed = [...kinds.values()].map(({ name, count }) => (count > 1 ? `${name} ×${count}` : name));
  const all = listed.join(", ");
  if (listed.length > 0 && listed.length <= MOST_KINDS && all.length <= MOST_LETTERS) return all;
  const weights = [...kinds.values()].map((kind) => kind.weights);
  return kinds.size === 0 ? shortName(node.class) : `${listed[weights.indexOf(Math.max(...weights))]}, …`;
}

interface Kind {
  name: string;
  count: number;
  weights: number;
}

/** The classes in a container and in plain ones inside, in order. */
export function kindsIn(index: GraphIndex, node: ModuleNode, found = new Map<string, Kind>()): Map<string, Kind> {
  for (const id of childrenOf(index, node.id)) {
    const inside = tellingOf(index, singleChain(index, id));
    if (inside === undefined) continue;
    const name = shortName(inside.class);
    const { count, weights } = found.get(name) ?? { count: 0, weights: 0 };
    if (isPlain(inside)) kindsIn(index, inside, found);
    else found.set(name, { name, count: count + 1, weights: weights + inside.parameters.total });
  }
  return found;
}

/**
 * The layer that a container wraps: the only one in it with weights but for normalisations, such as the convolution of a
 * `ConvNormAct`, whose sizes are what papers write on such a box.
 */
export function wrappedLayer(index: GraphIndex, node: ModuleNode): ModuleNode | undefined {
  const layers = layersIn(index, node, 2);
  return layers.length === 1 ? layers[0] : undefined;
}

/** The first layers in a module, in the order of their calls; a container that has weights itself counts as one. */
export function layersIn(index: GraphIndex, node: ModuleNode, most: number, found: ModuleNode[] = []): ModuleNode[] {
  const modules: ModuleNode[] = [];
  for (const id of childrenOf(index, node.id)) {
    const child = index.nodes.get(id);
    if (child?.kind === "module") modules.push(child);
  }
  if (modules.length === 0 ? isLayer(index, node) : node.parameters.own > 0) found.push(node);
  for (const inside of modules) if (found.length < most) layersIn(index, inside, most, found);
  return found;
}

function isLayer(index: GraphIndex, node: ModuleNode): boolean {
  const family = familyOf(index, node);
  return (
    LAYERS.includes(family) || (node.parameters.total > 0 && family !== "normalisation" && family !== "activation")
  );
}

/** Whether a class says nothing but that it holds others. */
export function isPlain(node: ModuleNode): boolean {
  return PLAIN.test(shortName(node.class));
}
