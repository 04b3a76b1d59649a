/**
 * Bytes that ops move: what each reads (tensors and weights) and writes, as counted by the roofline model for ops that run
 * one after the other without caches (Williams, Waterman, Patterson: Roofline, CACM 52(4), 2009).
 */
import { sum } from "d3-array";
import { ancestors, type GraphIndex, type OpNode } from "../graph/graph.js";

type Shape = readonly (number | string)[] | null | undefined;

/** Ops that read only the rows that they return. */
const LOOKUPS = /^(embedding|embedding_bag|index_select|gather|index|take|take_along_dim|getitem)$/;
const IN_PLACE = /^i(add|sub|mul|truediv|floordiv|mod|pow|and|or|xor|lshift|rshift|matmul)$|[a-z0-9]_$/;

/** Number of elements; 0 if a size is unknown. */
export function sizeOf(shape: Shape): number {
  return (shape ?? [0]).reduce<number>((size, length) => size * (typeof length === "number" ? length : 0), 1);
}

/** Bytes of one element: `bfloat16` → 2, `float8_e4m3fn` → 1, `bool` → 1. */
function widthOf(dtype: string): number {
  return Number(/\d+/.exec(dtype)?.[0] ?? 8) / 8;
}

export function bytesOf(index: GraphIndex, tensor: string): number {
  const spec = index.graph.tensors.get(tensor);
  return spec === undefined ? 0 : sizeOf(spec.shape) * widthOf(spec.dtype);
}

/** The name of an op without Python's underscores: `torch.Tensor.__setitem__` → `setitem`; `add_` keeps its mark. */
export function opName({ name }: OpNode): string {
  return name.replace(/^.*[.:]/, "").replace(/^__(\w+)__$/, "$1");
}

/** Op, module or function call → the bytes that it moves; at `ROOT`, those of the whole model. */
export function movedBytes(index: GraphIndex): Map<string, number> {
  const read = readBytes(index);
  const moved = new Map<string, number>();
  const calls = index.graph.atSizes?.calls;
  for (const node of index.graph.nodes) {
    let bytes = node.kind === "op" ? movedBy(index, node, read.get(node.id) ?? new Map()) : 0;
    if (bytes === 0) continue;
    for (const at of [node.id, ...ancestors(index, node.id)]) {
      moved.set(at, (moved.get(at) ?? 0) + bytes);
      // of all calls in what is around it
      bytes *= calls?.get(at) ?? 1;
    }
  }
  return moved;
}

/** Op → argument → bytes of the tensor whose values it reads; each tensor is read once. */
type Read = Map<string, number>;

function readBytes(index: GraphIndex): Map<string, Read> {
  const found = new Map<string, Read>();
  for (const edges of index.graph.adjacency.values()) {
    const seen = new Set<string>();
    for (const { to, tensor, argument = "", flow } of edges) {
      if (flow === "shape" || seen.has(`${to}\n${tensor}`)) continue;
      seen.add(`${to}\n${tensor}`);
      const read = found.get(to) ?? new Map<string, number>();
      found.set(to, read);
      // a tensor whose parts were written separately comes from several ops
      read.set(argument, Math.max(read.get(argument) ?? 0, bytesOf(index, tensor)));
    }
  }
  return found;
}

function movedBy(index: GraphIndex, op: OpNode, read: Read): number {
  const name = opName(op);
  // it writes a part of its first argument
  if (name === "setitem") return 2 * (read.get("value") ?? 0);
  const isInPlace = IN_PLACE.test(name) || op.arguments?.inplace === true;
  // a view moves nothing
  if (!op.activation_bytes && !isInPlace) return 0;
  const written = sum(op.outputs ?? [], (tensor) => bytesOf(index, tensor));
  const weights = Object.values(op.weights ?? {}).map((weight) => {
    const spec = index.graph.parameters.get(weight);
    return spec === undefined ? 0 : sizeOf(spec.shape) * widthOf(spec.dtype);
  });
  const most = LOOKUPS.test(name) ? written : Number.POSITIVE_INFINITY;
  return written + sum([...read.values(), ...weights], (bytes) => Math.min(bytes, most));
}
