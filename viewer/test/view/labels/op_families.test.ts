/** The family of a node, which decides its colour. */
import { describe, expect, it } from "vitest";
import type { GraphData } from "../../../src/graph/graph.js";
import { index } from "../../../src/graph/indexing.js";
import { family, familyOf } from "../../../src/view/labels/op_families.js";
import { moduleOf, sketch } from "../../sketch.js";

/** A module `m` around ops and modules with one op each: `mul Linear(linear)`. */
function around(name: string, content: string): GraphData {
  const parts = content.split(" ").map((part, i) => {
    const [, inner, op = part] = /^(\w+)\((\w+)\)$/.exec(part) ?? [];
    return { path: inner === undefined ? "m" : `m.p${i}`, inner, op: `${op}'${i}` };
  });
  const classes = parts.flatMap(({ path, inner }) => (inner === undefined ? [] : [[path, inner]]));
  const chain = parts.map(({ path, op }) => `${path}/${op}`).join(" > ");
  return sketch(`x > ${chain} > y`, { m: name, ...Object.fromEntries(classes) });
}

/** FLOPs and weights of ops by their names, as their graph would have them. */
const FLOPS: Readonly<Record<string, number>> = {
  linear: 900,
  addmm: 900,
  matmul: 900,
  conv2d: 900,
  conv1d: 900,
  conv_transpose2d: 900,
  sdpa: 300,
  lstm: 900,
};
const WEIGHTS: Readonly<Record<string, number>> = {
  ...{ linear: 90, addmm: 90, conv2d: 90, conv1d: 90, conv_transpose2d: 90, lstm: 90, embedding: 9000 },
  ...{ batch_norm: 5, layer_norm: 5, group_norm: 5, mul: 3, prelu: 1 },
};

/** Counts FLOPs and weights of ops, and of the modules around them. */
function counted(graph: GraphData): GraphData {
  const modules = graph.nodes.filter((node) => node.kind === "module");
  for (const module of modules) module.parameters = { own: 0, total: 0, trainable: 0 };
  for (const node of graph.nodes.filter((node) => node.kind === "op")) {
    const name = node.name.replace("torch.", "");
    const size = WEIGHTS[name] ?? 0;
    node.flops = FLOPS[name] ?? null;
    const holder = graph.hierarchy[node.id];
    for (const module of modules.filter(({ id }) => id === holder || id === "m")) {
      module.flops = (module.flops ?? 0) + (node.flops ?? 0);
      module.parameters.total += size;
    }
    if (size === 0) continue;
    node.weights = { weight: `${node.id}.weight` };
    graph.parameters[`${node.id}.weight`] = { shape: [size], dtype: "float32", owner: "m" };
    moduleOf(graph, holder ?? "").parameters.own += size;
  }
  return graph;
}

/** Family → classes of layers without modules inside, `Class(op op)`, or only `Class` where the class alone tells. */
const LAYERS: Readonly<Record<string, string>> = {
  linear:
    "Linear(linear) Bilinear(bilinear) LazyLinear(linear) NonDynamicallyQuantizableLinear(linear) Conv1D(addmm) " +
    "Dense(linear) BitLinear(linear) Linear8bitLt(matmul) LoraLinear(linear) Projection(linear) NormedLinear(linear) " +
    "MixtralExperts(matmul) MixtralTopKRouter(linear) Router(linear) RowParallelLinear(linear)",
  convolution:
    "Conv1d(conv1d) Conv2d(conv2d) Conv3d(conv3d) ConvTranspose2d(conv_transpose2d) LazyConv2d(conv2d) " +
    "Conv2dSame(conv2d) StdConv2d(conv2d) WSConv2d(conv2d) CausalConv1d(conv1d) DeformConv2d PointwiseConv(conv2d) " +
    "MixedConv2d(conv2d) NormConv1d(conv1d) Upconv(conv_transpose2d) Unfold(unfold) Fold(fold) BlurConv(conv2d)",
  normalisation:
    "BatchNorm1d(batch_norm) BatchNorm2d(batch_norm) SyncBatchNorm(batch_norm) FrozenBatchNorm2d(mul) " +
    "LayerNorm(layer_norm) LayerNorm2d(layer_norm) T5LayerNorm(pow mean mul) LlamaRMSNorm(pow mean mul) RMSNorm(mul) " +
    "GroupNorm(group_norm) InstanceNorm2d(instance_norm) LocalResponseNorm GlobalResponseNorm(mul) WeightNorm " +
    "Normalize(sub div) L2Normalization(div) BatchNormAct2d(batch_norm relu) AdaLayerNorm(layer_norm) LRN",
  activation:
    "ReLU(relu) ReLU6(hardtanh) LeakyReLU(leaky_relu) PReLU(prelu) RReLU GELU(gelu) NewGELUActivation(mul tanh) " +
    "QuickGELUActivation(sigmoid mul) SiLU(silu) SiLUActivation(silu) Swish(sigmoid mul) Mish(mish) ELU(elu) CELU SELU " +
    "Tanh(tanh) Sigmoid(sigmoid) Hardswish Hardsigmoid HardSwish Hardtanh LogSigmoid Softmax(softmax) LogSoftmax Softmax2d " +
    "Softplus Softsign Softshrink Tanhshrink Threshold GLU(glu) GEGLU(mul gelu) SwiGLU(mul silu) SquaredReLU(relu pow)",
  pooling:
    "MaxPool1d MaxPool2d(max_pool2d) AvgPool2d(avg_pool2d) AvgPool2dSame AdaptiveAvgPool2d(adaptive_avg_pool2d) " +
    "AdaptiveMaxPool1d LPPool2d FractionalMaxPool2d FastAdaptiveAvgPool2d(mean) GlobalAvgPool MeanPooling(sum div)",
  embedding:
    "Embedding(embedding) EmbeddingBag(embedding_bag) PatchEmbed(conv2d) PositionalEncoding(add) RotaryEmbedding(cos sin) " +
    "LlamaRotaryEmbedding(matmul cos sin) SinusoidalPositionEmbeddings(sin cos) PositionEmbeddingSine(sin cos) " +
    "BertEmbeddings(embedding layer_norm) OneHotEncoder WhisperPositionalEmbedding",
  recurrence: "RNN LSTM(lstm) GRU LSTMCell GRUCell RNNCell LSTMLayer BiLSTM(lstm) ConvLSTMCell(conv2d) RWKV MambaMixer",
  attention:
    "MultiheadAttention(linear sdpa) ScaledDotProductAttention(sdpa) LlamaAttention(linear sdpa) SelfAttention(linear) " +
    "ShiftedWindowAttention(linear sdpa) T5LayerSelfAttention(linear sdpa) Attn(linear) CrossAttentionLayer(linear) " +
    "AttentionHead(linear matmul softmax)",
  loss: "CrossEntropyLoss NLLLoss MSELoss(mse_loss) BCEWithLogitsLoss KLDivLoss DiceLoss(mul sum)",
  shape:
    "Dropout Dropout2d AlphaDropout DropPath StochasticDepth Flatten(flatten) Unflatten Identity Permute(permute) " +
    "Upsample(interpolate) UpsamplingNearest2d UpsamplingBilinear2d PixelShuffle(pixel_shuffle) PixelUnshuffle " +
    "MaxUnpool2d ZeroPad2d ReflectionPad2d ConstantPad1d Interpolate(interpolate) ChannelShuffle ToHeads(view transpose)",
  other: "NormalCell LayerScale(mul) ToString FoldedModel Encoder toString",
};

