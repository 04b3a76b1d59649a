/** The colour scales of a picture: by an amount, or by class. */

import { CLASS_HUES } from "../draw/palette.js";
import type { GraphIndex } from "../graph/graph.js";
import { shortName } from "../graph/names.js";
import { formatCount } from "../view/labels.js";
import { formatBytes, typeOf } from "./naming.js";

export type Measure = "parameters" | "flops" | "memory";

/** More shades of one hue would look alike. highlight.css has a colour for each. */
const STEPS = 5;

/** A step of the scale, numbered from 1, and its meaning. */
export interface Entry {
  step: number;
  text: string;
}

export interface Scale {
  entries: Entry[];
  /** The step of a node; 0 where it has none. */
  stepOf(id: string): number;
}

/** How much of something a node has; undefined where that is not known. */
function amount(index: GraphIndex, id: string, measure: Measure): number | undefined {
  const node = index.nodes.get(id);
  if (node === undefined) return undefined;
  if (measure === "parameters") return node.kind === "module" ? node.parameters.total : weightsOf(index, id);
  const value = (node as { flops?: number | null; activation_bytes?: number | null })[
    measure === "flops" ? "flops" : "activation_bytes"
  ];
  return value ?? undefined;
}

function weightsOf(index: GraphIndex, id: string): number | undefined {
  const node = index.nodes.get(id);
  if (node?.kind === "parameter") return elements(index, node.name);
  if (node?.kind !== "op") return undefined;
  return Object.values(node.weights ?? {}).reduce((sum, name) => sum + elements(index, name), 0);
}

function elements(index: GraphIndex, name: string): number {
  return index.graph.parameters.get(name)?.shape?.reduce((product, size) => product * size, 1) ?? 0;
}

/** Steps of equal ratio between the least and the most of all nodes that have any. */
export function measureScale(index: GraphIndex, measure: Measure): Scale {
  const values = index.graph.nodes.map((node) => amount(index, node.id, measure) ?? 0).filter((value) => value > 0);
  const least = values.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
  const most = values.reduce((a, b) => Math.max(a, b), 0);
  const ratio = Math.log(most / least) || 1;
  const stepOf = (value: number) =>
    value > 0 ? Math.min(STEPS, 1 + Math.floor((STEPS * Math.log(value / least)) / ratio)) : 0;
  const format = measure === "memory" ? formatBytes : formatCount;
  const bounds = values.length === 0 ? [] : [...Array(STEPS).keys()].map((i) => least * Math.exp((ratio * i) / STEPS));
  return {
    entries: bounds.map((bound, i) => ({
      step: i + 1,
      text: i === 0 ? format(Math.round(bound)) : `≥ ${format(Math.round(bound))}`,
    })),
    stepOf: (id) => stepOf(amount(index, id, measure) ?? 0),
  };
}

/** The most frequent classes and functions among these nodes, each with a colour. */
export function classScale(index: GraphIndex, ids: Iterable<string>): Scale {
  const counts = new Map<string, number>();
  const nameOf = (id: string) => {
    const node = index.nodes.get(id);
    if (node?.kind === "function") return node.name;
    return node?.kind === "module" || node?.kind === "op" ? shortName(typeOf(node)) : "";
  };
  for (const id of ids) {
    const name = nameOf(id);
    if (name !== "") counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const named = [...counts].sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1)).slice(0, CLASS_HUES.length);
  const steps = new Map(named.map(([name], i) => [name, i + 1]));
  return {
    entries: named.map(([text], i) => ({ step: i + 1, text })),
    stepOf: (id) => steps.get(nameOf(id)) ?? 0,
  };
}
