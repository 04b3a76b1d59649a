/** Graphs that are as wide, long and tangled as models in Python can be. */
import type { Edge, GraphData, GraphNode } from "../src/graph/graph.js";
import { dice } from "./random_plans.js";

/** What a nasty graph consists of; whatever is left out has none or few. */
export interface Nasty {
  ops: number;
  /** Which earlier tensors an op reads: the one before, one of the inputs, or any. */
  reads: "chain" | "input" | "any";
  /** Tensors that each op reads; more for the last op, which may read all. */
  arity?: number;
  joins?: boolean;
  inputs?: number;
  outputs?: number;
  weights?: number;
  /** Every so many ops one module with the ops. */
  modules?: number;
  /** Length of names. */
  letters?: number;
}

const OPS = ["mul", "add", "sin", "conv2d", "einsum", "softmax", "linear"];

class Draft {
  readonly nodes: GraphNode[] = [];
  readonly adjacency: Record<string, Edge[]> = {};
  readonly hierarchy: Record<string, string | null> = {};
  readonly tensors: GraphData["tensors"] = {};

  /** Adds a node with one output, and returns its id. */
  add(node: GraphNode, parent: string | null, reads: string[]): string {
    this.nodes.push(node);
    this.hierarchy[node.id] = parent;
    this.tensors[`${node.id}:0`] = { shape: [1, 8 + (this.nodes.length % 7)], dtype: "float32" };
    for (const [i, from] of reads.entries()) {
      this.adjacency[from] = [...(this.adjacency[from] ?? []), { to: node.id, tensor: `${from}:0`, argument: `${i}` }];
    }
    return node.id;
  }
}

export function nasty(seed: number, shape: Nasty): GraphData {
  const {
    ops,
    reads,
    arity = 1,
    joins = false,
    inputs = 1,
    outputs = 1,
    weights = 0,
    modules = 0,
    letters = 3,
  } = shape;
  const roll = dice(seed);
  const word = (kind: string, i: number) => `${kind}${i}`.padEnd(letters, "_long");
  const draft = new Draft();
  const source = (kind: "input" | "parameter", i: number) => {
    const id = `${kind}:${i}`;
    return draft.add({ kind, id, name: word(kind, i), outputs: [`${id}:0`] }, null, []);
  };
  const given = Array.from({ length: inputs }, (_, i) => source("input", i));
  given.push(...Array.from({ length: weights }, (_, i) => source("parameter", i)));
  const made = [...given];
  let parent: string | null = null;
  for (let i = 0; i < ops; i += 1) {
    if (modules > 0 && i % modules === 0) {
      parent = roll(3) > 0 ? word("module", i) : null;
      const parameters = { own: 0, total: 1000, trainable: 1000 };
      if (parent !== null) {
        draft.add({ kind: "module", id: parent, path: parent, class: word("test.Class", i), parameters }, null, []);
      }
    }
    const id = `${parent ?? ""}/op${i}`;
    const name = `torch.${OPS[roll(OPS.length)]}`;
    const pool = { chain: made.slice(-1), input: given, any: made }[reads];
    const read = Array.from({ length: arity }, (_, j) => pool[j === 0 ? pool.length - 1 : roll(pool.length)] ?? "");
    made.push(draft.add({ kind: "op", id, name, outputs: [`${id}:0`], arguments: { step: i } }, parent, read));
  }
  const last = joins
    ? [draft.add({ kind: "op", id: "/stack", name: "torch.stack" }, null, made)]
    : made.slice(-outputs);
  for (const [i, from] of last.entries())
    draft.add({ kind: "output", id: `output:${i}`, name: word("output", i) }, null, [from]);
  return {
    ...{ format: "modeldiagrams", version: "1.0", parameters: {}, assumptions: [], status: { state: "complete" } },
    ...{ nodes: draft.nodes, adjacency: draft.adjacency, hierarchy: draft.hierarchy, tensors: draft.tensors },
    model: { name: "Nasty", class: "test.Nasty", parameters: { own: 0, total: 0, trainable: 0 } },
    provenance: { modeldiagrams: "test" },
  };
}
