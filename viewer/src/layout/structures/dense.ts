/** Dense blocks, as in DenseNet: each layer reads all layers before it. Their arcs are on one side, nested by length. */
import { BORDER, type Wire } from "../../view/frame.js";

/** Fewest tensors of a dense block. */
const LEAST_TENSORS = 3;
/** Fewest readers of each. */
const LEAST_READERS = 2;
const LEAST_WIRES = 9;

/** Whether the wires of a frame form a dense block: the readers of each tensor also read the tensors before it. */
export function isDense(wires: readonly Wire[]): boolean {
  if (wires.length < LEAST_WIRES) return false;
  let row = 0;
  let before = new Set<number>();
  for (const own of readersOf(wires)) {
    const isInside = own.size < before.size && [...own].every((reader) => before.has(reader));
    row = isInside ? row + 1 : 1;
    if (row >= LEAST_TENSORS) return true;
    before = own;
  }
  return false;
}

/** The readers of each tensor that has several. */
function readersOf(wires: readonly Wire[]): Set<number>[] {
  const readers = new Map<string, Set<number>>();
  for (const { from, fromPort, to, source, flow } of wires) {
    if (flow === "return" || to === BORDER) continue;
    const net = from === BORDER ? `port ${fromPort}` : `${from} ${source}`;
    readers.set(net, (readers.get(net) ?? new Set()).add(to));
  }
  return [...readers.values()].filter((own) => own.size >= LEAST_READERS);
}
