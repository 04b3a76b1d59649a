/** Marks the parts of a frame that only some cases run, each once: at the outermost part. */
import { casesIn, casesOfEdge, eitherOf, hasCases, lettersOf, shownCases } from "../graph/cases.js";
import type { GraphIndex } from "../graph/graph.js";
import { strings } from "../shared/strings.js";
import { BORDER, type CaseSign, type Frame, type Item } from "./frame.js";

/** @param parts what a group panel holds; absent for the container of the frame's id */
export function markCases(index: GraphIndex, frame: Frame, parts?: readonly string[]): void {
  const { graph } = index;
  if (!hasCases(graph)) return;
  const around = parts === undefined ? casesIn(index, frame.id) : runIn(index, parts);
  const ran = frame.items.map((item) => runIn(index, item.members.length > 0 ? item.members : [item.id]));
  frame.items.forEach((item, i) => {
    markItem(index, item, ran[i] ?? [], around);
  });
  // outside of the border, an edge already has its letters
  const arriving = new Map<string, readonly number[]>();
  for (const wire of frame.wires.filter(({ from }) => from === BORDER))
    arriving.set(wire.source, eitherOf([arriving.get(wire.source) ?? [], casesOfEdge(graph, wire)]));
  for (const wire of frame.wires) {
    const { from, to, source } = wire;
    const [before = around, after = around] = [from === BORDER ? arriving.get(source) : ran[from], ran[to]];
    const ends = around.filter((one) => before.includes(one) && after.includes(one));
    const own = casesOfEdge(graph, wire);
    const all = ends.filter((one) => own.includes(one));
    wire.cases = all.length < around.length ? all : undefined;
    if (to !== BORDER && all.length > 0 && all.length < ends.length) wire.letters = lettersOf(graph, all);
    if (all.length === 0 && around.length > 0) wire.forced = true;
  }
}

/** Most cases that have colours. */
const MOST_HUES = 4;

/** The cases in the legend; empty unless there are several. */
export function caseSigns({ graph }: GraphIndex): readonly CaseSign[] {
  const shown = shownCases(graph);
  if (shown.length < 2) return [];
  return shown.map(({ letter, name }, i) => ({ letter, name, ...(shown.length <= MOST_HUES && { hue: i }) }));
}

/** Members of runs are of modules and ops, also where the item is a panel. */
function runIn(index: GraphIndex, ids: readonly string[]): readonly number[] {
  return eitherOf(ids.map((id) => casesIn(index, id)));
}

function markItem(index: GraphIndex, item: Item, ran: readonly number[], around: readonly number[]): void {
  if (ran.length === 0 && around.length > 0) {
    item.marks.push("forced");
    item.cases = [];
    item.letters = strings.forcedSign;
  } else if (around.some((one) => !ran.includes(one))) {
    item.cases = ran;
    item.letters = lettersOf(index.graph, ran);
    const [{ hue } = {}] = caseSigns(index).filter(({ letter }) => letter === item.letters);
    if (hue !== undefined) item.hue = hue;
  }
}

/** The least number of repeats of a run that any case of it takes; undefined if all take as many. */
export function leastTimes(index: GraphIndex, members: readonly string[], times: number): number | undefined {
  if (!hasCases(index.graph) || members.length === 0) return undefined;
  const firsts = Array.from({ length: times }, (_, i) => members[(i * members.length) / times] ?? "");
  const ran = firsts.map((id) => casesIn(index, id));
  const counts = shownCases(index.graph)
    .map(({ position }) => ran.filter((cases) => cases.includes(position)).length)
    .filter((count) => count > 0);
  const [least, most] = [Math.min(...counts), Math.max(...counts)];
  return counts.length > 0 && least < most ? least : undefined;
}

/** Whether a repeat runs in no other cases than the first, so that this can represent it. */
export function runsLikeFirst(index: GraphIndex, first: readonly string[], later: readonly string[]): boolean {
  if (!hasCases(index.graph)) return true;
  return later.every((id, i) => {
    const [here, there] = [casesIn(index, first[i] ?? ""), casesIn(index, id)];
    return there.length > 0 === here.length > 0 && there.every((one) => here.includes(one));
  });
}
