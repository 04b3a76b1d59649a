/** What is known of a graph's sizes: how each may change, and why some have no name. */
import type { NamedSizes, Size } from "../../generated/format.js";
import { type GraphIndex, ROOT } from "../graph/graph.js";
import { words } from "../shared/explore_strings.js";
import { fill, strings } from "../shared/strings.js";
import { countedPart, letterPart, limitsOf } from "../view/labels/size_line.js";
import { sizeText } from "../view/labels/size_words.js";

/** Of the whole model, all; of a node, how often it runs, and why sizes of its tensors have no name. */
export function sizeFacts(index: GraphIndex, id: string): string[] {
  const { sizes } = index.graph;
  if (sizes == null) return [];
  if (id === ROOT) return allFacts(index, sizes);
  const node = index.nodes.get(id);
  const tensors = node === undefined || node.kind === "output" ? [] : Object.values(node.outputs ?? {});
  const times = sizes.times?.[id];
  const why = sizes.unknown?.[id];
  return [
    ...(times ? [fill(words.runsTimes, sizeText(sizes, times))] : []),
    ...tensors.flatMap((tensor) => reasonsOf(index, tensor)),
    ...(why ? [fill(strings.unnamed, why)] : []),
  ];
}

/** Why sizes of a tensor are numbers. */
export function reasonsOf({ graph: { sizes } }: GraphIndex, tensor: string): string[] {
  if (sizes == null) return [];
  const fixed = Object.entries(sizes.sizes).filter(([, { places = [] }]) => places.some(([at]) => at === tensor));
  const why = sizes.unknown?.[tensor];
  return [...fixed.flatMap(([name, size]) => fixedFact(name, size)), ...(why ? [fill(strings.unnamed, why)] : [])];
}

function fixedFact(name: string, { size, fixed }: Size): string[] {
  return fixed ? [fill(strings.fixedSize, name, size, fixed)] : [];
}

function allFacts(index: GraphIndex, sizes: NamedSizes): string[] {
  const unknown = Object.keys(sizes.unknown ?? {}).length;
  const checked = (sizes.checked ?? []).map((pass) => Object.entries(pass).map((pair) => pair.join(" = ")));
  return [
    ...Object.entries(sizes.sizes).flatMap(([name, size]) => sizeFact(index, sizes, name, size)),
    ...Object.keys(sizes.letters ?? {}).map((letter) => letterPart(sizes, letter)),
    ...(unknown > 0 ? [fill(words.unnamedCount, unknown)] : []),
    ...(checked.length > 0 ? [fill(words.checkedAt, checked.map((pass) => pass.join(", ")).join("; "))] : []),
    ...(sizes.notes ?? []),
  ];
}

function sizeFact(index: GraphIndex, sizes: NamedSizes, name: string, size: Size): string[] {
  if (size.fixed) return fixedFact(name, size);
  if (size.counted) return [countedPart(index, sizes, name, size)];
  const { meaning = "", arguments: names = [], at_least: least = 1, at_most: most, limit = "" } = size;
  const message = most != null && /\s/.test(limit) ? [limit] : [];
  const from = least > 1 && least < size.size ? [fill(words.atLeast, least)] : [];
  const parts = [`${name} = ${size.size}`, meaning, ...names, ...limitsOf(size), ...message, ...from];
  return [parts.filter((part) => part !== "").join(", ")];
}
