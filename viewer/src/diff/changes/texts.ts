/** Describes a change in words, from its fields alone. */

import type { Json } from "../../graph/graph.js";
import { formatCount } from "../../shared/amounts.js";
import type { Change } from "./facts.js";

const MOST_PATTERNS = 3;
const MOST_VALUES = 6;

type Wording = (change: Change) => string;

const ARROW: Wording = ({ subject, before, after }) =>
  `${subject}${subject === "" ? "" : " "}${value(before)} → ${value(after)}`;

const WORDS: Readonly<Record<string, Wording>> = {
  architecture: ({ before, after }) => `another architecture: ${before} → ${after}`,
  "case-added": ({ subject }) => `case ${subject} added`,
  "case-removed": ({ subject }) => `case ${subject} removed`,
  "input-added": ({ subject }) => `input ${subject} added`,
  "input-removed": ({ subject }) => `input ${subject} removed`,
  "input-renamed": (change) => `input renamed: ${ARROW(change)}`,
  "input-dtype": (change) => `dtype of input ${ARROW(change)}`,
  "example-input": (change) => `example input ${ARROW(change)}`,
  "output-added": ({ subject }) => `output ${subject} added`,
  "output-removed": ({ subject }) => `output ${subject} removed`,
  "output-renamed": (change) => `output renamed: ${ARROW(change)}`,
  "output-shape": (change) => `shape of output ${ARROW(change)}`,
  "output-rewired": ({ subject, before, after }) =>
    before === null ? `output ${subject} is another value` : `output ${before} is now output ${after}`,
  "output-dtype": (change) => `dtype of output ${ARROW(change)}`,
  repeats: ({ subject, before, after, where }) => `${where.join(", ")}: ${before} → ${after} × ${subject}`,
  calls: ({ subject, before, after }) => `calls of ${subject}: ${before} → ${after}`,
  size: ({ subject, before, after }) => `size ${pairs(before, after)} (${subject})`,
  replaced: ({ before, after }) => `${before} replaced by ${after}`,
  added: ({ subject, after }) => `${subject} added as ${after}`,
  removed: ({ subject, before }) => `${subject} removed (${before})`,
  merged: ({ subject, before, after }) => `${subject}: ${value(before)} merged into ${after}`,
  split: ({ subject, before, after }) => `${subject}: ${before} split into ${value(after)}`,
  wrapped: ({ subject }) => `wrapped in a new ${subject}`,
  unwrapped: ({ subject }) => `taken out of ${subject}, which is gone`,
  moved: (change) => `moved: ${ARROW(change)}`,
  reordered: ({ subject, before, after }) => `order in ${subject}: ${value(before)} → ${value(after)}`,
  "residual-added": () => "residual connection added",
  "residual-removed": () => "residual connection removed",
  "op-argument": ARROW,
  argument: ARROW,
  "op-replaced": ({ before, after }) => `op ${before} replaced by ${after}`,
  "op-added": ({ subject }) => `op ${subject} added`,
  "op-removed": ({ subject }) => `op ${subject} removed`,
  "op-order": ({ subject }) => `order of ops differs in ${subject}`,
  rewritten: ({ subject, before, after }) =>
    `${subject} computes something else: −${counted(before)} +${counted(after)}`,
  rewired: ({ subject }) => `${subject} reads other values`,
  shared: ({ subject }) => `${subject} is now one module called several times`,
  unshared: ({ subject }) => `${subject} is now a module of its own for each call`,
  tied: ({ subject }) => `weights tied: ${subject}`,
  untied: ({ subject }) => `weights no longer tied: ${subject}`,
  dtype: ({ before, after }) => `dtype of weights ${before} → ${after}`,
  frozen: () => "weights frozen",
  unfrozen: () => "weights no longer frozen",
  "weight-added": ({ subject }) => `${subject} added`,
  "weight-removed": ({ subject }) => `${subject} removed`,
  "weight-kind": ARROW,
  "weight-shape": (change) => `shape of ${ARROW(change)}`,
  renamed: (change) => `renamed: ${ARROW(change)}`,
  class: (change) => `class renamed: ${ARROW(change)}`,
  "op-to-module": ({ before, after }) => `function ${before} is now the module ${after}`,
  "module-to-op": ({ before, after }) => `module ${before} is now the function ${after}`,
  rearranged: ({ subject }) => `only views differ in ${subject}`,
  growth: ({ subject, before, after }) => `${subject} ${degrees(before)} → ${degrees(after)}`,
  "named-shape": (change) => `shape of ${ARROW(change)}`,
  "inner-shape": ({ subject, before, after }) => `sizes inside: ${subject} gives ${value(before)} → ${value(after)}`,
  other: () => "tensors or arguments differ in a way that has no name",
};

