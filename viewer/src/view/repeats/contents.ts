import { append } from "../../graph/append.js";
import { type Contents, contentsOf, type GraphIndex, type Link, ROOT } from "../../graph/graph.js";
import { addStrongest } from "../../graph/indexing.js";
import { memoByObject, memoInObject } from "../../shared/memo.js";
import { fold } from "./fold.js";
import { areAlike, findRuns, type Run, repeat, runsWithin } from "./repeats.js";

/** A run shown as its first member. */
export interface FoldedRun {
  /** Id of the run in the state. */
  id: string;
  times: number;
  /** Whether the repeats are a loop. */
  isLoop: boolean;
  /** Ids of all members, in order. */
  members: string[];
}

/** Several children in a panel that is always open. */
export interface Group extends ShownContents {
  /**
   * `repeat`: the first repeat of a run, which represents all. `step`: the same for a loop. `steps`: an unrolled loop, with
   * a panel for each step.
   */
  kind: "repeat" | "step" | "steps";
  /** Whether all repeats have the same weights. */
  isShared: boolean;
  times: number;
  /** The run that it represents; empty for one of several steps. */
  run: string;
  /** Ids of all children that it represents; empty unless the run is folded. */
  members: string[];
  /** The first child of each repeat; empty for one of several steps. */
  firsts: string[];
  /** Number of the step, from 1; 0 if it is not one of several. */
  step: number;
}

/** The direct contents of a container as shown: runs are folded unless the reader unrolled them. */
export interface ShownContents {
  contents: Contents;
  /** First member → its run, including unrolled runs, which can be folded again. */
  runs: Map<string, FoldedRun>;
  /** Id of a panel in `contents.children` → its contents. */
  groups: Map<string, Group>;
}

const GROUP = "group:";
const STEPS = "steps:";

/** The id of a panel around several children, by its first child. */
function groupId(first: string): string {
  return GROUP + first;
}

/** Whether a panel holds the steps of a loop. */
export function holdsSteps(id: string): boolean {
  return id.startsWith(STEPS);
}

/** Id of a run in the state: its first member or, if repeats have several, the panel around the first repeat. */
export function runId(contents: Contents, run: Run): string {
  const head = contents.children[run.start] ?? "";
  return run.period === 1 ? head : groupId(head);
}

/** The first member of a run. */
export function firstMember(run: string): string {
  return run.startsWith(GROUP) ? run.slice(GROUP.length) : run;
}

/** Every run of shown contents, including those inside panels. */
export function runsIn(shown: ShownContents): FoldedRun[] {
  return [...shown.runs.values(), ...[...shown.groups.values()].flatMap(runsIn)];
}

/** @param returns what the container passes to its next call in a loop */
export function shownContents(
  index: GraphIndex,
  id: string,
  unrolled: ReadonlySet<string>,
  returns: readonly Link[] = [],
): ShownContents {
  const contents = contentsOf(index, id);
  return withRunsFolded(index, { ...contents, returns: [...returns] }, findRuns(index, contents), unrolled);
}

const NOTHING_UNROLLED: ReadonlySet<string> = new Set();

/** The contents of a container with every run folded. */
export const foldedContents = memoInObject((index: GraphIndex, id: string) =>
  shownContents(index, id, NOTHING_UNROLLED),
);

/**
 * The run that is the only content of a container, if each tensor across the border has its own port at the run's first
 * member. Container and run can then share one box.
 */
