/** Marks the parts of a frame that only some cases run, each once: at the outermost part. */
import {
  casesIn,
  casesOfEdge,
  eachOnce,
  eitherOf,
  hasCases,
  lettersOf,
  partCasesIn,
  shownCases,
} from "../graph/cases.js";
import type { GraphIndex } from "../graph/graph.js";
import { fill, strings } from "../shared/strings.js";
import { BORDER, type CaseSign, type Frame, type Item } from "./frame.js";

/** @param parts what a group panel holds; absent for the container of the frame's id */
export function markCases(index: GraphIndex, frame: Frame, parts?: readonly string[]): void {
  const { graph } = index;
  if (!hasCases(graph)) return;
  const around = parts === undefined ? casesIn(index, frame.id) : runIn(index, parts);
  const ran = frame.items.map((item) => runIn(index, partsOf(item)));
  frame.items.forEach((item, i) => {
    markItem(index, item, ran[i] ?? [], around);
    if (item.frame === null) markHidden(index, item);
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

function partsOf({ id, members }: Item): readonly string[] {
  return members.length > 0 ? members : [id];
}

/** Says of a closed box that only some of its cases run some of it: a bundle in words, as it is no part of the model. */
function markHidden(index: GraphIndex, item: Item): void {
  const hidden = eachOnce(partsOf(item).flatMap((part) => partCasesIn(index, part)));
  if (hidden.length === 0) return;
  item.hidden = hidden;
  if (item.kind !== "bundle") return;
  const words = fill(strings.someOnly, lettersOf(index.graph, eitherOf(hidden)));
  item.detail = [item.detail, words].filter((part) => part !== "").join(" · ");
}

function markItem(index: GraphIndex, item: Item, ran: readonly number[], around: readonly number[]): void {
  if (ran.length === 0 && around.length > 0) {
    item.marks.push("forced");
    item.cases = [];
    item.letters = strings.forcedSign;
  } else if (around.some((one) => !ran.includes(one))) {
    item.cases = ran;
    item.letters = lettersOf(index.graph, ran);
    item.onlyIn = shownCases(index.graph)
      .flatMap(({ position, name }) => (ran.includes(position) ? [name] : []))
      .join(", ");
    const [{ hue } = {}] = caseSigns(index).filter(({ letter }) => letter === item.letters);
    if (hue !== undefined) item.hue = hue;
  }
}

/** How many repeats of a run each shown case takes, and the least number of those that take any; empty if all are equal. */
export function timesInCases(
  index: GraphIndex,
  members: readonly string[],
  times: number,
): Pick<Item, "least" | "counts"> {
  if (!hasCases(index.graph) || members.length === 0) return {};
  const firsts = Array.from({ length: times }, (_, i) => members[(i * members.length) / times] ?? "");
  const ran = firsts.map((id) => casesIn(index, id));
  const counts = shownCases(index.graph).map(({ position }) => ran.filter((cases) => cases.includes(position)).length);
  const taken = counts.filter((count) => count > 0);
  const least = Math.min(...taken);
  return taken.length > 0 && least < Math.max(...taken) ? { least, counts } : {};
}

/** Whether a repeat runs in no other cases than the first, so that this can represent it. */
export function runsLikeFirst(index: GraphIndex, first: readonly string[], later: readonly string[]): boolean {
  if (!hasCases(index.graph)) return true;
  return later.every((id, i) => {
    const [here, there] = [casesIn(index, first[i] ?? ""), casesIn(index, id)];
    return there.length > 0 === here.length > 0 && there.every((one) => here.includes(one));
  });
}
