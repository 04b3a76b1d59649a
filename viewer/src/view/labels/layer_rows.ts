/** The sizes of a few consecutive layers as papers write them: `64 → 256 → 64`, `16 → 32 → 32, 3×3`. */

import { append } from "../../graph/append.js";
import { ancestors, childrenOf, type GraphIndex, isFixed, type ModuleNode } from "../../graph/graph.js";
import { shortName } from "../../graph/names.js";
import { memoByObject } from "../../shared/memo.js";
import { isPlain, layersIn } from "./container_words.js";
import { layerSizes } from "./labels.js";
import { type Family, familyOf } from "./op_families.js";

/** Most layers that a box lists, and most characters of the class and the sizes. */
const MOST_LAYERS = 4;
const MOST_LETTERS = 48;
const LISTED: readonly Family[] = ["convolution", "linear"];

/** Layers of one class, each reading only the one before. */
interface LayerRow {
  /** Their class. */
  layer: string;
  sizes: string;
}

/** A layer with the parts of its summary `3 → 64, 7×7, s2`. */
interface Sized {
  node: ModuleNode;
  from: string;
  to: string;
  /** `7×7 s2`. */
  window: string;
}

/** Parallel layers with equal sources and sizes, such as a gate and the layer that it gates. */
interface Step {
  layers: number[];
  sources: string;
}

/** Undefined unless all layers with weights in a container are of one kind and each reads the one before. */
export function layerRow(index: GraphIndex, node: ModuleNode): LayerRow | undefined {
  const layers = layersIn(index, node, MOST_LAYERS + 1);
  const sized = layers.flatMap((layer) => sizedOf(index, layer));
  const [first] = sized;
  if (first === undefined || sized.length < layers.length || layers.length > MOST_LAYERS) return undefined;
  if (layers.some((layer) => layer.class !== first.node.class)) return undefined;
  // a repeated call is not another layer
  if (new Set(layers.map(({ path }) => path)).size < layers.length) return undefined;
  const steps = stepsOf(index, node, sized)?.map(({ layers: [at = 0] }) => sized[at] ?? first);
  if (steps === undefined || steps.length < 2) return undefined;
  if (steps.some(({ from }, i) => i > 0 && from !== steps[i - 1]?.to)) return undefined;
  const [layer, sizes] = [shortName(first.node.class), textOf(first, steps)];
  // if all layers are equally wide, the number of weights says more
  if (!isPlain(node) && steps.every(({ from, to }) => from === to)) return undefined;
  const name = isPlain(node) ? layer : shortName(node.class);
  return name.length + sizes.length < MOST_LETTERS ? { layer, sizes } : undefined;
}

function sizedOf(index: GraphIndex, node: ModuleNode): Sized[] {
  if (!LISTED.includes(familyOf(index, node))) return [];
  const [, from, to, window = ""] = /^(\S+) → ([^\s,]+)(?:, (.+))?$/.exec(layerSizes(index, node)) ?? [];
  return from === undefined || to === undefined ? [] : [{ node, from, to, window: window.replaceAll(",", "") }];
}

function textOf(first: Sized, steps: Sized[]): string {
  const widths = [first.from, ...steps.map(({ to }) => to)].join(" → ");
  const windows = steps.map(({ window }) => window);
  const window = new Set(windows).size === 1 ? first.window : windows.join(" + ");
  return window === "" ? widths : `${widths}, ${window}`;
}

/** Undefined if a layer reads anything but the layers before it, or the first anything but the container's input. */
function stepsOf(index: GraphIndex, container: ModuleNode, layers: Sized[]): Step[] | undefined {
  const readers = new Readers(index, container, layers);
  const steps: Step[] = [];
  if (readers.hasUncalled()) return undefined;
  for (const [at, layer] of layers.entries()) {
    const sources = readers.sourcesOf(at).join();
    const step = steps[steps.length - 1];
    const other = layers[step?.layers[0] ?? at] ?? layer;
    const isBeside = step?.sources === sources && layer.from === other.from && layer.to === other.to;
    if (step !== undefined && isBeside && layer.window === other.window) step.layers.push(at);
    else if (step === undefined ? readers.isFirst(at) : sources === step.layers.join())
      steps.push({ layers: [at], sources });
    else return undefined;
  }
  // parallel layers at the end may not be joined
  return steps.at(-1)?.layers.length === 1 ? steps : undefined;
}

/** Finds which layers of a container read which. */
class Readers {
  /** Node → the layer that contains it; undefined for nodes between layers. */
  readonly #inside = new Map<string, number | undefined>();

  constructor(
    readonly index: GraphIndex,
    container: ModuleNode,
    readonly layers: Sized[],
  ) {
    this.#add(container.id, undefined);
  }

  #add(id: string, layer: number | undefined): void {
    const at = this.layers.findIndex(({ node }) => node.id === id);
    const own = at < 0 ? layer : at;
    this.#inside.set(id, own);
    for (const child of childrenOf(this.index, id)) this.#add(child, own);
  }

  /** Whether a layer reads only the container's input. */
  isFirst(layer: number): boolean {
    return this.sourcesOf(layer).every((source) => typeof source === "string");
  }

  /** Whether ops between layers use weights of layers that aren't called. */
  hasUncalled(): boolean {
    return [...this.#inside].some(([id, at]) => at === undefined && usesOthers(this.index, id));
  }

  /** The layers and outside nodes that a layer reads, apart from weights. */
  sourcesOf(layer: number): (number | string)[] {
    const found = new Set<number | string>();
    const seen = new Set([...this.#inside].flatMap(([id, at]) => (at === layer ? [id] : [])));
    // iterating a set includes elements added meanwhile
    for (const id of seen) {
      for (const from of producersOf(this.index).get(id) ?? []) {
        const at = this.#inside.has(from) ? this.#inside.get(from) : from;
        if (at === layer || isFixed(this.index.nodes.get(from)?.kind)) continue;
        if (at === undefined) seen.add(from);
        else found.add(at);
      }
    }
    return [...found].sort();
  }
}

/** Whether an op uses weights of a module other than the one around it. */
function usesOthers(index: GraphIndex, id: string): boolean {
  const node = index.nodes.get(id);
  if (node?.kind !== "op") return false;
  const around = ancestors(index, id)
    .map((one) => index.nodes.get(one))
    .find((one) => one?.kind === "module");
  const path = around?.kind === "module" ? around.path : "";
  return Object.values(node.weights ?? {}).some(
    (weight) => (index.graph.parameters.get(weight)?.owner ?? path) !== path,
  );
}

/** Node → the nodes whose tensors it reads. */
const producersOf = memoByObject((index: GraphIndex) => {
  const producers = new Map<string, string[]>();
  for (const [from, edges] of index.graph.adjacency) for (const { to } of edges) append(producers, to, from);
  return producers;
});
