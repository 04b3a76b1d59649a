import { type Contents, contentsOf, type GraphIndex, type Link } from "./graph.js";
import { findRuns, fold, type Run, repeat } from "./roll.js";

/** A run's first member stands for all of them. */
export interface Rolled {
  /** What the state calls the run. */
  id: string;
  times: number;
  /** Ids of what it stands for, in order. */
  members: string[];
}

/** A run whose repeat is more than one child: drawn as a panel around the first repeat. */
export interface Group {
  times: number;
  contents: Contents;
  /** Shorter runs inside the repeat: five of one kind before the sixth. */
  runs: Map<string, Rolled>;
  /** Last module of the last repeat, for the name. */
  last: string | undefined;
}

/** What is directly inside a container, as it is shown: runs folded unless the reader unrolled them. */
export interface Surface {
  contents: Contents;
  /** Id of a run's first member → the run. Also for unrolled runs, so that they can be rolled up again. */
  runs: Map<string, Rolled>;
  /** Id of a panel among `contents.children` → what is in it. */
  groups: Map<string, Group>;
}

interface Found {
  runs: Run[];
}

const found = new WeakMap<Contents, Found>();

const GROUP = "group:";

/** The id of a panel around several children, by its first child. */
export function groupId(first: string): string {
  return GROUP + first;
}

/** What the state calls a run: its first member or, with several in each repeat, the panel around these. */
export function runId(contents: Contents, run: Run): string {
  const head = contents.children[run.start] ?? "";
  return run.period === 1 ? head : groupId(head);
}

/** The first member of a run. */
export function headOf(run: string): string {
  return run.startsWith(GROUP) ? run.slice(GROUP.length) : run;
}

/** What of a container is shown. */
export function surface(index: GraphIndex, id: string, unrolled: ReadonlySet<string>): Surface {
  const contents = contentsOf(index, id);
  const runs = runsOf(index, contents);
  const rolled = runs.filter((run) => !unrolled.has(runId(contents, run)));
  const folded = fold(index, contents, rolled);
  const shown: Surface = { contents: folded, runs: new Map(), groups: new Map() };
  for (const run of runs) {
    const first = repeat(contents, run, 0);
    const last = repeat(contents, run, run.times - 1);
    const id = runId(contents, run);
    if (run.period === 1 || unrolled.has(id)) {
      const members = contents.children.slice(run.start, run.start + run.period * run.times);
      shown.runs.set(first[0] ?? "", { id, times: run.times, members });
    } else {
      enclose(index, shown, unrolled, { members: first, last, times: run.times });
    }
  }
  return shown;
}

function runsOf(index: GraphIndex, contents: Contents): Run[] {
  let known = found.get(contents);
  if (known === undefined) {
    known = { runs: findRuns(index, contents) };
    found.set(contents, known);
  }
  return known.runs;
}

interface Repeats {
  /** The children in the first repeat, and those in the last. */
  members: string[];
  last: string[];
  times: number;
}

/** Put a panel around some children: links between them move inside, links across are cut at its border. */
function enclose(index: GraphIndex, shown: Surface, unrolled: ReadonlySet<string>, repeats: Repeats): void {
  const { members, last, times } = repeats;
  const inside = new Set(members);
  const id = groupId(members[0] ?? "");
  const outer: Link[] = [];
  const inner: Link[] = [];
  for (const link of shown.contents.links) {
    const from = link.from !== null && inside.has(link.from);
    const to = link.to !== null && inside.has(link.to);
    if (!from && !to) outer.push(link);
    else if (from && to) inner.push(link);
    else if (from) {
      inner.push({ ...link, to: null, toPort: link.fromPort });
      outer.push({ ...link, from: id });
    } else {
      inner.push({ ...link, from: null, fromPort: link.toPort });
      outer.push({ ...link, to: id });
    }
  }
  const contents: Contents = {
    uses: new Map(),
    children: members,
    links: distinctLinks(inner),
    inputs: [...new Set(inner.filter((link) => link.from === null).map((link) => link.fromPort))],
    outputs: [...new Set(inner.filter((link) => link.to === null).map((link) => link.toPort))],
  };
  shown.groups.set(id, { times, ...rolledInside(index, contents, unrolled), last: lastModule(index, last) });
  const at = shown.contents.children.indexOf(members[0] ?? "");
  const children = shown.contents.children.filter((child) => !inside.has(child));
  children.splice(at, 0, id);
  shown.contents = { ...shown.contents, children, links: distinctLinks(outer) };
}

function rolledInside(
  index: GraphIndex,
  contents: Contents,
  unrolled: ReadonlySet<string>,
): Pick<Group, "contents" | "runs"> {
  const runs = findRuns(index, contents).filter((run) => run.period === 1);
  const found = runs.map((run): [string, Rolled] => {
    const members = contents.children.slice(run.start, run.start + run.times);
    const id = runId(contents, run);
    return [id, { id, times: run.times, members }];
  });
  const rolled = runs.filter((run) => !unrolled.has(runId(contents, run)));
  return { contents: fold(index, contents, rolled), runs: new Map(found) };
}

function lastModule(index: GraphIndex, ids: string[]): string | undefined {
  return ids.filter((id) => index.nodes.get(id)?.kind === "module").pop();
}

function distinctLinks(links: Link[]): Link[] {
  const byEnds = new Map<string, Link>();
  for (const link of links) {
    const key = JSON.stringify([link.from, link.to, link.fromPort, link.toPort]);
    if (!byEnds.has(key)) byEnds.set(key, link);
  }
  return [...byEnds.values()];
}
