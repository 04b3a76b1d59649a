/** What a closed box says of its inside in place of its weights: `4 heads`, `8 experts`, `3 layers`, `64 → 256 → 64`. */

import { append } from "../../graph/append.js";
import { childrenOf, type GraphIndex, type ModuleNode } from "../../graph/graph.js";
import { shortName } from "../../graph/names.js";
import { memoByObject } from "../../shared/memo.js";
import { classWords, isPlain } from "./container_words.js";
import { kernelWords } from "./kernels.js";
import { formatCount } from "./labels.js";
import { layerRow } from "./layer_rows.js";
import { familyOf } from "./op_families.js";

/** The detail of a closed box; pictures of a difference keep counts, which may have changed. */
export function closedDetail(index: GraphIndex, node: ModuleNode, detail: string): string {
  if (index.graph.marks !== undefined) return detail;
  const count = ` · ${formatCount(node.parameters.total)}`;
  if (isPlain(node)) return sequenceWords(index, node, detail, count);
  if (!detail.includes(count)) return detail;
  const inside = known(index, node, () => insideWords(index, node));
  return inside === "" ? detail : detail.replace(count, inside);
}

/** `Conv2d 16 → 32 → 32, 3×3, …` for layers in a sequence that has no class of its own; marks behind its words stay. */
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
  // an embedding is known by what it is for
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

/** Empty unless all attention in a module has as many heads, and a weight there is as wide as these together. */
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

/** Weights of several experts in one have an axis of these; a single one has two. */
const STACKED = 3;

/** `8 experts` of a class that says so, where all of its matrices are stacks of as many. */
function expertsIn(index: GraphIndex, node: ModuleNode): string {
  if (!/experts$/i.test(shortName(node.class))) return "";
  // kernels of layers inside have three axes, too
  const stacks = [...index.graph.parameters.values()].flatMap(({ owner, shape }) =>
    owner === node.path && shape?.length === STACKED ? [shape[0]] : [],
  );
  const [experts, ...others] = new Set(stacks);
  return typeof experts === "number" && experts > 1 && others.length === 0 ? `${experts} experts` : "";
}

/** Least share of a container's weights in the blocks that it is said to hold. */
const MOSTLY = 0.5;
/** Names of lists that say what is in them: plurals, or these nouns; that of `left` or `cross` would be no word. */
const TELLING =
  /^((?!trans$|lens$)[a-z]{2,}[b-hj-npqrtv-z]s|block|cell|expert|group|head|layer|level|stage|stack|step|unit)$/;

/** `3 layers` where a list of equal blocks holds most of a container, by the list's name or else their class. */
function blocksIn(index: GraphIndex, node: ModuleNode): string {
  for (const [list, blocks] of listsIn(index, node)) {
    const [first] = blocks;
    const weights = blocks.reduce((sum, block) => sum + block.parameters.total, 0);
    const isMost = blocks.length > 1 && weights >= MOSTLY * node.parameters.total;
    if (first === undefined || !isMost || blocks.some((block) => block.class !== first.class)) continue;
    if (!TELLING.test(list)) {
      if (isPlain(first)) continue;
      return `${shortName(first.class)} ×${blocks.length}`;
    }
    return `${blocks.length} ${list.endsWith("s") ? list : `${list}s`}`;
  }
  return "";
}

/** Name of a list → the modules in it. */
function listsIn(index: GraphIndex, { id, path }: ModuleNode): Map<string, ModuleNode[]> {
  const lists = new Map<string, ModuleNode[]>();
  const found = new Set<string>();
  for (const child of childrenOf(index, id)) {
    const node = index.nodes.get(child);
    // a block that is called again is still one
    if (node?.kind !== "module" || found.has(node.path)) continue;
    found.add(node.path);
    const [, list] = /^(.*)\.\d+$/.exec(node.path.slice(path.length + 1)) ?? [];
    if (list !== undefined) append(lists, list, node);
  }
  return lists;
}
