import { childrenOf, type GraphIndex, type GraphNode, type ModuleNode, type OpNode } from "../graph/graph.js";
import { shortName } from "../graph/names.js";

/** A node's kind of computation; decides its colour. */
export type Family =
  | "attention"
  | "linear"
  | "convolution"
  | "normalisation"
  | "activation"
  | "embedding"
  | "pooling"
  | "recurrence"
  | "loss"
  | "elementwise"
  | "shape"
  | "other";

/** Matched against lower-case short names; the first match wins, so specific rules precede general ones. */
const RULES: readonly (readonly [Family, RegExp])[] = [
  ["loss", /loss|cross_entropy|nll|kl_div/],
  ["normalisation", /norm(?!al(?!i))|^lrn$|localresponse/],
  ["attention", /attention|attn|sdpa/],
  ["recurrence", /lstm|gru|rnn|mamba|mixer2|selective_scan|recurrent/],
  ["convolution", /conv|unfold|fold$/],
  ["embedding", /embed|one_hot/],
  ["pooling", /pool|upsample|interpolate|pixelshuffle|pixel_shuffle/],
  [
    "activation",
    /relu|gelu|silu|swish|mish|^elu|selu|celu|^tanh|sigmoid|softmax|softplus|softsign|activation|hardtanh|threshold|^glu|logsigmoid/,
  ],
  [
    "linear",
    /linear|matmul|^mm$|^bmm|addmm|baddbmm|einsum|conv1d$|^dense(?!block|net|layer)|mlp|feed_?forward|ffn|moe(?!d)|experts?|router|bilinear|grouped_mm/,
  ],
  [
    "shape",
    /view|reshape|transpose|permute|contiguous|squeeze|flatten|expand|^to$|^type|float$|^half|bfloat16|getitem|slice|narrow|^split|chunk|unbind|^t$|dropout|droppath|identity|repeat|movedim|swapaxes|clone|detach|^pad$|roll$|cast|select|unflatten/,
  ],
  [
    "elementwise",
    /^(r|i)?(add|sub|mul|div|truediv|pow|neg|exp|log|sqrt|rsqrt|mean|sum|cat|concat|stack|max|min|where)_?$/,
  ],
];

/** Class names that match a rule by mistake. */
const NOT_CONVOLUTION = /^conv1d$/;

/** Class or function → its family. */
const families = new Map<string, Family>();

/** The family of a node, by its class or function name. */
export function family(node: GraphNode): Family {
  if (node.kind !== "module" && node.kind !== "op") return "other";
  const name = node.kind === "module" ? node.class : node.name;
  const found = families.get(name) ?? familyOfName(name);
  families.set(name, found);
  return found;
}

function familyOfName(name: string): Family {
  const lower = shortName(name).toLowerCase();
  // Hugging Face's `Conv1D` of GPT-2 is a Linear with transposed weights
  if (NOT_CONVOLUTION.test(lower) && name.startsWith("transformers.")) return "linear";
  for (const [result, rule] of RULES) if (rule.test(lower)) return result;
  return "other";
}

/** Families by which a class is known, whatever it is made of: attention is mostly linear layers. */
const ROLES: readonly Family[] = ["attention", "recurrence", "embedding", "loss"];
/** Families of ops that say nothing about the module around them. */
const MINOR: readonly Family[] = ["elementwise", "shape", "activation", "other"];
/** Share of a module's parameters that decides its family. */
const MOST = 0.8;
/** A module that contains one of these families has no other, even one with most of the parameters. */
const MIXING: readonly Family[] = ["attention", "recurrence"];

type Tally = Map<Family, number>;

/** Cached per graph: every toggle needs them again. */
const tallies = new WeakMap<GraphIndex, Map<string, Tally>>();

/** A node's family; a module has that of its content, unless its class has a role. */
export function familyOf(index: GraphIndex, node: GraphNode): Family {
  const own = family(node);
  if (node.kind !== "module" || ROLES.includes(own)) return own;
  const tally = tallyOf(index, node);
  // with an activation, it is a whole block
  if (!tally.has("activation") && attends(index, node)) return "attention";
  const all = [...tally.values()].reduce((sum, count) => sum + count, 0);
  const [most = own] = [...tally].find(([, count]) => count >= MOST * all) ?? [];
  const main = all === 0 ? own : most;
  return MIXING.some((family) => family !== main && tally.has(family)) ? "other" : main;
}

/** Parameters in a module, by family. */
function tallyOf(index: GraphIndex, node: ModuleNode): Tally {
  const known = tallies.get(index) ?? new Map<string, Tally>();
  tallies.set(index, known);
  const counted = known.get(node.id);
  if (counted !== undefined) return counted;
  const own = family(node);
  const tally = ROLES.includes(own) ? new Map([[own, node.parameters.total]]) : tallyOfContent(index, node);
  known.set(node.id, tally);
  return tally;
}

function tallyOfContent(index: GraphIndex, node: ModuleNode): Tally {
  const own = family(node);
  const tally: Tally = new Map();
  const add = (name: Family, count: number) => tally.set(name, (tally.get(name) ?? 0) + count);
  let isLeaf = true;
  let used = 0;
  for (const id of childrenOf(index, node.id)) {
    const child = index.nodes.get(id);
    if (child?.kind === "module") {
      isLeaf = false;
      for (const [name, count] of tallyOf(index, child)) add(name, count);
    }
    if (child?.kind === "op") used += addOp(index, add, own, child);
  }
  add(own, Math.max(0, (isLeaf ? node.parameters.total : node.parameters.own) - used));
  return tally;
}

/** Adds an op, and returns the size of its weights. */
function addOp(index: GraphIndex, add: (name: Family, count: number) => void, own: Family, op: OpNode): number {
  const name = family(op);
  add(name, 0);
  let size = 0;
  for (const weight of Object.values(op.weights ?? {})) size += sizeOf(index, weight);
  if (size > 0) add(MINOR.includes(name) ? own : name, size);
  return size;
}

/** Whether a module's own ops compute attention. */
function attends(index: GraphIndex, node: ModuleNode): boolean {
  return childrenOf(index, node.id).some((id) => {
    const child = index.nodes.get(id);
    return child?.kind === "op" && family(child) === "attention";
  });
}

function sizeOf(index: GraphIndex, weight: string): number {
  return index.graph.parameters.get(weight)?.shape?.reduce((product, size) => product * size, 1) ?? 0;
}

/** The sign drawn for an op that combines tensors elementwise or by concatenation. */
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
