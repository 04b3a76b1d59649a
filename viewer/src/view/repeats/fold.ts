/** Folds runs into their first repeat, which takes over the links of all. */
import { type Contents, contentsOf, type GraphIndex, type Link } from "../../graph/graph.js";
import { addStrongest } from "../../graph/indexing.js";
import { type Run, repeat } from "./repeats.js";

/** Contents with every run folded into its first repeat. */
export function fold(index: GraphIndex, contents: Contents, runs: Run[]): Contents {
  if (runs.length === 0) return contents;
  const firsts = counterparts(contents, runs);
  const positions = new Map(contents.children.map((id, i) => [id, i]));
  const runOf = (id: string | null) =>
    id === null ? undefined : runs.find((run) => inRun(run, positions.get(id) ?? -1));
  const isOp = (id: string) => index.nodes.get(id)?.kind === "op";
  const links = new Map<string, Link>();
  const seen = new Set<string>();
  for (const link of contents.links) {
    const [from, to] = [link.from ?? "", link.to ?? ""];
    const isInner = runOf(link.from) !== undefined && runOf(link.from) === runOf(link.to);
    // "×12" implies the links between repeats
    if (isInner && (firsts.has(from) || firsts.has(to))) continue;
    const redirected = redirect(index, link, firsts);
    const ends = endsOf(index, redirected);
    // each time step reads another result of one op: the first represents all
    if (firsts.has(to) && seen.has(ends) && isOp(from)) continue;
    seen.add(ends);
    // the links of twelve layers that read one mask, or return a state each, become one
    addStrongest(links, `${ends} ${redirected.fromPort}`, redirected);
  }
  const children = contents.children.filter((id) => !firsts.has(id));
  return { ...contents, children, links: [...links.values()], returns: returnsOf(index, contents, runs, firsts) };
}

/** What a repeat of several children passes to the next: the links from the first to the second. */
function returnsOf(index: GraphIndex, contents: Contents, runs: Run[], firsts: Map<string, string>): Link[] {
  const positions = new Map(contents.children.map((id, i) => [id, i]));
  const repeatOf = (run: Run, id: string | null) =>
    Math.floor(((positions.get(id ?? "") ?? -1) - run.start) / run.period);
  const found = runs
    .filter(({ period }) => period > 1)
    .flatMap((run) => contents.links.filter(({ from, to }) => repeatOf(run, from) === 0 && repeatOf(run, to) === 1));
  return [...(contents.returns ?? []), ...found].map((link) => redirect(index, link, firsts));
}

function inRun(run: Run, position: number): boolean {
  return position >= run.start && position < run.start + run.period * run.times;
}

/** Child of a later repeat → its counterpart in the first. */
function counterparts(contents: Contents, runs: Run[]): Map<string, string> {
  const firsts = new Map<string, string>();
  for (const run of runs) {
    const first = repeat(contents, run, 0);
    for (let which = 1; which < run.times; which += 1) {
      repeat(contents, run, which).forEach((id, i) => {
        firsts.set(id, first[i] ?? id);
      });
    }
  }
  return firsts;
}

/** Moves the ends of a link from later repeats to the first. */
export function redirect(index: GraphIndex, link: Link, firsts: Map<string, string>): Link {
  const from = link.from === null ? undefined : firsts.get(link.from);
  const to = link.to === null ? undefined : firsts.get(link.to);
  return {
    ...link,
    from: from ?? link.from,
    to: to ?? link.to,
    fromPort:
      from === undefined || link.from === null ? link.fromPort : sameOutput(index, link.fromPort, link.from, from),
    toPort: to === undefined || link.to === null ? link.toPort : sameInput(index, link.toPort, link.to, to),
  };
}

/** The nodes at the position of `id` in the later ones of equal modules. @param repeats the first node of each */
export function inLaterRepeats(index: GraphIndex, id: string, [first = "", ...later]: readonly string[]): string[] {
  const positionOf = (node: string) => index.order.get(node) ?? 0;
  const offset = positionOf(id) - positionOf(first);
  return later.flatMap((repeat) => index.steps[positionOf(repeat) + offset]?.id ?? []);
}

/** The tensor of `first` that corresponds to one of `later`: same offset in execution order, same output. */
function sameOutput(index: GraphIndex, tensor: string, later: string, first: string): string {
  const producer = index.producer.get(tensor) ?? "";
  const offset = (index.order.get(producer) ?? 0) - (index.order.get(later) ?? 0);
  const node = index.steps[(index.order.get(first) ?? 0) + offset];
  const source = index.nodes.get(producer);
  if (node === undefined || source === undefined || !("outputs" in node) || !("outputs" in source)) return tensor;
  const outputs: unknown = node.outputs;
  const sources: unknown = source.outputs;
  if (!Array.isArray(outputs) || !Array.isArray(sources)) return tensor;
  return outputs[sources.indexOf(tensor)] ?? tensor;
}

function sameInput(index: GraphIndex, port: string, later: string, first: string): string {
  const use = contentsOf(index, later).uses.get(port);
  for (const [other, otherUse] of contentsOf(index, first).uses) if (otherUse === use) return other;
  return port;
}

/** A key of the ends of a link and its target port; leaves have no ports. */
function endsOf(index: GraphIndex, { from, to, toPort }: Link): string {
  const isLeaf = to !== null && contentsOf(index, to).children.length === 0;
  return JSON.stringify([from, to, isLeaf ? "" : toPort]);
}
