import { shortName } from "./families.js";
import { type Contents, contentsOf, type GraphIndex, type Link, type OpNode } from "./graph.js";

/**
 * A stretch of a container's children that does the same thing several times: each time on what came out before, or side
 * by side, all on the same and all for one list.
 */
export interface Run {
  /** Place of the first child in `Contents.children`. */
  start: number;
  /** Children per repeat. */
  period: number;
  /** How many times. */
  times: number;
}

/** Longest repeat looked for: every sixth layer different is common, plus the ops around each of them. */
const MAX_PERIOD = 48;

/** From so many on, equal branches are one thing to a reader. */
const LEAST_BESIDE = 3;

/** Contents never change: looked for once. */
const found = new WeakMap<Contents, Run[]>();

/** The runs among a container's children, from left to right, each as long as possible. */
export function findRuns(index: GraphIndex, contents: Contents): Run[] {
  const known = found.get(contents) ?? lookForRuns(index, contents);
  found.set(contents, known);
  return known;
}

function lookForRuns(index: GraphIndex, contents: Contents): Run[] {
  const again = calledAgain(index, contents);
  const hashes = contents.children.map((id) => likeness(index, id, again));
  const wiring = new Wiring(index, contents);
  const runs: Run[] = [];
  let start = 0;
  while (start < hashes.length) {
    const run = longestRun(index, contents, hashes, wiring, start);
    if (run !== undefined) runs.push(run);
    start += run === undefined ? 1 : run.period * run.times;
  }
  return runs;
}

/** The children of one repeat of a run. */
export function repeat(contents: Contents, run: Run, which: number): string[] {
  const at = run.start + which * run.period;
  return contents.children.slice(at, at + run.period);
}

/** Paths of modules that are called more than once here. */
function calledAgain(index: GraphIndex, contents: Contents): Set<string> {
  const nodes = contents.children.map((id) => index.nodes.get(id));
  return new Set(nodes.flatMap((node) => (node?.kind === "module" && (node.call ?? 1) > 1 ? [node.path] : [])));
}

/** Equal for children that do the same thing, whatever their names and weights. */
function likeness(index: GraphIndex, id: string, again: ReadonlySet<string>): string {
  const node = index.nodes.get(id);
  if (node === undefined || node.kind === "input" || node.kind === "output") return `unique ${id}`;
  // the first step of a recurrence begins with one tensor for all its states: its signature is another one
  if (node.kind === "module" && again.has(node.path)) return `again ${node.path} ${work(index, id)}`;
  if (node.kind === "module") return node.signature ? `module ${node.class} ${node.signature}` : `unique ${id}`;
  const shapes = (node.outputs ?? []).map((tensor) => index.graph.tensors[tensor]?.shape ?? null);
  if (node.kind === "op") return JSON.stringify(["op", node.name, alikeArguments(node), shapes]);
  return JSON.stringify([node.kind, shapes]);
}

/** What happens inside a module, op by op, wherever its tensors come from. */
function work(index: GraphIndex, id: string): string {
  return contentsOf(index, id)
    .children.map((child) => {
      const node = index.nodes.get(child);
      return node?.kind === "module" ? `${node.class}(${work(index, child)})` : likeness(index, child, new Set());
    })
    .join();
}

/** A loop over time steps takes another index in each: where it looks is no difference. */
function alikeArguments(node: OpNode): unknown {
  return picks(node) ? JSON.stringify(node.arguments ?? {}).replace(/\d+/g, "#") : (node.arguments ?? {});
}

function picks(node: OpNode): boolean {
  return /^(getitem|select|narrow)$/.test(shortName(node.name));
}

