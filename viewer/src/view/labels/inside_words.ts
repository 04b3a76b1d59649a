import { append } from "../../graph/append.js";
import { childrenOf, type GraphIndex, type ModuleNode } from "../../graph/graph.js";
import { shortName } from "../../graph/names.js";
import { formatCount } from "../../shared/amounts.js";
import { memoByObject, memoInObject } from "../../shared/memo.js";
import { classWords, isPlain, layersIn } from "./container_words.js";
import { layerSizes } from "./labels.js";
import { layerRow } from "./layer_rows.js";
import { familyOf } from "./op_families.js";

/** What a closed box says about its inside instead of its weights: `4 heads`, `8 experts`, `3 layers`, `64 → 256 → 64`. */

/** The detail of a closed box. Pictures of a difference keep counts, which may have changed. */
export function closedDetail(index: GraphIndex, node: ModuleNode, detail: string): string {
  if (index.graph.marks !== undefined) return detail;
  const count = ` · ${formatCount(node.parameters.total)}`;
  if (isPlain(node)) return sequenceWords(index, node, detail, count);
  if (!detail.includes(count)) return detail;
  const inside = known(index, node, () => insideWords(index, node));
  return inside === "" ? detail : detail.replace(count, inside);
}

/** `Conv2d 16 → 32 → 32, 3×3, …` for a plain sequence of layers; marks after its words stay. */
function sequenceWords(index: GraphIndex, node: ModuleNode, detail: string, count: string): string {
  const own = classWords(index, node);
  if (!detail.startsWith(own)) return detail;
  const row = known(index, node, () => {
    const { layer, sizes } = layerRow(index, node) ?? {};
    return layer === undefined ? "" : `${layer} ${sizes}, …`;
  });
  return row === "" ? detail : row + detail.slice(own.length).replace(count, "");
}

/** What follows the class of a box. */
function insideWords(index: GraphIndex, node: ModuleNode): string {
  const family = familyOf(index, node);
  if (family === "attention") return after(" · ", headsIn(index, node));
  // an embedding is known by its purpose
  const sizes = family === "embedding" ? "" : (layerRow(index, node)?.sizes ?? "");
  return sizes !== ""
    ? ` ${sizes}`
    : after(" · ", expertsIn(index, node) || blocksIn(index, node) || kernelWords(index, node));
}

function after(sign: string, words: string): string {
  return words === "" ? "" : sign + words;
}

/** Module → the words for its inside. */
const wordsIn = memoByObject((_: GraphIndex) => new Map<string, string>());

function known(index: GraphIndex, node: ModuleNode, find: () => string): string {
  const words = wordsIn(index);
  const found = words.get(node.id) ?? find();
  words.set(node.id, found);
  return found;
}

/** Op → the tensor that it takes as its query. */
const queriesIn = memoByObject(({ graph }: GraphIndex): Map<string, string> => {
  const queries = new Map<string, string>();
  for (const edges of graph.adjacency.values()) {
    for (const { to, argument, tensor } of edges) if (argument === "query") queries.set(to, tensor);
  }
  return queries;
});

/** Empty unless all attention in a module has equally many heads, and a weight is as wide as all heads together. */
function headsIn(index: GraphIndex, node: ModuleNode): string {
  const queries = attentionsIn(index, node.id).map((id) => queryOf(index, id));
  const [first, ...more] = queries;
  if (first === undefined || more.some((query) => query?.heads !== first.heads)) return "";
  const isWidth = (size: number) => size === first.heads * first.size;
  const own = [...index.graph.parameters].filter(([name]) => name.startsWith(`${node.path}.`));
  return first.heads > 1 && own.some(([, { shape }]) => shape?.some(isWidth)) ? `${first.heads} heads` : "";
}

function attentionsIn(index: GraphIndex, id: string): string[] {
  return childrenOf(index, id).flatMap((child) => {
    const node = index.nodes.get(child);
    if (node?.kind === "op") return shortName(node.name) === "scaled_dot_product_attention" ? [child] : [];
    return node?.kind === "module" ? attentionsIn(index, child) : [];
  });
}

/** Heads and their size, from a query of `(batch, heads, tokens, size)`. */
function queryOf(index: GraphIndex, id: string): { heads: number; size: number } | undefined {
  const [, heads, , size, ...more] = index.graph.tensors.get(queriesIn(index).get(id) ?? "")?.shape ?? [];
  const isKnown = typeof heads === "number" && typeof size === "number" && more.length === 0;
  return isKnown ? { heads, size } : undefined;
}

/** Axes of a stack of matrices, one for each expert. */
const STACKED = 3;

