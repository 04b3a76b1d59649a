/**
 * Bytes of activations that are alive while each op runs. A tensor lives from the op that makes it to the last one that
 * needs it. Views and in-place writes share the memory of what they view or write, which counts once and lives as long as
 * any of them. Weights, buffers and inputs exist before the pass: neither they nor their views count.
 */
import { maxIndex } from "d3-array";
import { append } from "../graph/append.js";
import { signBefore } from "../graph/bounds.js";
import { ancestors, type GraphIndex, type OpNode, ROOT } from "../graph/graph.js";
import { bytesOf } from "./moved_bytes.js";

export interface MemoryCurve {
  /** Ids of the ops in execution order. */
  ops: string[];
  /** Bytes alive during each op. */
  alive: number[];
  /** Position of the op with the most. */
  peak: number;
  /** `≥ `, `≤ ` or `≈ ` before all amounts, if they need one. */
  sign: string;
}

/** Memory that an op allocated. */
interface Block {
  bytes: number;
  from: number;
  to: number;
}

/** The first argument of functions that view or write one of their arguments. */
const TARGETS = ["out", "self", "input", "tensor", "0", "x"];

export function memoryCurve(index: GraphIndex): MemoryCurve {
  const ops = index.steps.filter((node): node is OpNode => node.kind === "op");
  const blocks = blocksOf(index, ops);
  const changes = new Array<number>(ops.length + 1).fill(0);
  for (const { bytes, from, to } of new Set(blocks.values())) {
    changes[from] = (changes[from] ?? 0) + bytes;
    changes[to + 1] = (changes[to + 1] ?? 0) - bytes;
  }
  let now = 0;
  const alive = changes.slice(0, -1).map((change) => {
    now += change;
    return now;
  });
  // at other sizes, a loop has other steps
  const sign = index.graph.atSizes?.calls.size ? "≈ " : signBefore(index, ROOT, "memory");
  return { ops: ops.map(({ id }) => id), alive, peak: maxIndex(alive), sign };
}

/** Tensor → its memory; none for tensors that exist before the pass. */
function blocksOf(index: GraphIndex, ops: readonly OpNode[]): Map<string, Block> {
  const found = new Map<string, Block>();
  const read = readTensors(index);
  ops.forEach((op, at) => {
    const outputs = op.outputs ?? [];
    const viewed = viewedBy(outputs, read.get(op.id) ?? []);
    let left = op.activation_bytes ?? 0;
    outputs.forEach((tensor, i) => {
      const bytes = bytesOf(index, tensor);
      const isNew = bytes > 0 && bytes <= left;
      const block = isNew ? { bytes, from: at, to: at } : found.get(viewed[i] ?? "");
      if (isNew) left -= bytes;
      if (block !== undefined) found.set(tensor, block);
    });
  });
  const positions = new Map(ops.map(({ id }, at) => [id, at]));
  for (const [tensor, at] of uses(index, positions, ops.length - 1)) {
    const block = found.get(tensor);
    if (block !== undefined) block.to = Math.max(block.to, at);
  }
  return found;
}

interface Read {
  tensor: string;
  argument: string;
}

/** Op → the tensors that it reads, in the execution order of their producers. */
function readTensors(index: GraphIndex): Map<string, Read[]> {
  const found = new Map<string, Read[]>();
  for (const edges of index.graph.adjacency.values())
    for (const { to, tensor, argument = "", flow } of edges)
      if (flow !== "shape") append(found, to, { tensor, argument });
  return found;
}

/** For each output, the tensor that it views, if any: one each, or the same for all. */
function viewedBy(outputs: readonly string[], read: readonly Read[]): (string | undefined)[] {
  const places = new Map(read.map(({ argument, tensor }) => [argument, tensor]));
  const all = [...places].sort(([a], [b]) => rank(a) - rank(b)).map(([, tensor]) => tensor);
  const isOneEach = outputs.length > 1 && all.length === outputs.length;
  return outputs.map((_, i) => all[isOneEach ? i : 0]);
}

function rank(argument: string): number {
  const at = TARGETS.indexOf(argument);
  return at < 0 ? TARGETS.length : at;
}

/** Tensors with the position of an op that needs them; a tensor may occur several times. */
function uses(index: GraphIndex, positions: ReadonlyMap<string, number>, end: number): [string, number][] {
  // the model's outputs stay
  const until = (id: string) => (index.nodes.get(id)?.kind === "output" ? end : (positions.get(id) ?? 0));
  const reads = [...index.graph.adjacency.values()]
    .flat()
    .filter(({ flow }) => flow !== "shape")
    .map(({ to, tensor }): [string, number] => [tensor, until(to)]);
  return [...reads, ...held(index, lastOps(index, positions))];
}

/** A module call keeps its arguments and results alive until it ends. */
function held(index: GraphIndex, ends: ReadonlyMap<string, number>): [string, number][] {
  return index.graph.nodes.flatMap((node) => {
    if (node.kind !== "module") return [];
    const tensors = [node.inputs, node.outputs].flatMap((named) => Object.values(named ?? {}));
    return tensors.map((tensor): [string, number] => [tensor, ends.get(node.id) ?? 0]);
  });
}

/** Module call → position of its last op. */
function lastOps(index: GraphIndex, positions: ReadonlyMap<string, number>): Map<string, number> {
  const found = new Map<string, number>();
  for (const [id, at] of positions)
    for (const around of ancestors(index, id))
      if (around !== ROOT) found.set(around, Math.max(found.get(around) ?? 0, at));
  return found;
}