function longestRun(
  index: GraphIndex,
  contents: Contents,
  hashes: string[],
  wiring: Wiring,
  start: number,
): Run | undefined {
  let best: Run | undefined;
  const longest = Math.min(MAX_PERIOD, Math.floor((hashes.length - start) / 2));
  let news = false;
  let blocks = false;
  for (let period = 1; period <= longest; period += 1) {
    const last = contents.children[start + period - 1];
    news ||= isNews(index, last);
    blocks ||= isBlock(index, last);
    const isNew = equalRepeat(hashes, start, period, 1) && (news || wiring.takesAnew(start, period));
    const times = isNew ? repeats(hashes, wiring, { start, period }, blocks) : 1;
    const covers = times > 1 ? period * times : 0;
    if (covers > (best === undefined ? 0 : best.period * best.times)) best = { start, period, times };
  }
  return best !== undefined && worthwhile(index, contents, wiring, best) ? best : undefined;
}

/** How many times a stretch is repeated: one after the other or, where that is not so and may be, side by side. */
function repeats(hashes: string[], wiring: Wiring, { start, period }: Omit<Run, "times">, besides: boolean): number {
  const count = (goesOn: (times: number) => boolean) => {
    let times = 1;
    while (equalRepeat(hashes, start, period, times) && goesOn(times)) times += 1;
    return times;
  };
  if (!wiring.hangsTogether(start, period)) return 1;
  const chained = count((times) => wiring.continues(start, period, times));
  if (chained > 1 || !besides) return chained;
  const beside = count((times) => wiring.repeatsBeside(start, period, times));
  return beside >= LEAST_BESIDE ? beside : 1;
}

function equalRepeat(hashes: string[], start: number, period: number, times: number): boolean {
  const at = start + times * period;
  if (at + period > hashes.length) return false;
  for (let i = 0; i < period; i += 1) if (hashes[at + i] !== hashes[start + i]) return false;
  return true;
}

/** What a repeat has to hold. A chain of three equal ops says more when it is drawn; blocks are what is folded, and steps. */
function isNews(index: GraphIndex, id = ""): boolean {
  const node = index.nodes.get(id);
  return isBlock(index, id) || (node?.kind === "op" && picks(node));
}

function isBlock(index: GraphIndex, id = ""): boolean {
  return contentsOf(index, id).children.length > 0;
}

function worthwhile(index: GraphIndex, contents: Contents, wiring: Wiring, run: Run): boolean {
  const first = repeat(contents, run, 0).find((id) => isBlock(index, id));
  if (first === undefined) {
    return run.times > 2 && (picksAnew(index, contents, run) || wiring.takesAnew(run.start, run.period));
  }
  return run.times > 2 || contentsOf(index, first).children.length > 1;
}

/** A loop over time in which no module is called: each repeat picks another part of something. */
function picksAnew(index: GraphIndex, contents: Contents, run: Run): boolean {
  const said = (id = "") => {
    const node = index.nodes.get(id);
    return node?.kind === "op" && picks(node) ? JSON.stringify(node.arguments) : "";
  };
  const second = repeat(contents, run, 1);
  return repeat(contents, run, 0).some((id, i) => said(id) !== said(second[i]));
}

/** Where a tensor of a child goes: the place of the reader, -1 outside. */
interface Use {
  to: number;
  link: Link;
}

/** Who feeds whom among the children, by place, for comparing one repeat with the next. */
class Wiring {
  /** Place of a child → what comes in from siblings: place of the source, its tensor, and the port at the child. */
  private readonly incoming: { from: number; tensor: string; port: string }[][];
  /** Place of a child → port → the tensor that comes in there, from siblings or from outside. */
  private readonly taken: Map<string, string>[];
  private readonly uses: Use[][];

  constructor(
    private readonly index: GraphIndex,
    contents: Contents,
  ) {
    const place = new Map(contents.children.map((id, i) => [id, i]));
    this.incoming = contents.children.map(() => []);
    this.taken = contents.children.map(() => new Map());
    this.uses = contents.children.map(() => []);
    for (const link of contents.links) {
      const from = place.get(link.from ?? "");
      const to = place.get(link.to ?? "");
      if (from !== undefined) this.uses[from]?.push({ to: to ?? -1, link });
      if (to !== undefined) this.addInto(to, link, from);
    }
  }

  private addInto(to: number, link: Link, from: number | undefined): void {
    const port = contentsOf(this.index, link.to ?? "").uses.get(link.toPort) ?? "";
    if (port !== "") this.taken[to]?.set(port, `${link.from} ${link.fromPort}`);
    if (from !== undefined) this.incoming[to]?.push({ from, tensor: link.fromPort, port });
  }

