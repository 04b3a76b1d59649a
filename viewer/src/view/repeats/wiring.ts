/** Compares how stretches of children are connected, to find out whether one repeats another. */
import { casesIn, casesOfEdge } from "../../graph/cases.js";
import { ancestors, type Contents, contentsOf, type GraphIndex, type Link } from "../../graph/graph.js";

/** A reader of a child's tensor, by its position; -1 outside the container. */
interface Use {
  to: number;
  link: Link;
}

/** A use of a child's tensor: the position of the reader's box, and a key of tensor and reader. */
interface Exit {
  to: number;
  key: string;
  /** The cases in which it is read. */
  cases: readonly number[];
}

/** The links between the children of a container, by position. */
export class Wiring {
  /** Child → its inputs from siblings: position of the source, its tensor, and the port at the child. */
  private readonly incoming: { from: number; tensor: string; port: string }[][];
  /** Child → port → the tensor that enters there, from siblings or from outside. */
  private readonly taken: Map<string, string>[];
  private readonly uses: Use[][];
  private readonly exits: Exit[][] = [];
  private readonly children: string[];
  private readonly position: Map<string, number>;

  constructor(
    private readonly index: GraphIndex,
    contents: Contents,
  ) {
    this.children = contents.children;
    this.position = new Map(contents.children.map((id, i) => [id, i]));
    this.incoming = contents.children.map(() => []);
    this.taken = contents.children.map(() => new Map());
    this.uses = contents.children.map(() => []);
    for (const link of contents.links) {
      const from = this.position.get(link.from ?? "");
      const to = this.position.get(link.to ?? "");
      if (from !== undefined) this.uses[from]?.push({ to: to ?? -1, link });
      if (to !== undefined) this.addInto(to, link, from);
    }
  }

  private addInto(to: number, link: Link, from: number | undefined): void {
    const port = contentsOf(this.index, link.to ?? "").uses.get(link.toPort) ?? "";
    if (port !== "") this.taken[to]?.set(port, `${link.from} ${link.fromPort}`);
    if (from !== undefined) this.incoming[to]?.push({ from, tensor: link.fromPort, port });
  }

  /** Whether repeat `times` reads the one before it and has the same inner links as the first. */
  isChained(start: number, period: number, times: number): boolean {
    const at = start + times * period;
    let chained = false;
    for (let i = 0; i < period; i += 1) {
      if (this.between(at + i, start, at - period).length > 0) return false;
      const here = this.inside(at + i, at);
      if (here.join() !== this.inside(start + i, start).join()) return false;
      const before = this.between(at + i, at - period, at);
      chained ||= before.length > 0;
      if (times > 1 && before.join() !== this.between(start + period + i, start, start + period).join()) return false;
    }
    return chained && this.corresponds(at - period, at, period);
  }

  /**
   * Whether later nodes read only the last repeat or, into one list, all of them: one wire can't show anything else. For
   * a decoder that reads the third and the sixth of twelve blocks, they must be separate. In each case, the last repeat is
   * the one that this case runs last.
   */
  leavesAsOne(start: number, period: number, times: number): boolean {
    const end = start + period * times;
    const found = new Map<string, Set<number>>();
    for (let child = start; child < end; child += 1) {
      const outside = this.exitsOf(child).filter(({ to }) => to < start || to >= end);
      const which = Math.floor((child - start) / period);
      for (const { key, cases } of outside) {
        const id = `${(child - start) % period} ${key}`;
        const isLast = this.endsAt(child, period, cases);
        found.set(id, (found.get(id) ?? new Set()).add(isLast ? times - 1 : which));
      }
    }
    return [...found.values()].every(
      (repeats) => repeats.size === times || (repeats.size === 1 && repeats.has(times - 1)),
    );
  }

  /** Whether some cases, and not all, run no further repeat of a child. */
  private endsAt(child: number, period: number, cases: readonly number[]): boolean {
    const next = casesIn(this.index, this.children[child + period] ?? "");
    const own = casesIn(this.index, this.children[child] ?? "");
    return cases.length > 0 && cases.length < own.length && cases.every((one) => !next.includes(one));
  }

