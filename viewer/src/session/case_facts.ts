/** The facts about a node in each case, where cases differ. */
import { append } from "../graph/append.js";
import { casesIn, shownCases } from "../graph/cases.js";
import type { GraphIndex } from "../graph/graph.js";
import { words } from "../shared/explore_strings.js";
import { fill } from "../shared/strings.js";
import type { Detail } from "./naming.js";
import { factsOf } from "./node_details.js";

/** Facts of tensors: sizes that differ stand side by side. */
const SIDE_BY_SIDE = new Set<Detail["label"]>(["inputs", "outputs"]);
/** Facts about all passes together. */
const OVER_ALL = new Set<Detail["label"]>(["ways", "uncalled", "decides"]);

/** The graph of the case at a position: the core makes it. */
type InCase = (index: GraphIndex, position: number) => GraphIndex;

/** What one case says. */
interface Told {
  name: string;
  facts: readonly Detail[];
}

/** @param chosen position of the only case to tell of; absent for all */
export function factsByCase(index: GraphIndex, id: string, inCase: InCase, chosen?: number): Detail[] {
  const facts = factsOf(index, id);
  const shown = shownCases(index.graph);
  const ran = shown.filter(({ position }) => casesIn(index, id).includes(position));
  const [own] = ran.filter(({ position }) => position === chosen);
  if (shown.length < 2 || ran.length === 0) return [...casesFact(index, id), ...facts];
  const told = (own ? [own] : ran).map(({ name, position }) => ({ name, facts: factsOf(inCase(index, position), id) }));
  const labels = [...new Set([facts, ...told.map((one) => one.facts)].flat().map(({ label }) => label))];
  const together = labels.flatMap((label): Detail[] => {
    const whole = facts.find((fact) => fact.label === label);
    if (own !== undefined) return told[0]?.facts.filter((fact) => fact.label === label) ?? [];
    if (whole !== undefined && OVER_ALL.has(label)) return [whole];
    return [{ label, lines: SIDE_BY_SIDE.has(label) ? besides(told, label, whole) : inEach(told, label) }];
  });
  return [...casesFact(index, id), ...together.filter(({ lines }) => lines.length > 0)];
}

/** The lines of each case, once if they are equal. */
function inEach(told: readonly Told[], label: Detail["label"]): string[] {
  const own = told.map(({ facts }) => linesOf(facts, label));
  const [first = []] = own;
  if (own.every((lines) => lines.join("\n") === first.join("\n"))) return first;
  return told.flatMap(({ name }, i) => (own[i] ?? []).map((line) => fill(words.inEach, name, line)));
}

/** One line for each tensor, with the cases that have it unless all have. */
function besides(told: readonly Told[], label: Detail["label"], whole: Detail | undefined): string[] {
  const all = new Map((whole?.lines ?? []).map((line) => [nameIn(line), line]));
  const having = new Map<string, string[]>();
  for (const { name, facts } of told) {
    for (const line of linesOf(facts, label)) {
      if (!all.has(nameIn(line))) all.set(nameIn(line), line);
      append(having, nameIn(line), name);
    }
  }
  if (all.has("") && all.size > 1) return inEach(told, label);
  return [...all].map(([name, line]) => {
    const names = having.get(name) ?? [];
    return names.length === told.length ? line : fill(words.inEach, names.join(", "), line);
  });
}

/** The name in `name: 1×16 float32`; empty without one. */
function nameIn(line: string): string {
  return /^(.*?): /.exec(line)?.[1] ?? "";
}

/** Which cases run a node, unless all do. */
function casesFact(index: GraphIndex, id: string): Detail[] {
  const { cases = [] } = index.graph;
  const node = index.nodes.get(id);
  if (cases.length === 0 || node === undefined) return [];
  const [ran, shown] = [casesIn(index, id), shownCases(index.graph)];
  if (ran.length === shown.length) return [];
  const names = shown.filter(({ position }) => ran.includes(position)).map(({ name }) => name);
  const own = "cases" in node ? (node.cases ?? []) : [];
  const forced = own.map((position) => cases[position]?.text || cases[position]?.name || "");
  return [{ label: "inCases", lines: ran.length > 0 ? names : forced.map((text) => fill(words.forcedIn, text)) }];
}

function linesOf(facts: readonly Detail[], label: Detail["label"]): string[] {
  return facts.find((fact) => fact.label === label)?.lines ?? [];
}