  /** Whether repeat number `times` hangs on the one before it, and is wired inside as the first one is. */
  continues(start: number, period: number, times: number): boolean {
    const at = start + times * period;
    let chained = false;
    for (let i = 0; i < period; i += 1) {
      const here = this.inside(at + i, at);
      if (here.join() !== this.inside(start + i, start).join()) return false;
      const before = this.between(at + i, at - period, at);
      chained ||= before.length > 0;
      if (times > 1 && before.join() !== this.between(start + period + i, start, start + period).join()) return false;
    }
    return chained && this.corresponds(at - period, at, period);
  }

  /** Whether the second repeat takes another result of an op, such as `unbind`, than the first: a loop over time. */
  takesAnew(start: number, period: number): boolean {
    const isAnew = (i: number) =>
      (this.incoming[i] ?? []).some(
        ({ from, tensor }) =>
          from < start &&
          (this.incoming[i + period] ?? []).some((other) => other.from === from && other.tensor !== tensor),
      );
    for (let i = start; i < start + period; i += 1) if (isAnew(i)) return true;
    return false;
  }

  /** Whether the children of a repeat are connected with each other: what is folded together has to be one thing. */
  hangsTogether(start: number, period: number): boolean {
    const reached = new Set([start]);
    for (let grown = true; grown; ) {
      grown = false;
      for (let child = start; child < start + period; child += 1) {
        for (const { from } of this.incoming[child] ?? []) {
          if (from < start || reached.has(from) === reached.has(child)) continue;
          reached.add(from).add(child);
          grown = true;
        }
      }
    }
    return reached.size === period;
  }

  /** Whether repeat number `times` stands beside the first: wired inside as it is, reading and feeding the same. */
  repeatsBeside(start: number, period: number, times: number): boolean {
    const at = start + times * period;
    const readers = (place: number, begin: number) =>
      (this.uses[place] ?? []).filter(({ to }) => to < begin || to >= begin + period);
    for (let i = 0; i < period; i += 1) {
      if (this.inside(at + i, at).join() !== this.inside(start + i, start).join()) return false;
      if (this.between(at + i, start, at).length > 0 || !this.readsSame(start + i, at + i, start, at)) return false;
      const [one, other] = [readers(start + i, start), readers(at + i, at)];
      if (one.map(({ to }) => to).join() !== other.map(({ to }) => to).join()) return false;
      const lists = (uses: Use[]) => uses.map(({ link }) => listOf(this.index, link));
      const found = lists(other);
      if (found.includes(null) || found.join() !== lists(one).join()) return false;
    }
    return true;
  }

  /** Whether two children take the same from outside their repeats. */
  private readsSame(one: number, other: number, start: number, at: number): boolean {
    const own = (child: number, begin: number) =>
      new Set((this.incoming[child] ?? []).filter(({ from }) => from >= begin && from < child).map(({ port }) => port));
    const [ownOne, ownOther] = [own(one, start), own(other, at)];
    const [taken, match] = [this.taken[one] ?? new Map(), this.taken[other] ?? new Map()];
    return (
      taken.size === match.size &&
      [...taken].every(([port, tensor]) => (ownOne.has(port) ? ownOther.has(port) : match.get(port) === tensor))
    );
  }

  /** Whether tensors correspond: where one repeat takes the same tensor twice, or two, the other does so too. */
  private corresponds(one: number, other: number, period: number): boolean {
    const there = new Map<string, string>();
    const back = new Map<string, string>();
    for (let i = 0; i < period; i += 1) {
      for (const [port, tensor] of this.taken[one + i] ?? []) {
        const match = this.taken[other + i]?.get(port);
        if (match === undefined) return false;
        if ((there.get(tensor) ?? match) !== match || (back.get(match) ?? tensor) !== tensor) return false;
        there.set(tensor, match);
        back.set(match, tensor);
      }
    }
    return true;
  }

