import { type Contents, contentsOf, type GraphIndex, type Link, ROOT } from "./graph.js";
import { findRuns, fold, type Run, repeat } from "./roll.js";

/** A run's first member stands for all of them. */
export interface Rolled {
  /** What the state calls the run. */
  id: string;
  times: number;
  /** Ids of what it stands for, in order. */
  members: string[];
}

/** Several children in a panel of their own that is always open. */
export interface Group extends Surface {
  /**
   * `repeat`: the first repeat of a run, for all of them. `step`: that of a recurrence, which calls the same modules again
   * and again. `steps`: such a run shown one by one, every step in a panel.
   */
  kind: "repeat" | "step" | "steps";
  times: number;
  /** The run that it stands for; empty for one of several steps. */
  run: string;
  /** Last module of the last repeat, for the name; place of the step among its like, from 1 on. */
  last: string | undefined;
  place: number;
}

/** What is directly inside a container, as it is shown: runs folded unless the reader unrolled them. */
export interface Surface {
  contents: Contents;
  /** Id of a run's first member → the run. Also for unrolled runs, so that they can be rolled up again. */
  runs: Map<string, Rolled>;
  /** Id of a panel among `contents.children` → what is in it. */
  groups: Map<string, Group>;
}

const GROUP = "group:";
const STEPS = "steps:";

/** The id of a panel around several children, by its first child. */
export function groupId(first: string): string {
  return GROUP + first;
}

/** Whether a panel holds the steps of a loop. */
export function holdsSteps(id: string): boolean {
  return id.startsWith(STEPS);
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

/** Every run of a surface, those inside its panels included. */
export function runsIn(shown: Surface): Rolled[] {
  return [...shown.runs.values(), ...[...shown.groups.values()].flatMap(runsIn)];
}

/** What of a container is shown. */
export function surface(index: GraphIndex, id: string, unrolled: ReadonlySet<string>): Surface {
  const contents = contentsOf(index, id);
  return rolled(index, contents, findRuns(index, contents), unrolled);
}

const NOTHING_UNROLLED: ReadonlySet<string> = new Set();

/** Container → what is on show in it, by graph. */
const surfaces = new WeakMap<GraphIndex, Map<string, Surface>>();

/** What of a container is shown as long as nothing is unrolled. */
export function rolledUp(index: GraphIndex, id: string): Surface {
  const known = surfaces.get(index) ?? new Map<string, Surface>();
  surfaces.set(index, known);
  const made = known.get(id) ?? surface(index, id, NOTHING_UNROLLED);
  known.set(id, made);
  return made;
}

/**
 * The run that is all there is in a container, where whatever crosses the container's border has a port of its own at the
 * run's first member: the two can be one box.
 */
export function onlyRun(index: GraphIndex, id: string): Rolled | null {
  const { contents, runs } = rolledUp(index, id);
  const run = runs.get(contents.children[0] ?? "");
  if (run === undefined || contents.children.length > 1) return null;
  const isPaired = (links: Link[]) =>
    new Set(links.map((link) => link.fromPort)).size === links.length &&
    new Set(links.map((link) => link.toPort)).size === links.length;
  const [ins, outs] = [
    contents.links.filter(({ from }) => from === null),
    contents.links.filter(({ to }) => to === null),
  ];
  return isPaired(ins) && isPaired(outs) ? run : null;
}

const memberships = new WeakMap<Surface, Set<string>>();

/** Whether a module is one of a run. */
export function isMember(index: GraphIndex, id: string): boolean {
  const around = rolledUp(index, index.holder.get(id) ?? ROOT);
  const members = memberships.get(around) ?? new Set(runsIn(around).flatMap((run) => run.members));
  memberships.set(around, members);
  return members.has(id);
}

function rolled(index: GraphIndex, contents: Contents, runs: Run[], unrolled: ReadonlySet<string>): Surface {
  const isUnrolled = (run: Run) => unrolled.has(runId(contents, run));
  const folded = fold(
    index,
    contents,
    runs.filter((run) => !isUnrolled(run)),
  );
  const shown: Surface = { contents: folded, runs: new Map(), groups: new Map() };
  for (const run of runs) {
    const first = repeat(contents, run, 0);
    const recurs = isRecurrence(index, contents, run);
    if (run.period > 1 && !isUnrolled(run)) {
      const inside = (inner: Contents) => rolled(index, inner, shortRuns(index, inner), unrolled);
      const last = lastModule(index, repeat(contents, run, run.times - 1));
      enclose(shown, first, groupId(first[0] ?? ""), (inner) => ({
        ...{ kind: recurs ? "step" : "repeat", times: run.times, run: runId(contents, run), last, place: 0 },
        ...inside(inner),
      }));
    } else if (recurs && isUnrolled(run) && (run.period > 1 || takesNew(contents, run))) {
      encloseSteps(shown, contents, run);
    } else {
      const members = contents.children.slice(run.start, run.start + run.period * run.times);
      shown.runs.set(first[0] ?? "", { id: runId(contents, run), times: run.times, members });
    }
  }
  return shown;
}

/** A loop that calls the same modules in each of its steps. */
function isRecurrence(index: GraphIndex, contents: Contents, run: Run): boolean {
  const paths = (which: number) =>
    repeat(contents, run, which).flatMap((id) => {
      const node = index.nodes.get(id);
      return node?.kind === "module" ? [node.path] : [];
    });
  return paths(0).join() === paths(run.times - 1).join();
}

/** Whether each repeat takes something of its own from outside: a time step, not a layer that is used again. */
function takesNew(contents: Contents, run: Run): boolean {
  const members = new Set(contents.children.slice(run.start, run.start + run.times));
  const taken = (which: number) => {
    const [member] = repeat(contents, run, which);
    const links = contents.links.filter((link) => link.to === member && !members.has(link.from ?? ""));
    return links.map((link) => `${link.from} ${link.fromPort}`).join();
  };
  // the first may be given the state that the others get from the one before
  return run.times > 2 && taken(1) !== taken(run.times - 1);
}

/** Every step of a recurrence in a panel, if it is more than one thing, and all of them in one. */
function encloseSteps(shown: Surface, contents: Contents, run: Run): void {
  const members = contents.children.slice(run.start, run.start + run.period * run.times);
  const id = runId(contents, run);
  enclose(shown, members, STEPS + id, (all) => {
    const inside: Surface = { contents: all, runs: new Map(), groups: new Map() };
    for (let which = 0; run.period > 1 && which < run.times; which += 1) {
      const step = repeat(contents, run, which);
      enclose(inside, step, groupId(step[0] ?? ""), (inner) => ({
        ...{ kind: "step", times: 1, run: "", last: undefined, place: which + 1 },
        ...{ contents: inner, runs: new Map(), groups: new Map() },
      }));
    }
    return { ...inside, kind: "steps", times: run.times, run: id, last: undefined, place: 0 };
  });
}

/** Inside a repeat, only blocks of one kind are rolled once more. */
function shortRuns(index: GraphIndex, contents: Contents): Run[] {
  return findRuns(index, contents).filter((run) => run.period === 1);
}

/** Put a panel around some children: links between them move inside, links across are cut at its border. */
function enclose(shown: Surface, members: string[], id: string, group: (inner: Contents) => Group): void {
  const inside = new Set(members);
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
  shown.groups.set(id, group(contents));
  const at = shown.contents.children.indexOf(members[0] ?? "");
  const children = shown.contents.children.filter((child) => !inside.has(child));
  children.splice(at, 0, id);
  shown.contents = { ...shown.contents, children, links: distinctLinks(outer) };
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
