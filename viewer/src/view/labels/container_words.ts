/** Which class says what a box is when plain containers are around it, and the words for plain containers. */
import { childrenOf, type GraphIndex, type ModuleNode } from "../../graph/graph.js";
import { shortName } from "../../graph/names.js";
import { singleChain } from "../boxes.js";
import { familyOf, LAYERS } from "./op_families.js";

/** Classes of containers without a meaning of their own. */
const PLAIN = /^(Sequential|ModuleList|ModuleDict|.*Sequential)$/;
/** Most kinds of content that are listed, and most characters of the list. */
const MOST_KINDS = 3;
const MOST_LETTERS = 30;

/** The innermost module of a chain of only children that isn't plain: in `InvertedResidual.Sequential`, the former. */
export function mostInformative(index: GraphIndex, chain: readonly string[]): ModuleNode | undefined {
  const modules = chain.flatMap((id) => {
    const node = index.nodes.get(id);
    return node?.kind === "module" ? [node] : [];
  });
  return modules.filter((node) => !isPlain(node)).at(-1) ?? modules.at(-1);
}

/** `Bottleneck ×3` for a `Sequential` of these; for many kinds, the one with most of the weights: `DenseBlock ×4, …`. */
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

/** The classes in a container and in plain containers inside it, in order. */
export function kindsIn(index: GraphIndex, node: ModuleNode, found = new Map<string, Kind>()): Map<string, Kind> {
  for (const id of childrenOf(index, node.id)) {
    const inside = mostInformative(index, singleChain(index, id));
    if (inside === undefined) continue;
    const name = shortName(inside.class);
    const { count, weights } = found.get(name) ?? { count: 0, weights: 0 };
    if (isPlain(inside)) kindsIn(index, inside, found);
    else found.set(name, { name, count: count + 1, weights: weights + inside.parameters.total });
  }
  return found;
}

/**
 * The layer that a container wraps: the only one with weights apart from normalisations, such as the convolution of a
 * `ConvNormAct`. Papers write its sizes on such a box.
 */
export function wrappedLayer(index: GraphIndex, node: ModuleNode): ModuleNode | undefined {
  const layers = layersIn(index, node, 2);
  return layers.length === 1 ? layers[0] : undefined;
}

/** The first layers in a module, in the order of their calls. A container with weights of its own counts as one. */
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

/** Whether a module is a container without a meaning of its own. */
export function isPlain(node: ModuleNode): boolean {
  return PLAIN.test(shortName(node.class));
}