  /** Whether each repeat reads an earlier tensor than the repeat before it, like the skips of a U. */
  readsBackwards(start: number, period: number, times: number): boolean {
    const read = Array.from({ length: period * times }, (_, i) => this.readBefore(start, start + i));
    const isBackwards = (i: number) => {
      const [earlier = [], later = []] = [read[i], read[i + period]];
      const [only, other] = [
        earlier.filter((one) => !later.includes(one)),
        later.filter((one) => !earlier.includes(one)),
      ];
      return only.length > 0 && other.length > 0 && Math.max(...other) < Math.min(...only);
    };
    return read.some((_, i) => i + period < read.length && isBackwards(i));
  }

  /** The positions of the blocks before a run, and of ops with one result, that a child reads. */
  private readBefore(start: number, child: number): number[] {
    const isOneOf = (from: number) =>
      contentsOf(this.index, this.children[from] ?? "").children.length === 0 &&
      new Set((this.uses[from] ?? []).map(({ link }) => link.tensor)).size > 1;
    return (this.incoming[child] ?? []).flatMap(({ from, tensor }) =>
      from < start && !isOneOf(from) ? [this.index.order.get(this.index.producer.get(tensor) ?? "") ?? 0] : [],
    );
  }

  private exitsOf(child: number): Exit[] {
    const tensors = new Set((this.uses[child] ?? []).map(({ link }) => link.tensor));
    this.exits[child] ??= [...tensors].flatMap((tensor) => this.readersOf(child, tensor));
    return this.exits[child];
  }

  /** The nodes that read a tensor of a child. */
  private readersOf(child: number, tensor: string): Exit[] {
    const { adjacency } = this.index.graph;
    const producer = this.index.producer.get(tensor) ?? "";
    const orderOf = (id: string) => this.index.order.get(id) ?? 0;
    const made = `${orderOf(producer) - orderOf(this.children[child] ?? "")}${tensor.slice(producer.length)}`;
    return (adjacency.get(producer) ?? [])
      .filter((edge) => edge.tensor === tensor)
      .map(({ to, argument = "", cases }) => {
        const own = cases?.length ? casesOfEdge(this.index.graph, { cases }) : [];
        // what only forced passes read is drawn of its own
        const forced = cases?.length && own.length === 0 ? " forced" : "";
        const key = `${made} ${to} ${argument.replace(/\[\d+\]/g, "")}${forced}`;
        return { to: this.positionOf(to), key, cases: own };
      });
  }

  /** The position of the child that contains a node, -1 outside the container. */
  private positionOf(id: string): number {
    const around = [id, ...ancestors(this.index, id)].find((at) => this.position.has(at));
    return this.position.get(around ?? "") ?? -1;
  }

  /** Whether the second repeat reads a different result of an op such as `unbind`: a loop over time. */
  readsDifferentResults(start: number, period: number): boolean {
    const isDifferent = (i: number) =>
      (this.incoming[i] ?? []).some(
        ({ from, tensor }) =>
          from < start &&
          (this.incoming[i + period] ?? []).some((other) => other.from === from && other.tensor !== tensor),
      );
    for (let i = start; i < start + period; i += 1) if (isDifferent(i)) return true;
    return false;
  }

  /** Whether the children of a repeat are connected; only such repeats are folded. */
  isConnected(start: number, period: number): boolean {
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

  /** Whether repeat `times` is parallel to the first: same inner links, same sources, same readers. */
  isParallel(start: number, period: number, times: number): boolean {
    const at = start + times * period;
    const readers = (position: number, begin: number) =>
      (this.uses[position] ?? []).filter(({ to }) => to < begin || to >= begin + period);
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

  /** Whether two children read the same tensors from outside their repeats. */
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

  /** Whether the tensors that two repeats read map one to one. */
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

  /** Links into a child from its repeat, which begins at `at`. */
  private inside(child: number, at: number): string[] {
    return this.between(child, at, child);
  }

  /** Links into a child from positions `low` to `high`, relative to `low`. */
  private between(child: number, low: number, high: number): string[] {
    const found = (this.incoming[child] ?? []).filter(({ from }) => from >= low && from < high);
    return found.map(({ from, port }) => `${from - low}:${port}`).sort();
  }
}

/** The argument `tensors` for a link that the op reads as `tensors[3]`. */
function listOf(index: GraphIndex, link: Link): string | null {
  const edges = index.graph.adjacency.get(index.producer.get(link.tensor) ?? "") ?? [];
  const edge = edges.find(({ to, tensor }) => to === link.to && tensor === link.tensor);
  return /^(.*)\[\d+\]$/.exec(edge?.argument ?? "")?.[1] ?? null;
}
