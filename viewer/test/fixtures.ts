/** Tiny models, each named after the feature it shows. */
import type { GraphData } from "../src/graph/graph.js";
import { sketch } from "./sketch.js";

/**
 *     x ─ norm ─ linear ─ ⊕ ─ y
 *      └──────────────────┘
 */
export const residual = sketch(`
  x > norm > linear > add > y
  x > add
`);

/**
 *        ┌ q ┐
 *     x ─┼ k ┼ sdpa ─ y
 *        └ v ┘
 */
export const fork = sketch(`
  x > attn/q
  x > attn/k
  x > attn/v
  attn/q > attn/sdpa > y
  attn/k > attn/sdpa
  attn/v > attn/sdpa
`);

/**
 *     x ─ [b.0] ─ [b.1] ─ [b.2] ─ y        three equal blocks, each with a residual, all reading m
 *     m ────┴───────┴───────┘
 */
export const chain = sketch(
  ["x > b.0/norm", "b.0/norm > b.0/mul", "m > b.0/mul", "b.0/mul > b.0/add", "x > b.0/add"]
    .concat(["b.0/add > b.1/norm > b.1/mul > b.1/add", "m > b.1/mul", "b.0/add > b.1/add"])
    .concat(["b.1/add > b.2/norm > b.2/mul > b.2/add", "m > b.2/mul", "b.1/add > b.2/add", "b.2/add > y"])
    .join("\n"),
);

/**
 *     x ─ [a.0] ─ [b.0] ─ [a.1] ─ [b.1] ─ y        a period of two
 */
export const alternating = sketch(
  "x > a.0/norm > a.0/mul > b.0/relu > b.0/gelu > a.1/norm > a.1/mul > b.1/relu > b.1/gelu > y",
  {
    "a.0": "Odd",
    "b.0": "Even",
    "a.1": "Odd",
    "b.1": "Even",
  },
);

/**
 *     x ┬ [a.0]        x feeds both blocks of the first pair, but each block of the second is fed by another:
 *       └ [b.0] ─ [b.1] ─ y        no repeat, although the blocks are equal
 *         [a.0] ─ [a.1] ─ z
 */
export const crossed = sketch(
  [
    "x > a.0/norm > a.0/mul",
    "x > b.0/relu > b.0/gelu",
    "a.0/mul > a.1/norm > a.1/mul > z",
    "b.0/gelu > b.1/relu > b.1/gelu > y",
  ].join("\n"),
  { "a.0": "Odd", "b.0": "Even", "a.1": "Odd", "b.1": "Even" },
);

/**
 *        ┌ [e.0] ┐
 *     x ─┼ [e.1] ┼ cat ─ y        equal, but side by side: not a chain
 *        └ [e.2] ┘
 */
export const parallel = sketch(`
  x > e.0/norm > e.0/mul
  x > e.1/norm > e.1/mul
  x > e.2/norm > e.2/mul
  e.0/mul > cat > y
  e.1/mul > cat
  e.2/mul > cat
`);

/**
 *     x ─┬ pick ─ cell ─┐           one cell, three steps; the first has no state yet
 *        ├ pick ─ cell ─┤
 *        └ pick ─ cell ─┴ y
 */
export const recurrent = calledAgain(
  sketch(`
    x > pick'1 > cell/linear > cell/tanh
    x > pick'2 > cell@2/linear > cell@2/tanh
    cell/tanh > cell@2/linear
    x > pick'3 > cell@3/linear > cell@3/tanh > y
    cell@2/tanh > cell@3/linear
  `),
);

/**
 *     x1 ─ cell ─┐           steps of one module each
 *     x2 ─ cell ─┤
 *     x3 ─ cell ─┴ y
 */
export const listened = calledAgain(
  sketch(`
    x1 > cell/linear > cell/tanh
    x2 > cell@2/linear > cell@2/tanh
    cell/tanh > cell@2/linear
    x3 > cell@3/linear > cell@3/tanh > y
    cell@2/tanh > cell@3/linear
  `),
);

/**
 *     x ─ [b [layers.0] relu] ─ [b [layers.1] relu] ─ [b [layers.2] relu] ─ y        one module, each call with another layer
 */
export const choosing = eachWithAnotherLayer(
  sketch(
    "x > b.layers.0/linear > b/relu > b@2.layers.1/linear > b@2/relu > b@3.layers.2/linear > b@3/relu > y",
    Object.fromEntries(
      ["b", "b@2", "b@3"].flatMap((b, i) => [
        [b, "Blocks"],
        [`${b}.layers.${i}`, "Linear"],
      ]),
    ),
  ),
);

/** Numbers the calls, and gives every layer a weight. */
function eachWithAnotherLayer(graph: GraphData): GraphData {
  for (const node of graph.nodes) {
    if (node.kind === "op" && node.name.endsWith("linear")) {
      const weight = node.id.replace(/@\d/, "").replace("/linear", ".weight");
      Object.assign(node, { weights: { weight } });
      graph.parameters[weight] = { shape: [8, 8], dtype: "float32", owner: weight.replace(".weight", "") };
    }
    if (node.kind !== "module") continue;
    const [, call = 1] = /@(\d)/.exec(node.path) ?? [];
    Object.assign(node, { path: node.path.replace(/@\d/, ""), call: node.path.includes("layers") ? 1 : Number(call) });
  }
  return graph;
}

