/** The facts about a node in each case, where cases differ. */
import { casesIn, shownCases } from "../graph/cases.js";
import type { GraphIndex } from "../graph/graph.js";
import { words } from "../shared/explore_strings.js";
import { fill } from "../shared/strings.js";
import type { Detail } from "./naming.js";
import { factsOf } from "./node_details.js";

/** Facts of tensors: where only sizes differ, they stand side by side. */
const SIDE_BY_SIDE = new Set(["inputs", "outputs"]);

/** The graph of the case at a position: the core makes it. */
type InCase = (index: GraphIndex, position: number) => GraphIndex;

/** @param chosen position of the only case to tell of; absent for all */
export function factsByCase(index: GraphIndex, id: string, inCase: InCase, chosen?: number): Detail[] {
  const facts = factsOf(index, id);
  const shown = shownCases(index.graph);
  const ran = shown.filter(({ position }) => casesIn(index, id).includes(position));
  const told = ran.filter(({ position }) => ran.length === 1 || chosen === undefined || position === chosen);
  if (shown.length < 2 || told.length === 0) return [...casesFact(index, id), ...facts];
  const each = told.map(({ name, position }) => ({ name, facts: factsOf(inCase(index, position), id) }));
  const labels = [...new Set([facts, ...each.map((one) => one.facts)].flat().map(({ label }) => label))];
  const together = labels.map((label): Detail => {
    const own = each.map((one) => linesOf(one.facts, label));
    const [first = []] = own;
    const all = linesOf(facts, label);
    const isSame = own.every((lines) => lines.join("\n") === first.join("\n"));
    const isBeside = SIDE_BY_SIDE.has(label) && own.every((lines) => names(lines) === names(all));
    const { places } = facts.find((fact) => fact.label === label) ?? {};
    if (isSame) return { label, lines: first.length > 0 ? first : all, ...(places && { places }) };
    if (isBeside) return { label, lines: all };
    return {
      label,
      lines: each.flatMap(({ name }, i) => (own[i] ?? []).map((line) => fill(words.inEach, name, line))),
    };
  });
  return [...casesFact(index, id), ...together.filter(({ lines }) => lines.length > 0)];
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

function names(lines: readonly string[]): string {
  return lines.map((line) => /^(.*): /.exec(line)?.[1]).join();
}
