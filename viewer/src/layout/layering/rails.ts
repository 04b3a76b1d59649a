/** Wires that bypass a longer path between the same ends; only the router draws them. */
import { BORDER } from "../../view/frame.js";
import type { Plan } from "../plan.js";

/**
 * Mark the wires that bypass a longer path. Only the router draws them: residuals read best beside the skipped items,
 * and dot may not terminate with two tensors fanned out to eighty layers.
 */
export function markRails(plan: Plan): void {
  const { vertices, successors } = vertexGraph(plan);
  const words = Math.ceil(vertices / 32);
  const reach = new Uint32Array(vertices * words);
  for (let vertex = vertices - 1; vertex >= 0; vertex -= 1) {
    const next = (successors[vertex] ?? []).sort((a, b) => a.to - b.to);
    let implied = false;
    next.forEach(({ to, wire }, i) => {
      // parallel wires between two vertices are all rails or none
      if (to !== next[i - 1]?.to) implied = (((reach[vertex * words + (to >> 5)] ?? 0) >>> (to & 31)) & 1) === 1;
      const planned = plan.wires[wire];
      if (implied && planned !== undefined && !planned.trunk) planned.rail = true;
      join(reach, words, vertex, to);
    });
  }
}

function join(reach: Uint32Array, words: number, vertex: number, to: number): void {
  const at = vertex * words + (to >> 5);
  reach[at] = (reach[at] ?? 0) | (1 << (to & 31));
  for (let i = 0; i < words; i += 1) {
    reach[vertex * words + i] = (reach[vertex * words + i] ?? 0) | (reach[to * words + i] ?? 0);
  }
}

/** Vertices are input ports, items and output ports, in this order, so that wires lead to larger numbers. */
function vertexGraph(plan: Plan): { vertices: number; successors: { to: number; wire: number }[][] } {
  const vertices = plan.inputs + plan.slots.length + plan.outputs;
  const successors: { to: number; wire: number }[][] = Array.from({ length: vertices }, () => []);
  plan.wires.forEach((wire, i) => {
    const from = wire.from === BORDER ? wire.fromPort : plan.inputs + wire.from;
    const to = wire.to === BORDER ? plan.inputs + plan.slots.length + wire.toPort : plan.inputs + wire.to;
    if (to > from) successors[from]?.push({ to, wire: i });
  });
  return { vertices, successors };
}