const CASES = Object.entries(LAYERS).flatMap(([family, layers]) =>
  [...layers.matchAll(/(\w+)(?:\(([^)]*)\))?/g)].map(([, name = "", ops = "op"]) => [name, ops, family] as const),
);

describe("the family of a layer", () => {
  it("is known of more than 120 classes", () => {
    expect(new Set(CASES.map(([name]) => name)).size).toBe(CASES.length);
    expect(CASES.length).toBeGreaterThan(120);
  });

  it.each(CASES)("%s with %s: %s", (name, ops, expected) => {
    const graph = counted(around(name, ops));
    expect(familyOf(index(graph), moduleOf(graph, "m"))).toBe(expected);
  });
});

describe("the family of a module with others inside", () => {
  it.each([
    ["NormBlock", "LayerNorm(layer_norm) Attention(sdpa)", "attention"],
    ["EncoderLayer", "Attention(sdpa) Linear(linear) GELU(gelu) Linear(linear)", "other"],
    ["PreNorm", "LayerNorm(mul) SelfAttention(linear)", "attention"],
    ["DecoderLayer", "SelfAttention(linear) CrossAttention(sdpa) CrossAttention(linear) relu", "other"],
    ["NormedAttend", "linear sdpa", "attention"],
    ["NormLayer", "linear sdpa gelu linear", "other"],
    ["ConvNormAct", "Conv2d(conv2d) BatchNorm2d(batch_norm) ReLU(relu)", "convolution"],
    ["NoLayerNormConvLayer", "Conv1d(conv1d) GELU(gelu)", "convolution"],
    ["NormMlpClassifierHead", "LayerNorm2d(layer_norm) Linear(linear)", "linear"],
    ["NormalCell", "Conv2d(conv2d) AvgPool2d(avg_pool2d)", "convolution"],
    ["BertPooler", "Linear(linear) Tanh(tanh)", "linear"],
    ["PatchEmbed", "Conv2d(conv2d) LayerNorm(layer_norm)", "embedding"],
    ["ResNetEmbeddings", "Conv2d(conv2d) BatchNorm2d(batch_norm) ReLU(relu) MaxPool2d(max_pool2d)", "convolution"],
    ["LSTMClassifier", "Embedding(embedding) LSTM(lstm) Linear(linear)", "other"],
    ["AttentionUNet", "Conv2d(conv2d) Conv2d(conv2d) ReLU(relu)", "convolution"],
    // its weights are in a table, its work is not
    ["TextTower", "WordTable(embedding) Linear(linear)", "linear"],
    ["Bag", "Table(embedding) Dropout(dropout)", "embedding"],
  ])("%s with %s: %s", (name, content, expected) => {
    const graph = counted(around(name, content));
    expect(familyOf(index(graph), moduleOf(graph, "m"))).toBe(expected);
  });
});

it("norm is a measure as an op, and a layer as a class", () => {
  const graph = sketch("x > m/norm > n/batch_norm > y", { m: "Norm", n: "Block" });
  const families = graph.nodes.flatMap((node) => (node.kind === "op" ? [family(node)] : []));
  expect(families).toEqual(["elementwise", "normalisation"]);
  expect(family(moduleOf(graph, "m"))).toBe("normalisation");
});

describe("equal blocks", () => {
  const graph = counted(
    sketch("x > a.n/linear > a.m/conv2d > b.n/linear > b.m/conv2d > y", {
      ...{ a: "Block", b: "Block", "a.n": "Linear", "b.n": "Linear", "a.m": "Conv2d", "b.m": "Conv2d" },
    }),
  );

  it("have one colour, whatever their sizes", () => {
    for (const node of graph.nodes) if (node.id === "a.n/linear" && node.kind === "op") node.flops = 9_000;
    const families = ["a", "b"].map((id) => familyOf(index(graph), moduleOf(graph, id)));
    expect(families).toEqual(["linear", "linear"]);
  });
});
