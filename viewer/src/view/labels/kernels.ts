/** What a block of convolutions does unlike others of its class: `5×5, s2`, `k2, dilation 4`. */
import type { GraphIndex, ModuleNode } from "../../graph/graph.js";
import { layersIn } from "./container_words.js";
import { layerSizes } from "./labels.js";
import { familyOf } from "./op_families.js";

/** Most layers in a block; what holds more is a stage. */
const MOST_LAYERS = 16;

/** Class → the kernels of all modules of it; cached per graph. */
const known = new WeakMap<GraphIndex, Map<string, ReadonlySet<string>>>();

/** The kernel of a block's convolutions, those of single points aside; empty if all blocks of its class say the same. */
export function kernelWords(index: GraphIndex, node: ModuleNode): string {
  const own = kernelIn(index, node);
  return own !== "" && kernelsOf(index, node.class).size > 1 ? own : "";
}

function kernelsOf(index: GraphIndex, name: string): ReadonlySet<string> {
  const classes = known.get(index) ?? new Map<string, ReadonlySet<string>>();
  known.set(index, classes);
  let kernels = classes.get(name);
  if (kernels === undefined) {
    const blocks = [...index.nodes.values()].flatMap((node) =>
      node.kind === "module" && node.class === name ? [node] : [],
    );
    kernels = new Set(blocks.map((block) => kernelIn(index, block)));
    classes.set(name, kernels);
  }
  return kernels;
}

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