export function onlyRun(index: GraphIndex, id: string): FoldedRun | null {
  const { contents, runs } = foldedContents(index, id);
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

const membersIn = memoByObject((shown: ShownContents) => new Set(runsIn(shown).flatMap((run) => run.members)));

/** Whether a module belongs to a run. */
export function isMember(index: GraphIndex, id: string): boolean {
  return membersIn(foldedContents(index, index.parent.get(id) ?? ROOT)).has(id);
}

function withRunsFolded(
  index: GraphIndex,
  contents: Contents,
  runs: Run[],
  unrolled: ReadonlySet<string>,
): ShownContents {
  const isUnrolled = (run: Run) => unrolled.has(runId(contents, run));
  const folded = fold(
    index,
    contents,
    runs.filter((run) => !isUnrolled(run)),
  );
  const shown: ShownContents = { contents: folded, runs: new Map(), groups: new Map() };
  const panels: Panel[] = [];
  for (const run of runs) {
    const first = repeat(contents, run, 0);
    const members = contents.children.slice(run.start, run.start + run.period * run.times);
    const isShared = areAlike(index, contents, run);
    const recurs = isShared && run.isChained;
    if (run.period > 1 && !isUnrolled(run)) {
      const inside = (inner: Contents) => withRunsFolded(index, inner, runsWithin(index, contents, run), unrolled);
      const firsts = members.filter((_, i) => i % run.period === 0);
      const group = (inner: Contents): Group => ({
        ...{ kind: recurs ? "step" : "repeat", isShared, times: run.times, run: runId(contents, run), step: 0 },
        ...{ members, firsts, ...inside(inner) },
      });
      panels.push({ id: groupId(first[0] ?? ""), members: first, group });
    } else if (recurs && isUnrolled(run) && (run.period > 1 || readsDifferentTensors(contents, run))) {
      panels.push(stepsPanel(contents, run));
    } else {
      shown.runs.set(first[0] ?? "", { id: runId(contents, run), times: run.times, isLoop: recurs, members });
    }
  }
  enclose(shown, panels);
  return shown;
}

/** Whether a run is a loop: each repeat reads the one before and calls the same modules with the same weights. */
export function isLoop(index: GraphIndex, contents: Contents, run: Run): boolean {
  return run.isChained && areAlike(index, contents, run);
}

/** Whether repeats read different tensors from outside, as time steps do, unlike a layer that is applied repeatedly. */
function readsDifferentTensors(contents: Contents, run: Run): boolean {
  const members = new Set(contents.children.slice(run.start, run.start + run.times));
  const read = (which: number) => {
    const [member] = repeat(contents, run, which);
    const links = contents.links.filter((link) => link.to === member && !members.has(link.from ?? ""));
    return links.map((link) => `${link.from} ${link.fromPort}`).join();
  };
  // the first repeat may read its initial state from outside
  return run.times > 2 && read(1) !== read(run.times - 1);
}

/** A panel around all steps and, if a step has several children, one around each. */
function stepsPanel(contents: Contents, run: Run): Panel {
  const id = runId(contents, run);
  const nothing = { run: "", members: [], firsts: [], step: 0 };
  const group = (all: Contents): Group => {
    const inside: ShownContents = { contents: all, runs: new Map(), groups: new Map() };
    const steps = Array.from({ length: run.period > 1 ? run.times : 0 }, (_, i): Panel => {
      const members = repeat(contents, run, i);
      const step = (inner: Contents): Group => ({
        ...{ ...nothing, kind: "step", isShared: true, times: 1, step: i + 1 },
        ...{ contents: inner, runs: new Map(), groups: new Map() },
      });
      return { id: groupId(members[0] ?? ""), members, group: step };
    });
    enclose(inside, steps);
    return { ...inside, ...nothing, kind: "steps", isShared: true, times: run.times, run: id };
  };
  return { id: STEPS + id, members: contents.children.slice(run.start, run.start + run.period * run.times), group };
}

/** A panel to put around some children. */
interface Panel {
  id: string;
  members: string[];
  group: (inner: Contents) => Group;
}

/**
 * Put panels around children. Links inside a panel move into it; links across its border are cut there. One pass over all
 * links, because a loop may have thousands of steps.
 */
function enclose(shown: ShownContents, panels: Panel[]): void {
  if (panels.length === 0) return;
  const around = new Map(panels.flatMap((panel) => panel.members.map((id) => [id, panel])));
  const panelOf = (id: string | null) => (id === null ? undefined : around.get(id));
  const { children, links, returns = [] } = shown.contents;
  const inner = new Map<Panel, Link[]>();
  const outer = links.flatMap((link) => cut(link, panelOf(link.from), panelOf(link.to), inner));
  const within = new Map<Panel, Link[]>();
  for (const link of returns) if (panelOf(link.from) === panelOf(link.to)) addTo(within, panelOf(link.from), link);
  for (const panel of panels) {
    const contents = insideOf(panel.members, inner.get(panel) ?? [], within.get(panel) ?? []);
    shown.groups.set(panel.id, panel.group(contents));
  }
  const kept = new Set(children.map((child) => panelOf(child)?.id ?? child));
  shown.contents = { ...shown.contents, children: [...kept], links: distinctLinks(outer) };
}

/** Adds the parts of a link inside panels to their links, and returns the part outside. */
function cut(link: Link, from: Panel | undefined, to: Panel | undefined, inner: Map<Panel, Link[]>): Link[] {
  if (from === to) {
    addTo(inner, from, link);
    return from === undefined ? [link] : [];
  }
  addTo(inner, from, { ...link, to: null, toPort: link.fromPort });
  addTo(inner, to, { ...link, from: null, fromPort: link.toPort });
  return [{ ...link, from: from?.id ?? link.from, to: to?.id ?? link.to }];
}

function addTo(links: Map<Panel, Link[]>, panel: Panel | undefined, link: Link): void {
  if (panel !== undefined) append(links, panel, link);
}

function insideOf(children: string[], links: Link[], returns: Link[]): Contents {
  return {
    ...{ uses: new Map(), children, links: distinctLinks(links), returns },
    inputs: [...new Set(links.filter((link) => link.from === null).map((link) => link.fromPort))],
    outputs: [...new Set(links.filter((link) => link.to === null).map((link) => link.toPort))],
  };
}

function distinctLinks(links: Link[]): Link[] {
  const byEnds = new Map<string, Link>();
  for (const link of links) {
    const key = JSON.stringify([link.from, link.to, link.fromPort, link.toPort]);
    addStrongest(byEnds, key, link);
  }
  return [...byEnds.values()];
}
