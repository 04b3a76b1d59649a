/** The details of a node, as text for the details panel. */

import { signBefore } from "../graph/bounds.js";
import {
  ancestors,
  contentsOf,
  type GraphIndex,
  type GraphNode,
  type Json,
  type ModuleNode,
  type ParameterCount,
  ROOT,
} from "../graph/graph.js";
import { shortName } from "../graph/names.js";
import { exact, formatBytes, formatFlops, formatTime, ofWhole } from "../shared/amounts.js";
import { words } from "../shared/explore_strings.js";
import { fill } from "../shared/strings.js";
import { argumentsOf as namedArguments } from "../view/labels/size_words.js";
import { type Detail, pathOf, sizesInWords, tensorText, typeOf } from "./naming.js";
import { numbersInside, writtenNumber } from "./numbers.js";
import { sampleFacts } from "./sample_facts.js";
import { sizeFacts } from "./size_facts.js";
import { wayFacts } from "./way_facts.js";

export interface NodeDetails {
  /** A module's dotted path, a weight's name, the model's name. */
  title: string;
  /** The class of a module or the model, the function of an op, else the kind of node; in full, and the last part. */
  type: string;
  shortType: string;
  /** File and line, as `src/pkg/model.py:12`. */
  source: string | undefined;
  /** How many it represents. */
  times: number;
  facts: Detail[];
}

const OPTION = /^(model|args|kwargs|config|inputs|inputs_from)(?:\.(.+)|\[(\d+)\])?$/;

/** The details of a node, or of the whole model if no node has this id. */
export function describe(index: GraphIndex, id: string): NodeDetails {
  const node = index.nodes.get(id);
  const { model } = index.graph;
  const type = node === undefined ? model.class : typeOf(node);
  const known = node ?? model;
  return {
    title: node === undefined ? model.name : pathOf(node),
    type,
    shortType: node?.kind === "bundle" ? type : shortName(type),
    source: ("source" in known && known.source) || undefined,
    times: 1,
    facts: factsOf(index, id),
  };
}

/** The facts about a node, or about the whole model if no node has this id. */
export function factsOf(index: GraphIndex, id: string): Detail[] {
  const node = index.nodes.get(id);
  const { model } = index.graph;
  const known = node ?? model;
  const sign = (measure: "flops" | "memory") => signBefore(index, node?.id ?? ROOT, measure);
  const facts: Detail[] = [
    { label: "author", lines: annotationsOf(index, id) },
    { label: "inputs", lines: inputsOf(index, id, node) },
    { label: "outputs", lines: outputsOf(index, node) },
    { label: "arguments", lines: argumentsOf(index, node) },
    { label: "sizes", lines: sizeFacts(index, node?.id ?? ROOT) },
    { label: "calledAt", lines: node?.kind === "function" && node.call_site ? [node.call_site] : [] },
    { label: "weights", lines: weightsOf(index, node) },
    { label: "parameters", lines: parametersOf(index, node) },
    { label: "costsAt", lines: isCosted(known) ? [sizesInWords(index)].filter(Boolean) : [] },
    { label: "flops", lines: withShare(known, model, "flops", (value) => sign("flops") + formatFlops(value)) },
    {
      label: "memory",
      lines: withShare(known, model, "activation_bytes", (value) => sign("memory") + formatBytes(value)),
    },
    { label: "time", lines: withShare(known, model, "time_ns", formatTime) },
    ...sampleFacts(index, node, outputTensors(index, node)),
    { label: "given", lines: numbersFacts(index, id) },
    { label: "tied", lines: tiedWeightsOf(index, node) },
    ...wayFacts(index, node),
    { label: "assumptions", lines: assumptionsOf(index, id) },
    { label: "asOptions", lines: node === undefined ? optionsOf(index) : [] },
    { label: "error", lines: errorOf(index, id) },
  ];
  return facts.filter(({ lines }) => lines.length > 0);
}

/** The author's numbers. */
function numbersFacts(index: GraphIndex, id: string): string[] {
  const inside = numbersInside(index);
  return (index.graph.numbers ?? []).flatMap((numbers, i) => {
    const value = inside[i]?.get(id);
    if (value === undefined) return [];
    const written = fill(words.inEach, numbers.name, writtenNumber(numbers, value));
    return Object.hasOwn(numbers.values, id) ? written : fill(words.ofInside, written);
  });
}