/**
 *     u ─┬ u[0] ─ ⊕ ─┐           a loop over time in plain ops; the first state is the input s
 *        ├ u[1] ─ ⊕ ─┤
 *        └ u[2] ─ ⊕ ─┴ y
 */
export const scan = picking(`
  u > getitem'0
  s > add'0
  getitem'0 > add'0
  u > getitem'1 > add'1
  add'0 > add'1
  u > getitem'2 > add'2 > y
  add'1 > add'2
`);

/**
 *     u ─ unbind ─┬ ⊕ ─ tanh ─┐           the same, each step taking its own of one op's results
 *                 ├ ⊕ ─ tanh ─┤
 *                 └ ⊕ ─ tanh ─┴ y
 */
export const unbound = givingEach(`
  u > unbind
  s > add'0
  unbind > add'0 > tanh'0
  unbind > add'1 > tanh'1
  tanh'0 > add'1
  unbind > add'2 > tanh'2 > y
  tanh'1 > add'2
`);

/** Gives every reader of `unbind` a separate tensor. */
function givingEach(text: string): GraphData {
  const graph = sketch(text);
  const edges = graph.adjacency["/unbind"] ?? [];
  edges.forEach((edge, i) => {
    edge.tensor = `/unbind:${i}`;
    graph.tensors[edge.tensor] = { shape: [1, 1], dtype: "float32" };
  });
  const node = graph.nodes.find(({ id }) => id === "/unbind");
  Object.assign(node ?? {}, { outputs: edges.map(({ tensor }) => tensor) });
  return graph;
}

/** `getitem'2` picks `[:, 2]`. */
function picking(text: string): GraphData {
  const graph = sketch(text);
  for (const node of graph.nodes) {
    const [, key] = /getitem'(\d+)$/.exec(node.id) ?? [];
    if (key === undefined) continue;
    Object.assign(node, { name: "torch.Tensor.__getitem__", arguments: { key: ["::", Number(key)] } });
    graph.tensors[`${node.id}:0`] = { shape: [1, 1], dtype: "float32" };
  }
  return graph;
}

/** `cell@2` is the second call of `cell`. */
export function calledAgain(graph: GraphData): GraphData {
  for (const node of graph.nodes) {
    if (node.kind !== "module" || !node.path.includes("@")) continue;
    const [path = "", call] = node.path.split("@");
    Object.assign(node, { path, call: Number(call) });
  }
  return graph;
}

/**
 *     x ┬ [a.0] ─┐┌ [a.1] ─┐┌ [a.2] ─ y        each repeat depends on the one before, but is not connected
 *       └ [b.0] ─┘└ [b.1] ─┘└ [b.2] ─ z        (the wires cross: a feeds b, b feeds a)
 */
export const loose = sketch(
  [
    ...["x > a.0/norm > a.0/mul", "x > b.0/relu > b.0/gelu", "b.0/gelu > a.1/norm > a.1/mul"],
    ...["a.0/mul > b.1/relu > b.1/gelu", "b.1/gelu > a.2/norm > a.2/mul > y", "a.1/mul > b.2/relu > b.2/gelu > z"],
  ].join("\n"),
  { "a.0": "Odd", "a.1": "Odd", "a.2": "Odd", "b.0": "Even", "b.1": "Even", "b.2": "Even" },
);

/** A wrapper with one child: `outer` contains `outer.inner`, which contains two ops. */
export const wrapped = sketch("x > outer.inner/linear > outer.inner/relu > y", {
  outer: "Wrapper",
  "outer.inner": "Inner",
});

/** Every layer reads all before it. */
export const dense = sketch(
  [0, 1, 2, 3, 4, 5]
    .flatMap((i) => [`x > c'${i}`, ...Array.from({ length: i }, (_, k) => `c'${k} > c'${i}`)])
    .concat(["c'5 > y"])
    .join("\n"),
);

/**
 *     image ─ down.0 ───→ ‖ ─ up.2 ─ y        three levels; each block but two has a residual, and reads the time
 *              down.1 ──→ ‖ ─ up.1
 *               down.2 ─→ ‖ ─ up.0
 *                middle ──┘
 */
export const unet = sketch(
  [
    "step > time/linear > time/silu",
    ...[0, 1, 2].flatMap((i) => [
      `${i === 0 ? "image" : `down.${i - 1}/add`} > down.${i}/norm > down.${i}/mul > down.${i}/add`,
      `time/silu > down.${i}/mul`,
      `down.${i}/norm > down.${i}/add`,
    ]),
    "down.2/add > middle/norm > middle/gelu",
    ...[0, 1, 2].flatMap((i) => [
      `${i === 0 ? "middle/gelu" : `up.${i - 1}/add`} > cat'${i} > up.${i}/norm > up.${i}/mul > up.${i}/add`,
      `down.${2 - i}/add > cat'${i}`,
      `up.${i}/norm > up.${i}/add`,
      ...(i === 1 ? ["time/silu > up.1/add"] : []),
    ]),
    "up.2/add > y",
  ].join("\n"),
  Object.fromEntries(
    [0, 1, 2].flatMap((i) => [
      [`down.${i}`, `Down${i}`],
      [`up.${i}`, `Up${i}`],
    ]),
  ),
);

/** x is reshaped between two ops. */
export const plumbing = sketch("x > linear > view > transpose > relu > y");

export const all: Record<string, GraphData> = {
  ...{ residual, fork, chain, alternating, parallel, loose, wrapped, dense, plumbing, unet },
  ...{ recurrent, listened, choosing, scan, unbound },
};
