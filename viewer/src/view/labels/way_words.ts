/** What pictures say of the ways through the code: conditions on a tensor's value, loops until one, lists that ran in part. */
import { shownCases } from "../../graph/cases.js";
import { ancestors, type GraphIndex, type GraphNode, isGroup, ROOT, type Way } from "../../graph/graph.js";
import { recursiveCalls } from "../../graph/pass_ways.js";
import { memoByObject } from "../../shared/memo.js";
import { fill, strings } from "../../shared/strings.js";

/** Most characters of a condition in a picture. */
const LONGEST = 36;

export function shortCondition({ condition }: Way): string {
  return condition.length <= LONGEST ? condition : `${condition.slice(0, LONGEST - 1).trimEnd()}…`;
}

/** The condition that an op decides, and whether its answer was assumed. */
export function decisionWords({ graph }: GraphIndex, id: string): { name: string; detail: string } | undefined {
  const way = graph.passWays?.decisions.get(id);
  const guess = (graph.status.guesses ?? []).find(({ node }) => node === id);
  return way && { name: shortCondition(way), detail: guess === undefined ? "" : assumedWords(guess.value) };
}

function assumedWords(value: unknown): string {
  return typeof value === "boolean" ? `${strings.assumed}: ${value ? "yes" : "no"}` : strings.assumed;
}

/** `if x.mean() > 0`, and what is known of each side. */
export function decisionText({ graph }: GraphIndex, id: string): string[] {
  const way = graph.passWays?.decisions.get(id);
  if (way === undefined) return [];
  const statement = way.statement === "expression" ? "if" : way.statement;
  return [`${statement} ${way.condition}`, ...way.sides.map((side) => sideText(graph, side))];
}

/** Whether a pass took a side by itself: forced ones don't count. */
export function isSeen(
  graph: GraphIndex["graph"],
  { taken, cases = [] }: Pick<Way["sides"][number], "taken" | "cases">,
): boolean {
  return taken && (cases.length === 0 || shownCases(graph).some(({ position }) => cases.includes(position)));
}

function sideText(graph: GraphIndex["graph"], { name, line, taken, cases = [] }: Way["sides"][number]): string {
  if (!taken) return `${name}: ${fill(strings.notTraced, line)}`;
  if (!isSeen(graph, { taken, cases })) return `${name}: ${strings.forced} (${fill(strings.lineOf, line)})`;
  const shown = shownCases(graph);
  const names = shown.flatMap(({ position, name: own }) => (cases.includes(position) ? [own] : []));
  if (shown.length < 2) return `${name}: ${fill(strings.lineOf, line)}`;
  return `${name}: ${fill(strings.lineOf, line)}${names.length > 0 ? ` (${names.join(", ")})` : ""}`;
}

/** The containers that hold a decision. */
const deciding = memoByObject((index: GraphIndex): ReadonlySet<string> => {
  const ids = [...(index.graph.passWays?.decisions.keys() ?? [])].filter((id) => index.nodes.has(id));
  return new Set(ids.flatMap((id) => ancestors(index, id)));
});

export function holdsDecision(index: GraphIndex, id: string): boolean {
  return deciding(index).has(id);
}

/** `while err > tol` for a loop in a container that a value ended; empty for others. */
export function loopWords({ graph, nodes, parent }: GraphIndex, members: readonly string[]): string {
  if (graph.passWays === undefined || members.length === 0) return "";
  let container = parent.get(members[0] ?? "") ?? ROOT;
  while (isGroup(nodes.get(container) as GraphNode)) container = parent.get(container) ?? ROOT;
  const loops = graph.passWays.loops.get(container) ?? [];
  const lines = members.flatMap((id) => lineOf(nodes.get(id)));
  const first = lines.length === 0 ? Number.POSITIVE_INFINITY : Math.min(...lines);
  const before = loops.filter(({ way }) => loops.length === 1 || lineIn(way.source) <= first);
  const loop = before.sort((a, b) => lineIn(b.way.source) - lineIn(a.way.source))[0];
  if (loop === undefined) return "";
  const { way, reads } = loop;
  const text = `${way.statement} ${way.statement === "for" ? "… in " : ""}${shortCondition(way)}`;
  const isAssumed = (graph.status.guesses ?? []).some(({ node }) => reads.includes(node ?? ""));
  return isAssumed ? `${text} (${strings.assumed})` : text;
}

function lineOf(node: GraphNode | undefined): number[] {
  return node?.kind === "op" && node.source ? [lineIn(node.source)] : [];
}

function lineIn(source: string): number {
  return Number(source.slice(source.lastIndexOf(":") + 1));
}

/** `3 of 8 experts ran` for a module with lists of which only some were called. */
export function partWords({ graph }: GraphIndex, id: string): string {
  const parts = graph.passWays?.partly.get(id) ?? [];
  return parts.map(({ ran, of, list }) => fill(strings.partRan, ran, of, list).replace(/ +/g, " ")).join(", ");
}

const recursions = memoByObject((index: GraphIndex) => recursiveCalls(index.graph));

/** The number of calls of a module in a call of itself; 0 if it isn't inside another call. */
export function recursionOf(index: GraphIndex, id: string): number {
  return recursions(index).get(id) ?? 0;
}