/** How the picture differs from the trace, here and directly inside. */
function annotationsOf(index: GraphIndex, id: string): string[] {
  const { annotations } = index.graph;
  if (annotations === undefined) return [];
  const own = annotations.get(id);
  const hidden = contentsOf(index, id).children.filter((child) => annotations.get(child)?.hide);
  return [
    ...(own?.rename != null ? [fill(words.shownAs, own.rename)] : []),
    ...(own?.hide ? [words.hiddenNode] : []),
    ...(isGroup(index.nodes.get(id)) ? [words.authorsGroup] : []),
    ...(hidden.length > 0 ? [fill(words.leftOut, hidden.join(", "))] : []),
  ];
}

function isGroup(node: GraphNode | undefined): boolean {
  return node?.kind === "function" && node.group === true;
}

// -- rows -------------------------------------------------------------------------------------------------------------

function inputsOf(index: GraphIndex, id: string, node: GraphNode | undefined): string[] {
  if (node !== undefined && node.kind !== "module" && node.kind !== "function") return arrivingAt(index, id);
  const named = Object.entries((node ?? index.graph.model).inputs ?? {});
  // a `record_function` has no arguments
  if (named.length === 0 && node?.kind === "function") {
    return contentsOf(index, id).inputs.map((tensor) => tensorText(index, tensor));
  }
  return named.map(([name, tensor]) => tensorText(index, tensor, name));
}

/** The tensors that an op or output reads, and their sources. */
function arrivingAt(index: GraphIndex, id: string): string[] {
  const lines: string[] = [];
  for (const [source, edges] of index.graph.adjacency) {
    const from = index.nodes.get(source);
    for (const edge of edges) {
      if (edge.to !== id) continue;
      const text = tensorText(index, edge.tensor, edge.argument ?? "");
      lines.push(from === undefined ? text : `${text} ← ${source}`);
    }
  }
  return lines;
}

function outputsOf(index: GraphIndex, node: GraphNode | undefined): string[] {
  const named =
    node === undefined || node.kind === "module" ? Object.keys((node ?? index.graph.model).outputs ?? {}) : [];
  return outputTensors(index, node).map((tensor, i) => tensorText(index, tensor, named[i]));
}

/** The tensors that a node or the model returns. */
function outputTensors(index: GraphIndex, node: GraphNode | undefined): readonly string[] {
  if (node === undefined || node.kind === "module") return Object.values((node ?? index.graph.model).outputs ?? {});
  if (node.kind === "function") return contentsOf(index, node.id).outputs;
  return "outputs" in node ? (node.outputs ?? []) : [];
}

function argumentsOf(index: GraphIndex, node: GraphNode | undefined): string[] {
  const values = (node?.kind === "module" ? node.attributes : node?.kind === "op" ? node.arguments : undefined) ?? {};
  const named = node?.kind === "op" ? namedArguments(index, node) : values;
  return Object.entries(values).map(([name, value]) => {
    const [text, numbers] = [named[name] ?? value, value].map(valueText);
    // `[B,T,768]` without the quotes of its names
    const shown = text === numbers ? numbers : `${text?.replaceAll('"', "")} = ${numbers}`;
    return /^\d+$/.test(name) ? `${shown}` : `${name}=${shown}`;
  });
}

function valueText(value: Json): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function weightsOf(index: GraphIndex, node: GraphNode | undefined): string[] {
  const names =
    node?.kind === "module"
      ? [...index.graph.parameters].filter(([, { owner }]) => owner === node.path).map(([name]) => name)
      : node?.kind === "op"
        ? Object.values(node.weights ?? {})
        : node?.kind === "parameter" || node?.kind === "buffer"
          ? [node.name]
          : [];
  return names.map((name) => {
    // the module or op names the rest of the path
    const local = node?.kind === "module" || node?.kind === "op" ? name.slice(name.lastIndexOf(".") + 1) : name;
    const spec = index.graph.parameters.get(name);
    const frozen = spec?.trainable === false && spec.kind !== "buffer" ? ` ${words.frozen}` : "";
    return `${local}: ${spec?.shape?.join("×") ?? "?"} ${spec?.dtype ?? ""}${frozen}`;
  });
}

