/** Facts about the attributes of modules: sizes and other arguments. */
import { isWeight, type Json } from "../../graph/graph.js";
import { familyMatch } from "../../view/labels/family_words.js";
import { type DiffItem, isInside, own } from "../items.js";
import { isSameValue } from "../vocabulary.js";
import type { Facts } from "./facts.js";

const SIZE = /^[01]$|features|channels|embed_dim|hidden_size|input_size|normalized_shape|^(dim|nf|nx)$/;
const INPUT_SIDE = /^(in_features|in_channels|num_features|normalized_shape|input_size|num_channels|nx)$/;

export function sizesAndArguments(facts: Facts, x: DiffItem, y: DiffItem): void {
  for (const name of new Set([...Object.keys(x.attributes), ...Object.keys(y.attributes)])) {
    const values = [given(x, name), given(y, name)] as const;
    if (!isSameValue(...values) && isComparable(x, y, name) && !isPartOfAffine(x, y, name))
      argument(facts, x, y, name, values);
  }
}

/** Whether the bias of a normalisation changed because its weights did. */
function isPartOfAffine(x: DiffItem, y: DiffItem, name: string): boolean {
  return name === "bias" && given(x, "elementwise_affine") !== given(y, "elementwise_affine");
}

/** In another class, positional arguments mean something else, and defaults differ. */
function isComparable(x: DiffItem, y: DiffItem, name: string): boolean {
  if (x.label === y.label) return true;
  const isOwn = /^\d+$|^(bias|eps|inplace|affine|elementwise_affine|momentum|track_running_stats)$/.test(name);
  return !isOwn && Object.hasOwn(x.attributes, name) && Object.hasOwn(y.attributes, name);
}

function argument(facts: Facts, x: DiffItem, y: DiffItem, name: string, values: readonly [Json, Json]): void {
  const [before, after] = [sizeOf(values[0]), sizeOf(values[1])];
  if (follows(x, y, name, [before, after])) return;
  const isSize = before !== null && after !== null && SIZE.test(name);
  if (isSize) facts.add("size", /^\d+$/.test(name) ? y.label : `${name} of ${y.label}`, [before, after], [x, y]);
  else facts.add("argument", `${y.label} ${name}`, values, [x, y]);
}

/** Values that `extra_repr` omits as defaults are found at the op inside. */
function given({ attributes, children }: DiffItem, name: string): Json {
  if (Object.hasOwn(attributes, name)) return attributes[name] ?? null;
  const [only, ...others] = children;
  return only !== undefined && others.length === 0 ? own(only.arguments, name) : null;
}

function sizeOf(value: Json): number | null {
  const single = Array.isArray(value) && value.length === 1 ? (value[0] ?? null) : value;
  return typeof single === "number" && Number.isInteger(single) ? single : null;
}

/** Whether a size comes from the input, so that another module determined it. */
function follows(
  x: DiffItem,
  y: DiffItem,
  name: string,
  [before, after]: readonly [number | null, number | null],
): boolean {
  if (before === null || after === null) return false;
  const { family } = familyMatch(y.label);
  const isFirst = name === "0" && (family === "convolution" || family === "normalisation");
  const isInput = INPUT_SIDE.test(name) || isFirst || (name === "1" && y.label === "GroupNorm");
  // the outputs and groups of a depthwise convolution follow from its inputs
  const isDepthwise = name === "groups" && sizeOf(x.attributes["0"] ?? null) === before;
  return (isInput || isDepthwise) && entering(x).has(before) && entering(y).has(after);
}

/** All sizes of the tensors that enter a module. */
export function entering(item: DiffItem): Set<number | string> {
  const found = new Set<number | string>();
  for (const step of [item, ...item.children]) {
    for (const { from, output } of step.sources) {
      if (isInside(from, item) || isWeight(from.kind)) continue;
      for (const size of from.shapes[output] ?? []) found.add(size);
    }
  }
  return found;
}
