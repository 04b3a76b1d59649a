/** What each step of a loop hands to the next: wires back to the start. */
import type { GraphIndex } from "../graph/graph.js";
import type { Frame, Wire } from "./frame.js";

/** Wires as returns, named after the argument that takes them or, at ops, after their source. */
export function asReturns(index: GraphIndex, wires: Wire[], { items }: Frame): Wire[] {
  return wires.map((wire) => {
    const name = argumentOf(index, items[wire.to]?.id ?? "", wire.tensor) ?? items[wire.from]?.name ?? "";
    return { ...wire, flow: "return", label: `${name} ${wire.label}`.trim() };
  });
}

/** The argument by which a call of a module takes a tensor. */
function argumentOf(index: GraphIndex, id: string, tensor: string): string | undefined {
  const module = index.nodes.get(id);
  if (module?.kind !== "module") return undefined;
  for (const node of index.graph.nodes) {
    if (node.kind !== "module" || node.path !== module.path) continue;
    for (const [name, taken] of Object.entries(node.inputs ?? {})) if (taken === tensor) return name;
  }
  return undefined;
}
