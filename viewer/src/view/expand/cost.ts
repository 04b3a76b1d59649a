import type { GraphIndex, ModelInfo, ModuleNode } from "../../graph/graph.js";

/** What a module contributes: FLOPs or, if the trace didn't count them, parameters. */
export function costOf({ graph }: GraphIndex, of: ModuleNode | ModelInfo): number {
  return graph.model.flops ? (of.flops ?? 0) : of.parameters.total;
}