/** `8 experts` for a class with that word in its name whose matrices are all stacks of equally many. */
function expertsIn(index: GraphIndex, node: ModuleNode): string {
  if (!/experts$/i.test(shortName(node.class))) return "";
  // kernels of layers inside also have three axes
  const stacks = [...index.graph.parameters.values()].flatMap(({ owner, shape }) =>
    owner === node.path && shape?.length === STACKED ? [shape[0]] : [],
  );
  const [experts, ...others] = new Set(stacks);
  return typeof experts === "number" && experts > 1 && others.length === 0 ? `${experts} experts` : "";
}

/** Least share of a container's weights in the blocks that its text names. */
const MOSTLY = 0.5;
/** Names of lists that say what they hold: plurals, or these nouns; not `left` or `cross`. */
const TELLING =
  /^((?!trans$|lens$)[a-z]{2,}[b-hj-npqrtv-z]s|block|cell|expert|group|head|layer|level|stage|stack|step|unit)$/;

/** `3 layers` if a list of equal blocks holds most of a container, by the name of the list or else their class. */
function blocksIn(index: GraphIndex, node: ModuleNode): string {
  for (const [list, blocks] of listsIn(index, node)) {
    const [first] = blocks;
    const weights = blocks.reduce((sum, block) => sum + block.parameters.total, 0);
    const isMost = blocks.length > 1 && weights >= MOSTLY * node.parameters.total;
    if (first === undefined || !isMost || blocks.some((block) => block.class !== first.class)) continue;
    if (!TELLING.test(list)) {
      if (isPlain(first)) continue;
      // the class may also occur outside of this list
      const { length } = childModules(index, node).filter((child) => child.class === first.class);
      return `${shortName(first.class)} ×${length}`;
    }
    return `${blocks.length} ${list.endsWith("s") ? list : `${list}s`}`;
  }
  return "";
}

/** Name of a list → the modules in it. */
function listsIn(index: GraphIndex, module: ModuleNode): Map<string, ModuleNode[]> {
  const lists = new Map<string, ModuleNode[]>();
  for (const node of childModules(index, module)) {
    const [, list] = /^(.*)\.\d+$/.exec(node.path.slice(module.path.length + 1)) ?? [];
    if (list !== undefined) append(lists, list, node);
  }
  return lists;
}

/** The modules in a module; one that is called repeatedly counts once. */
function childModules(index: GraphIndex, { id }: ModuleNode): ModuleNode[] {
  const found = new Map<string, ModuleNode>();
  for (const child of childrenOf(index, id)) {
    const node = index.nodes.get(child);
    if (node?.kind === "module" && !found.has(node.path)) found.set(node.path, node);
  }
  return [...found.values()];
}

// -- kernels of convolutions -------------------------------------------------------------------------------------------

/** What a block of convolutions does unlike others of its class: `5×5, s2`, `k2, dilation 4`. */

/** Most layers in a block; what holds more is a stage. */
const MOST_LAYERS = 16;

/** The kernel of a block's convolutions, 1×1 ones aside; empty if all blocks of the class have the same. */
function kernelWords(index: GraphIndex, node: ModuleNode): string {
  const own = kernelIn(index, node);
  return own !== "" && kernelsOf(index, node.class).size > 1 ? own : "";
}

/** The kernels of all modules of a class. */
const kernelsOf = memoInObject((index: GraphIndex, name: string): ReadonlySet<string> => {
  const blocks = [...index.nodes.values()].filter((node) => node.kind === "module" && node.class === name);
  return new Set(blocks.map((block) => kernelIn(index, block as ModuleNode)));
});

/** Empty unless all kernels of a block have one size and dilation. */
function kernelIn(index: GraphIndex, node: ModuleNode): string {
  if (familyOf(index, node) !== "convolution") return "";
  const layers = layersIn(index, node, MOST_LAYERS + 1);
  if (layers.length > MOST_LAYERS) return "";
  const windows = layers.map((layer) => layerSizes(index, layer).split(", ")).filter((parts) => parts.some(isKernel));
  const [kernel, ...otherKernels] = new Set(windows.map((parts) => parts.find(isKernel)));
  const [dilation, ...otherDilations] = new Set(windows.map((parts) => parts.find((part) => /^dilation /.test(part))));
  if (kernel === undefined || otherKernels.length + otherDilations.length > 0) return "";
  const [stride, ...otherStrides] = windows.flat().filter((part) => /^s\d/.test(part));
  // with several strides, the block has none
  return [kernel, otherStrides.length > 0 ? undefined : stride, dilation]
    .filter((part) => part !== undefined)
    .join(", ");
}

/** `3×3` and `k3`, but neither `1×1` nor `k1`. */
function isKernel(part: string): boolean {
  return /^(k\d+|\d+(×\d+)+)$/.test(part) && !/^(k1|1(×1)+)$/.test(part);
}
