/** Which sizes and costs depend on values that the pass assumed, as `src/modeldiagrams/ir/bounds.py` finds them. */
import { memoByObject } from "../shared/memo.js";
import { type GraphData, type GraphIndex, ROOT } from "./graph.js";

/** Assumptions that give the largest possible size. */
export const UPPER_BOUNDS: ReadonlySet<unknown> = new Set(["every element", "all different"]);

export interface Bounds {
  /** `≤ ` if all of it is an upper bound, else `≈ `. */
  sign: string;
  /** The same for costs, or `≈ ` if they are those of this input. */
  costSign: string;
  tensors: ReadonlySet<string>;
  /** Ids of nodes and function calls; `ROOT` is the model. */
  flops: ReadonlySet<string>;
  memory: ReadonlySet<string>;
}

/** `≤` if all assumed sizes are the largest possible ones, else `≈`. */
export function signOf({ guesses = [] }: GraphData["status"]): string {
  const sizes = guesses.map(({ value }) => value).filter((value) => typeof value !== "boolean");
  return sizes.every((size) => UPPER_BOUNDS.has(size)) ? "≤" : "≈";
}

export function costSignOf(status: GraphData["status"]): string {
  return status.costs_of_input ? "≈" : signOf(status);
}

export const boundsOf = memoByObject((index: GraphIndex): Bounds => {
  const { status } = index.graph;
  const { assumed_tensors = [], assumed_flops = [] } = status;
  const tensors = new Set(assumed_tensors);
  const memory = new Set<string>();
  for (const tensor of tensors) {
    let id = index.producer.get(tensor);
    if (id === undefined || index.nodes.get(id)?.kind !== "op") continue;
    while (id !== undefined && !memory.has(id)) {
      memory.add(id);
      id = index.parent.get(id);
    }
  }
  return {
    sign: `${signOf(status)} `,
    costSign: `${costSignOf(status)} `,
    tensors,
    flops: new Set(assumed_flops.length > 0 ? [...assumed_flops, ROOT] : []),
    memory,
  };
});

/** `≥ `, `≤ ` or `≈ ` before a cost of a node or function call, or of the model (`ROOT`); mostly empty. */
export function signBefore(index: GraphIndex, id: string, measure: "flops" | "memory"): string {
  const { atSizes } = index.graph;
  if (atSizes !== undefined) return atSizes.signs[measure].get(id) ?? "";
  const { costSign, [measure]: assumed } = boundsOf(index);
  return assumed.has(id) ? costSign : "";
}

/** How many calls in all a node stands for at other sizes than those of the pass. */
export function callsOf({ graph: { atSizes }, parent }: GraphIndex, id: string): number {
  if (!atSizes?.calls.size) return 1;
  let calls = 1;
  for (let at = id; at !== ROOT; at = parent.get(at) ?? ROOT) calls *= atSizes.calls.get(at) ?? 1;
  return calls;
}