/** A change without its places, for the box that it concerns. */
export function wordsOf(change: Change): string {
  const { id, subject, before, after } = change;
  if (id === "size") return pairs(before, after);
  if (id === "merged" || id === "split") return `${value(before)} → ${value(after)}`;
  const name = id === "argument" || id === "op-argument" ? `${lastWord(subject)} ` : "";
  return name !== "" || /replaced$/.test(id) ? `${name}${value(before)} → ${value(after)}` : textWithoutPlaces(change);
}

const DEGREES = ["independent of", "linear in", "quadratic in", "cubic in"];

/** `linear in T, quadratic in N`. */
function degrees(given: Json): string {
  const all = Object.entries(given ?? {}).map(([name, n]) => `${DEGREES[Number(n)] ?? `of degree ${n} in`} ${name}`);
  return all.join(", ");
}

function lastWord(text: string): string {
  return text.slice(text.lastIndexOf(" ") + 1);
}

function textWithoutPlaces(change: Change): string {
  return (WORDS[change.id] ?? ARROW)(change);
}

export function textOf(change: Change): string {
  const text = textWithoutPlaces(change);
  const times = change.count > 1 && change.id !== "repeats" ? ` ×${change.count}` : "";
  const where = whereOf(change);
  const parameters = change.parameters === 0 ? "" : ` (${signed(change.parameters)} parameters)`;
  return `${text}${times}${where === "" ? "" : ` at ${where}`}${parameters}`;
}

function whereOf({ id, where, after }: Change): string {
  if (id === "renamed" && where.length === 1 && where[0] === after) return "";
  if (id === "architecture" || id === "repeats" || id === "tied" || id === "untied" || /put|^case-/.test(id)) return "";
  const more = where.length > MOST_PATTERNS ? ` and ${where.length - MOST_PATTERNS} more` : "";
  return where.slice(0, MOST_PATTERNS).join(", ") + more;
}

function value(given: Json): string {
  if (given === null) return "default";
  if (Array.isArray(given))
    return given.every((one) => typeof one === "number") ? given.join("×") : given.map(value).join(", ");
  return typeof given === "object" ? JSON.stringify(given) : String(given);
}

/** `768 → 1024, 3072 → 4096`. */
function pairs(before: Json, after: Json): string {
  const [one, other] = [[before].flat(), [after].flat()];
  const all = one.map((size, i) => `${size} → ${other[i]}`);
  return all.length > MOST_VALUES ? `${all.slice(0, MOST_VALUES).join(", ")}, …` : all.join(", ");
}

function counted(labels: Json): string {
  const found = new Map<string, number>();
  for (const label of [labels].flat()) found.set(String(label), (found.get(String(label)) ?? 0) + 1);
  const all = [...found].map(([label, count]) => (count > 1 ? `${label}×${count}` : label));
  return all.length === 0 ? "0" : `(${all.slice(0, MOST_VALUES).join(", ")}${all.length > MOST_VALUES ? ", …" : ""})`;
}

function signed(count: number): string {
  return `${count < 0 ? "−" : "+"}${formatCount(Math.abs(count))}`;
}
