/** What a block of convolutions does unlike others of its class: `5×5, s2`, `k2, dilation 4`. */

import type { GraphIndex, ModuleNode } from "../../graph/graph.js";
import { memoInObject } from "../../shared/memo.js";
import { layersIn } from "./container_words.js";
import { layerSizes } from "./labels.js";
import { familyOf } from "./op_families.js";

/** Most layers in a block; what holds more is a stage. */
const MOST_LAYERS = 16;

/** The kernel of a block's convolutions, those of single points aside; empty if all blocks of its class say the same. */
export function kernelWords(index: GraphIndex, node: ModuleNode): string {
  const own = kernelIn(index, node);
  return own !== "" && kernelsOf(index, node.class).size > 1 ? own : "";
}

/** The kernels of all modules of a class. */
const kernelsOf = memoInObject((index: GraphIndex, name: string): ReadonlySet<string> => {
  const blocks = [...index.nodes.values()].filter((node) => node.kind === "module" && node.class === name);
  return new Set(blocks.map((block) => kernelIn(index, block as ModuleNode)));
});

/** Empty unless all of a block's kernels are of one size, and as dilated. */
function kernelIn(index: GraphIndex, node: ModuleNode): string {
  if (familyOf(index, node) !== "convolution") return "";
  const layers = layersIn(index, node, MOST_LAYERS + 1);
  if (layers.length > MOST_LAYERS) return "";
  const windows = layers.map((layer) => layerSizes(index, layer).split(", ")).filter((parts) => parts.some(isKernel));
  const [kernel, ...otherKernels] = new Set(windows.map((parts) => parts.find(isKernel)));
  const [dilation, ...otherDilations] = new Set(windows.map((parts) => parts.find((part) => /^dilation /.test(part))));
  if (kernel === undefined || otherKernels.length + otherDilations.length > 0) return "";
  const [stride, ...otherStrides] = windows.flat().filter((part) => /^s\d/.test(part));
  // what several layers do together is not the stride of one
  return [kernel, otherStrides.length > 0 ? undefined : stride, dilation]
    .filter((part) => part !== undefined)
    .join(", ");
}

/** `3×3` and `k3`, but neither `1×1` nor `k1`. */
function isKernel(part: string): boolean {
  return /^(k\d+|\d+(×\d+)+)$/.test(part) && !/^(k1|1(×1)+)$/.test(part);
}
