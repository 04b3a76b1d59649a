/** Dense blocks, as in DenseNet: all layers read what those before them give. Their arcs are at one side, nested by length. */
import { BORDER, type Wire } from "../view/frame.js";

/** Fewer tensors with ever fewer readers are no dense block. */
const LEAST_TENSORS = 3;
/** Each of them has at least so many. */
const LEAST_READERS = 2;

/** Whether wires of a frame are a dense block's: the readers of each tensor also read the tensors before it. */
export function isDense(wires: readonly Wire[]): boolean {
  const readers = new Map<string, Set<number>>();
  for (const { from, fromPort, to, source, flow } of wires) {
    if (flow === "return" || to === BORDER) continue;
    const net = from === BORDER ? `port ${fromPort}` : `${from} ${source}`;
    readers.set(net, (readers.get(net) ?? new Set()).add(to));
  }
  let row = 0;
  let before = new Set<number>();
  for (const own of readers.values()) {
    if (own.size < LEAST_READERS) continue;
    const isInside = own.size < before.size && [...own].every((reader) => before.has(reader));
    row = isInside ? row + 1 : 1;
    if (row >= LEAST_TENSORS) return true;
    before = own;
  }
  return false;
}
