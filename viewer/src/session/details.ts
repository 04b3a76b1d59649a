/** The details of a node; for equal blocks drawn as one: totals, each, and where they differ. */
import { callsOf } from "../graph/bounds.js";
import { shownCases } from "../graph/cases.js";
import { exact, formatBytes, formatFlops, formatTime, ofWhole } from "../shared/amounts.js";
import { words } from "../shared/explore_strings.js";
import { fill } from "../shared/strings.js";
import { factsByCase } from "./case_facts.js";
import type { Cost, Costs } from "./costs.js";
import { type Detail, pathOf } from "./naming.js";
import { describe, factsOf, type NodeDetails } from "./node_details.js";
import type { Session } from "./session.js";

/** Most blocks that are compared. */
const MAX_COMPARED = 200;
/** Facts about a block rather than its place in the model. */
const OWN = new Set(["author", "inputs", "outputs", "arguments", "weights", "tied", "parameters", "flops", "memory"]);

/** Facts that differ between equal blocks; the details give those of the first. */
const OF_ONE = new Set<Detail["label"]>(["given", "flows"]);

type Amounts = Partial<Record<Detail["label"], string>>;

/** The details of a node and of what it represents; of the model if the id is empty. */
export function detailsOf(session: Session, id: string): NodeDetails {
  const index = session.indexOf(id);
  const details = { ...describe(index, id), facts: factsByCase(index, id, session.caseIndex, session.inCase) };
  const ids = session.rolled().all(id);
  return ids.length > 1 ? detailsOfAll(session, details, ids) : details;
}

/** Extends the details of the first block to all. */
function detailsOfAll(session: Session, details: NodeDetails, ids: readonly string[]): NodeDetails {
  const amounts = amountsOf(session, session.costs, ids);
  const times = Math.round(ids.reduce((calls, each) => calls + callsOf(session.traced, each), 0));
  const all = (text: string) => fill(words.ofAll, times, text);
  const facts = details.facts.map((fact) => {
    const amount = amounts[fact.label];
    const [first = "", ...others] = fact.lines;
    const each = fact.label === "time" ? timesOf(session, ids) : first;
    if (amount === undefined) return OF_ONE.has(fact.label) ? ofFirst(fact, nameOf(session, ids[0] ?? "")) : fact;
    const inCases = isByCase(session, fact) ? amountsByCase(session, ids, fact.label) : [];
    return { ...fact, lines: inCases.length > 0 ? inCases : [all(amount), fill(words.each, each), ...others] };
  });
  const differing = differences(session, ids);
  const title = rangeOf(ids.map((id) => nameOf(session, id)));
  return {
    ...details,
    title,
    times,
    facts: differing.length > 0 ? [...facts, { label: "differing", lines: differing }] : facts,
  };
}

function ofFirst(fact: Detail, name: string): Detail {
  const { lines, pictures = lines } = fact; // lines after those with pictures are about the whole pass
  return { ...fact, lines: lines.map((line, i) => (i < pictures.length ? fill(words.inEach, name, line) : line)) };
}

/** Whether a fact has lines for cases. */
function isByCase({ firstCase }: Session, { lines }: Detail): boolean {
  return firstCase !== undefined && lines[0]?.startsWith(fill(words.inEach, firstCase.name, "")) === true;
}

function amountsByCase(session: Session, ids: readonly string[], label: Detail["label"]): string[] {
  return shownCases(session.traced.graph).flatMap(({ name, position }) => {
    const amount = amountsOf(session, session.costsIn(position), ids)[label];
    return amount === undefined ? [] : fill(words.inEach, name, fill(words.ofAll, ids.length, amount));
  });
}

function amountsOf(session: Session, costs: Costs, ids: readonly string[]): Amounts {
  const { whole } = costs;
  const all = costs.of(ids, session.visibleGraph());
  const counted = (
    what: Exclude<keyof Cost, "moved" | "signs" | "numbers">,
    format: (value: number) => string,
  ): Amounts => {
    const value = all[what];
    const sign = what === "flops" || what === "memory" ? (all.signs[what] ?? "") : "";
    return value ? { [what]: sign + format(value) + ofWhole(value, whole[what]) } : {};
  };
  return {
    ...counted("parameters", exact),
    ...counted("flops", formatFlops),
    ...counted("memory", formatBytes),
    ...counted("time", formatTime),
  };
}

/** The shortest and the longest time of equal blocks, which are measured one by one. */
function timesOf({ costs }: Session, ids: readonly string[]): string {
  const times = ids.flatMap((id) => costs.of([id]).time ?? []).sort((a, b) => a - b);
  return [...new Set([times[0] ?? 0, times.at(-1) ?? 0].map(formatTime))].join("–");
}

/** For each block, the lines that not all have. */
function differences(session: Session, ids: readonly string[]): string[] {
  const index = session.visibleGraph();
  const said = ids.slice(0, MAX_COMPARED).map((id) =>
    factsOf(index, id)
      .filter(({ label }) => OWN.has(label))
      .flatMap(({ lines }) => lines),
  );
  const counts = new Map<string, number>();
  for (const line of said.flatMap((lines) => [...new Set(lines.map(placeless))]))
    counts.set(line, (counts.get(line) ?? 0) + 1);
  return said.flatMap((lines, i) => {
    const own = lines.filter((line) => counts.get(placeless(line)) !== said.length);
    return own.length === 0 ? [] : `${nameOf(session, ids[i] ?? "")}: ${own.join("; ")}`;
  });
}

/** A line with `*` for numbers of blocks, which names of other nodes also contain. */
function placeless(line: string): string {
  return line.replace(/(?<=[.\s]|^)\d+(?=\.[a-z_])/gi, "*");
}

function nameOf(session: Session, id: string): string {
  const node = session.indexOf(id).nodes.get(id);
  return node === undefined ? id : pathOf(node);
}

/** `h.0–11.attn` for `h.0.attn`, …, `h.11.attn`. */
export function rangeOf(names: readonly string[]): string {
  const [first = "", last = first] = [names[0], names[names.length - 1]];
  const [parts, others] = [first, last].map((name) => name.split(/(\d+)/)) as [string[], string[]];
  if (parts.length !== others.length) return first;
  return parts.map((part, i) => (part === others[i] ? part : `${part}–${others[i]}`)).join("");
}
