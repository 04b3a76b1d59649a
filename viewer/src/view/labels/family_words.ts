/** The words by which the families of classes and functions are recognised. Extend the table if a name is misunderstood. */
import { memoByKey } from "../../shared/memo.js";

/** A node's kind of computation, which determines its colour. */
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

/**
 * Words in lower case. `+` joins two, as in `FeedForward` and `feed_forward`; `*` matches letters. Words begin as in
 * `CamelCase` and `ALLCapsBefore`, at digits and after `_`: `norm` is a word of `BatchNorm2d` but not of `NormalCell`.
 */
const WORDS: Readonly<Record<Exclude<Family, "other">, string>> = {
  loss: "loss cross+entropy nll kl+div criterion",
  normalisation: "norm *norm normalize normalise normalization normalisation lrn",
  attention: "attention attn sdpa mha",
  recurrence: "lstm bilstm gru bigru rnn rnn+tanh rnn+relu mamba mamba2 ssm rwkv recurrent selective+scan",
  convolution: "conv *conv convolution conv+transpose unfold fold",
  embedding: "embed embeds embedding embeddings embedder position*+encod* one+hot",
  pooling: "pool pooling pooler maxpool avgpool",
  activation:
    "relu *relu gelu silu swish hardswish mish elu selu celu prelu rrelu tanh hardtanh sigmoid hardsigmoid logsigmoid " +
    "softmax softmin softplus softsign hardshrink softshrink tanhshrink threshold glu geglu reglu swiglu activation act",
  linear:
    "linear bilinear dense mlp feed+forward ffn matmul mm *mm mv addmv dot einsum tensordot moe expert experts router",
  shape:
    "view reshape transpose permute contiguous squeeze unsqueeze flatten unflatten expand to type float half bfloat16 " +
    "getitem slice narrow split chunk unbind dropout *dropout drop+path stochastic+depth identity repeat movedim " +
    "swapaxes clone detach pad pad1d pad2d pad3d *pad roll cast select upsample upsampling+nearest " +
    "upsampling+bilinear upsample+nearest upsample+bilinear interpolate unpool max+unpool pixel+shuffle pixel+unshuffle " +
    "channel+shuffle grid+sample",
  elementwise:
    "add radd iadd sub rsub isub mul rmul imul div rdiv truediv rtruediv itruediv pow rpow neg exp log sqrt rsqrt mean " +
    "sum cat concat stack max min where vector+norm matrix+norm",
};

/** A word of a family, and a pattern for it. */
interface Word {
  family: Family;
  /** Sticky. */
  pattern: RegExp;
}

const TABLE: readonly Word[] = Object.entries(WORDS).flatMap(([family, words]) =>
  words.split(" ").map((word) => ({ family: family as Family, pattern: patternOf(word) })),
);

function patternOf(word: string): RegExp {
  return new RegExp(word.replaceAll("+", "_?").replaceAll("*", "[a-z]*"), "y");
}

/** The family that a name implies, and where the word that implies it ends. */
export interface FamilyMatch {
  name: string;
  family: Family;
  end: number;
}

/**
 * The family of a class or function by the last word that implies one, as in English nouns: `NormConv` is a convolution.
 * Of several words that end at the same place, the longest counts.
 */
export const familyMatch = memoByKey((name: string): FamilyMatch => {
  let best: FamilyMatch = { name, family: "other", end: 0 };
  for (let start = 0; start < name.length; start += 1) {
    for (const found of begins(name, start) ? wordsAt(name, start) : []) if (found.end > best.end) best = found;
  }
  return best;
});

function wordsAt(name: string, start: number): FamilyMatch[] {
  const lower = name.toLowerCase();
  return TABLE.flatMap(({ family, pattern }) => {
    pattern.lastIndex = start;
    if (!pattern.test(lower) || !begins(name, pattern.lastIndex)) return [];
    return [{ name, family, end: pattern.lastIndex }];
  });
}

/** Whether a word may begin, and the one before it end, at a place. */
function begins(name: string, at: number): boolean {
  const [before = "", here = "", after = ""] = [name[at - 1], name[at], name[at + 1]];
  if (!isLetter(before) || !isLetter(here)) return true;
  return isUpper(here) && (!isUpper(before) || (isLetter(after) && !isUpper(after)));
}

function isLetter(char: string): boolean {
  return /^[a-z]$/i.test(char);
}

function isUpper(char: string): boolean {
  return char !== char.toLowerCase();
}