function parametersOf(index: GraphIndex, node: GraphNode | undefined): string[] {
  const whole = index.graph.model.parameters.total;
  const count: ParameterCount | undefined =
    node === undefined ? index.graph.model.parameters : moduleOf(node)?.parameters;
  if (count === undefined || count.total === 0) return [];
  const lines = [exact(count.total) + (node === undefined ? "" : ofWhole(count.total, whole))];
  if (count.own > 0 && count.own !== count.total) lines.push(fill(words.own, exact(count.own)));
  if (count.trainable !== count.total) lines.push(fill(words.trainable, exact(count.trainable)));
  return lines;
}

function moduleOf(node: GraphNode): ModuleNode | undefined {
  return node.kind === "module" ? node : undefined;
}

type Measured = { flops?: number | null; activation_bytes?: number | null; time_ns?: number | null };

function withShare(node: object, whole: Measured, what: keyof Measured, format: (value: number) => string): string[] {
  const value = (node as Measured)[what];
  if (value == null || value === 0) return [];
  return [format(value) + (node === whole ? "" : ofWhole(value, whole[what]))];
}

function isCosted(node: object): boolean {
  const { flops, activation_bytes: bytes } = node as Measured;
  return Boolean(flops || bytes);
}

function tiedWeightsOf(index: GraphIndex, node: GraphNode | undefined): string[] {
  const specs = [...index.graph.parameters].filter(
    ([name, spec]) =>
      (spec.tied ?? []).length > 0 &&
      (node?.kind === "module" ? spec.owner === node.path : node !== undefined && "name" in node && node.name === name),
  );
  return specs.map(([name, spec]) => `${name} = ${(spec.tied ?? []).join(" = ")}`);
}

function assumptionsOf(index: GraphIndex, id: string): string[] {
  const { assumptions = [], status } = index.graph;
  const node = index.nodes.get(id);
  const about = node === undefined ? null : id; // guesses without a node are about the whole model
  const guesses = (status.guesses ?? []).filter((guess) => guess.node === about);
  const guessed = guesses.map(({ value, reason }) => `${valueText(value as Json)}: ${reason}`);
  // assumptions concern the call of the model: the whole, and its inputs
  const assumed = node === undefined || node.kind === "input" ? assumptions : [];
  const said = assumed.map(({ subject, value, reason }) =>
    subject === "rule" ? reason : `${subject} = ${value}: ${reason}`,
  );
  return [...said, ...guessed];
}

/** The assumptions as an author would write them: `kwargs: {depth: 2}`. */
function optionsOf(index: GraphIndex): string[] {
  const found = new Map<string, Entry[]>();
  for (const { subject, value } of index.graph.assumptions ?? []) {
    const [, option, name, position] = OPTION.exec(subject) ?? [];
    if (option !== undefined) found.set(option, [...(found.get(option) ?? []), { name, position, value }]);
  }
  return [...found].map(([option, entries]) => `${option}: ${asYaml(entries)}`);
}

interface Entry {
  name: string | undefined;
  position: string | undefined;
  value: string;
}

/** A map; a list if all entries have positions; the value itself if it has neither name nor position. */
function asYaml(entries: Entry[]): string {
  const [first] = entries;
  if (first !== undefined && first.name === undefined && first.position === undefined) return first.value;
  if (entries.every(({ name }) => name === undefined)) return `[${entries.map(({ value }) => value).join(", ")}]`;
  const pairs = entries.map(
    ({ name, position = "", value }) => `${name === undefined ? position : yamlKey(name)}: ${value}`,
  );
  return `{${pairs.join(", ")}}`;
}

/** A name, quoted if YAML would read it as a value. */
function yamlKey(name: string): string {
  return /^(y|n|yes|no|on|off|true|false|null)$|[^\w.-]/i.test(name) ? JSON.stringify(name) : name;
}

function errorOf(index: GraphIndex, id: string): string[] {
  const { error } = index.graph.status;
  if (!error) return [];
  const at = error.node;
  if (index.nodes.has(id) && at !== id && !(at && index.nodes.has(at) && ancestors(index, at).includes(id))) return [];
  return [`${shortName(error.type)}: ${error.message}`];
}
