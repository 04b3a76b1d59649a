import { contentsOf, type GraphIndex, type GraphNode, type ModuleNode } from "../graph/graph.js";
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
  ["normalisation", /norm|^lrn$|localresponse/],
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

/** The family of a node, by its class or function name. */
export function family(node: GraphNode): Family {
  if (node.kind !== "module" && node.kind !== "op") return "other";
  const name = shortName(node.kind === "module" ? node.class : node.name).toLowerCase();
  // Hugging Face's `Conv1D` of GPT-2 is a Linear with transposed weights
  if (node.kind === "module" && NOT_CONVOLUTION.test(name) && node.class.startsWith("transformers.")) return "linear";
  for (const [result, rule] of RULES) if (rule.test(name)) return result;
  return "other";
}

/** Share of a container's parameters that decides its family. */
const MOST = 0.8;
/** A container with one of these families keeps `other`, even if another family has most parameters. */
const MIXING: readonly Family[] = ["attention", "recurrence"];

type Tally = Map<Family, number>;

/** Cached per graph: every toggle needs them again. */
const tallies = new WeakMap<GraphIndex, Map<string, Tally>>();

/** A node's family; a container of unknown class has the family with nearly all of its parameters. */
export function familyOf(index: GraphIndex, node: GraphNode): Family {
  const own = family(node);
  if (node.kind !== "module" || own !== "other") return own;
  const tally = tallyOf(index, node);
  const all = [...tally.values()].reduce((sum, count) => sum + count, 0);
  const [main] = [...tally].find(([, count]) => all > 0 && count >= MOST * all) ?? [own];
  return MIXING.some((family) => family !== main && tally.has(family)) ? own : main;
}

/** Parameters in a module, by family. */
function tallyOf(index: GraphIndex, node: ModuleNode): Tally {
  const known = tallies.get(index) ?? new Map<string, Tally>();
  tallies.set(index, known);
  const counted = known.get(node.id);
  if (counted !== undefined) return counted;
  const own = family(node);
  const tally: Tally = new Map([[own, own === "other" ? node.parameters.own : node.parameters.total]]);
  for (const id of own === "other" ? contentsOf(index, node.id).children : []) {
    const child = index.nodes.get(id);
    if (child?.kind !== "module") continue;
    for (const [name, count] of tallyOf(index, child)) tally.set(name, (tally.get(name) ?? 0) + count);
  }
  known.set(node.id, tally);
  return tally;
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