  /** Links into a child from its own repeat, which begins at `at`. */
  private inside(child: number, at: number): string[] {
    return this.between(child, at, child);
  }

  /** Links into a child from the places `low` up to `high`, relative to `low`. */
  private between(child: number, low: number, high: number): string[] {
    const found = (this.incoming[child] ?? []).filter(({ from }) => from >= low && from < high);
    return found.map(({ from, port }) => `${from - low}:${port}`).sort();
  }
}

/** `tensors` for a link to the op that takes it as `tensors[3]`. */
function listOf(index: GraphIndex, link: Link): string | null {
  const edges = index.graph.adjacency[index.producer.get(link.tensor) ?? ""] ?? [];
  const edge = edges.find(({ to, tensor }) => to === link.to && tensor === link.tensor);
  return /^(.*)\[\d+\]$/.exec(edge?.argument ?? "")?.[1] ?? null;
}

/** Contents with every run folded to its first repeat. */
export function fold(index: GraphIndex, contents: Contents, runs: Run[]): Contents {
  if (runs.length === 0) return contents;
  const stand = standIns(contents, runs);
  const place = new Map(contents.children.map((id, i) => [id, i]));
  const runOf = (id: string | null) => (id === null ? undefined : runs.find((run) => inRun(run, place.get(id) ?? -1)));
  const links = new Map<string, Link>();
  const taken = new Set<string>();
  for (const link of contents.links) {
    const [from, to] = [link.from ?? "", link.to ?? ""];
    const isInner = runOf(link.from) !== undefined && runOf(link.from) === runOf(link.to);
    // between repeats nothing is drawn: that they are chained is what "×12" says
    if (isInner && (stand.has(from) || stand.has(to))) continue;
    const redirected = redirect(index, link, stand);
    const way = endsOf(index, redirected);
    // each time step takes its own part of one op's results: what the first takes stands for all
    if (stand.has(to) && taken.has(way)) continue;
    taken.add(way);
    // twelve layers that read one mask, or give one state each, are one link
    const key = `${way} ${redirected.fromPort}`;
    if (!links.has(key)) links.set(key, redirected);
  }
  const children = contents.children.filter((id) => !stand.has(id));
  return { ...contents, children, links: [...links.values()] };
}

function inRun(run: Run, place: number): boolean {
  return place >= run.start && place < run.start + run.period * run.times;
}

/** Child of a later repeat → its counterpart in the first. */
function standIns(contents: Contents, runs: Run[]): Map<string, string> {
  const stand = new Map<string, string>();
  for (const run of runs) {
    const first = repeat(contents, run, 0);
    for (let which = 1; which < run.times; which += 1) {
      repeat(contents, run, which).forEach((id, i) => {
        stand.set(id, first[i] ?? id);
      });
    }
  }
  return stand;
}

/** What leaves a later repeat is drawn as leaving the first; the ports are the first one's. */
function redirect(index: GraphIndex, link: Link, stand: Map<string, string>): Link {
  const from = link.from === null ? undefined : stand.get(link.from);
  const to = link.to === null ? undefined : stand.get(link.to);
  return {
    ...link,
    from: from ?? link.from,
    to: to ?? link.to,
    fromPort:
      from === undefined || link.from === null ? link.fromPort : counterpart(index, link.fromPort, link.from, from),
    toPort: to === undefined || link.to === null ? link.toPort : sameInput(index, link.toPort, link.to, to),
  };
}

/** The tensor that `first` makes where `later` makes this one: same place in execution order, same output. */
function counterpart(index: GraphIndex, tensor: string, later: string, first: string): string {
  const producer = index.producer.get(tensor) ?? "";
  const offset = (index.order.get(producer) ?? 0) - (index.order.get(later) ?? 0);
  const node = index.graph.nodes[(index.order.get(first) ?? 0) + offset];
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

/** The two ends of a link, and the port where it arrives; what happens in one op has none. */
function endsOf(index: GraphIndex, { from, to, toPort }: Link): string {
  const isLeaf = to !== null && contentsOf(index, to).children.length === 0;
  return JSON.stringify([from, to, isLeaf ? "" : toPort]);
}
