/** Chooses the modules to expand when the author gives no options. */
import { append } from "../graph/append.js";
import { type GraphIndex, type ModuleNode, ROOT } from "../graph/graph.js";
import { shortName } from "../graph/names.js";
import { boxOf, isExpandable, type ModuleBox } from "./boxes.js";
import { foldedContents } from "./contents.js";
import { familyOf } from "./op_families.js";
import { shownIndex } from "./shown_index.js";
import type { State } from "./state.js";
import { reached, twinsOf } from "./twins.js";

/** Size of the picture of a state, in px. */
export type Measure = (state: State) => { width: number; height: number };

/** The page or screen that a picture has to fit, in px. */
export interface Page {
  width: number;
  height: number;
  /** Height that the picture may have with everything collapsed, without and with bundles. */
  highest: number;
  highestBundled: number;
  measure: Measure;
  /** Whether the picture may be higher; paper is strict. */
  mayScroll: boolean;
  /** Whether children may be bundled for the picture to fit. */
  mayBundle: boolean;
  /** Longest line of a left-to-right model, if not a screen's. */
  line?: number;
}

/** Most nodes that are readable at a glance. */
const MAX_VISIBLE = 40;
/** With fewer visible nodes than this, a single module may exceed the height by this factor. */
const FEW = 12;
const EXTRA_HEIGHT = 1.3;
/** Modules with a smaller share of the parameters than this are expanded last. */
const LIGHT = 0.01;

/**
 * Expands breadth first while the picture stays readable, modules with few parameters last. Modules of one class on one
 * level expand together or, if that exceeds the limits, only the most repeated of them (else the first) as an example.
 * Towers expand together or not at all.
 */
export function defaultExpansion(
  traced: GraphIndex,
  start: State,
  page: Page,
  isClosed: (id: string) => boolean,
): string[] {
  const index = shownIndex(traced, start);
  const fits = fitting(start, page);
  const chosen: string[] = [];
  const deferred: string[] = [];
  let visible = shownIn(index, ROOT).length;
  const open = (group: string[]): string[] => {
    const cost = (ids: string[]) => ids.reduce((sum, id) => sum + shownIn(index, innermost(index, id)).length, 0);
    const roomFor = (ids: string[]) => (visible < FEW && ids.length === 1 && page.mayScroll ? EXTRA_HEIGHT : 1);
    const towers = new Set(group.map((id) => groupKey(index, id))).size > 1;
    const choices = (towers || isSequence(index, group) ? [group] : [group, group.slice(0, 1)]).map((ids) =>
      ids.flatMap((id) => twinsOf(index, id)),
    );
    // a plain sequence of layers is worth showing only in a small picture
    if (visible >= FEW && isSequence(index, group) && !holdsBlocks(index, group)) return [];
    const choice =
      choices.find((ids) => visible + cost(ids) <= MAX_VISIBLE && fits([...chosen, ...ids], roomFor(ids))) ?? [];
    visible += cost(choice);
    chosen.push(...choice);
    return choice.flatMap((id) => shownIn(index, innermost(index, id)));
  };
  const descend = (first: string[], isDeferred: (group: string[]) => boolean) => {
    for (let level = first; level.length > 0; ) {
      const candidates = level.filter((id) => !isClosed(id));
      const groups = withTowers(index, byClass(index, candidates));
      deferred.push(...groups.filter(isDeferred).flat());
      level = groups.filter((group) => !isDeferred(group)).flatMap(open);
    }
  };
  descend(shownIn(index, ROOT), (group) => isLight(index, group));
  descend([...deferred], () => false);
  return chosen;
}

/** Plain sequences share nothing but the class, so one is no example of the others (unless it stands for a run). */
function isSequence(index: GraphIndex, [first = ""]: string[]): boolean {
  const node = index.nodes.get(innermost(index, first));
  return node?.kind === "module" && shortName(node.class) === "Sequential" && timesOf(index, first) === 1;
}

/** Whether a module contains anything beyond layers and sequences of layers. */
function holdsBlocks(index: GraphIndex, [first = ""]: string[]): boolean {
  return shownIn(index, innermost(index, first)).some((id) => {
    const node = index.nodes.get(innermost(index, id));
    return node?.kind === "module" && shortName(node.class) !== "Sequential" && isInformative(index, node);
  });
}

/** Key of the modules that expand together: their class; for plain sequences, the classes of their layers. */
function groupKey(index: GraphIndex, id: string): string {
  const node = index.nodes.get(innermost(index, id));
  if (node?.kind !== "module") return "";
  if (shortName(node.class) !== "Sequential") return node.class;
  const layers = shownIn(index, node.id).map((id) => index.nodes.get(id));
  return [...new Set(layers.map((layer) => (layer?.kind === "module" ? layer.class : "")))].join();
}

function isLight(index: GraphIndex, ids: string[]): boolean {
  return weightOf(index, ids) < LIGHT * index.graph.model.parameters.total;
}

/** Parameters of modules and of the runs they stand for. Attention comes first: readers look for it. */
function weightOf(index: GraphIndex, ids: string[]): number {
  let sum = 0;
  for (const id of ids) {
    const node = index.nodes.get(innermost(index, id));
    if (node?.kind !== "module") continue;
    if (familyOf(index, node) === "attention") return Number.MAX_VALUE;
    sum += node.parameters.total * timesOf(index, id);
  }
  return sum;
}

/** Returns a test whether a picture is no larger than the page, or than the picture with everything collapsed. */
function fitting(start: State, { width, height, measure }: Page): (expanded: string[], room: number) => boolean {
  const closed = measure(start);
  return (expanded, room) => {
    const drawn = measure({ ...start, expanded });
    return drawn.width <= Math.max(width, closed.width) && drawn.height <= Math.max(height * room, closed.height);
  };
}

const NOTHING_UNROLLED: ReadonlySet<string> = new Set();

/** Visible children of a container, including those in group panels. */
function shownIn(index: GraphIndex, id: string): string[] {
  const { contents, groups } = foldedContents(index, id);
  return contents.children.flatMap((child) => groups.get(child)?.contents.children ?? [child]);
}

function boxed(index: GraphIndex, id: string): ModuleBox {
  return boxOf(index, id, NOTHING_UNROLLED);
}

function innermost(index: GraphIndex, id: string): string {
  const { chain } = boxed(index, id);
  return chain[chain.length - 1] ?? id;
}

/**
 * Modules worth expanding, grouped by class, heaviest group first. Of modules with equal contents only the first: the
 * others would show the same again.
 */
function byClass(index: GraphIndex, ids: string[]): string[][] {
  const groups = new Map<string, string[]>();
  const seen = new Set<string>();
  for (const id of ids) {
    const node = index.nodes.get(innermost(index, id));
    if (node?.kind !== "module" || !isOpenable(index, id) || !isInformative(index, node)) continue;
    const contentKey = `${node.class} ${node.signature ?? node.id}`;
    if (seen.has(contentKey)) continue;
    seen.add(contentKey);
    append(groups, groupKey(index, id), id);
  }
  for (const group of groups.values()) group.sort((a, b) => timesOf(index, b) - timesOf(index, a));
  return [...groups.values()].sort((a, b) => weightOf(index, b) - weightOf(index, a));
}

/** Merges towers into one group: parallel modules whose class names end with the same word, such as two `…Model`. */
function withTowers(index: GraphIndex, groups: string[][]): string[][] {
  const result: string[][] = [];
  for (const group of groups) {
    const [first = ""] = group;
    const other = result.find((known) => group.length === 1 && areTowers(index, known, first));
    if (other === undefined) result.push(group);
    else other.push(first);
  }
  return result;
}

function areTowers(index: GraphIndex, known: string[], id: string): boolean {
  const role = (one: string) => /[A-Z][a-z]+$/.exec(groupKey(index, one))?.[0] ?? one;
  const parent = index.parent.get(id) ?? ROOT;
  return (
    new Set(known.map((one) => groupKey(index, one))).size === known.length &&
    known.every((one) => role(one) === role(id) && index.parent.get(one) === parent) &&
    known.every((one) => !leadsTo(index, parent, one, id) && !leadsTo(index, parent, id, one))
  );
}

/** Whether a path leads from one child of a container to another. */
function leadsTo(index: GraphIndex, parent: string, from: string, to: string): boolean {
  return reached(foldedContents(index, parent).contents.links, from).has(to);
}

/** Length of the run that a module stands for; 1 without a run. */
function timesOf(index: GraphIndex, id: string): number {
  const parent = index.parent.get(id) ?? ROOT;
  return (foldedContents(index, parent).runs.get(id) ?? boxed(index, id).run)?.times ?? 1;
}

export function isOpenable(index: GraphIndex, id: string): boolean {
  return isExpandable(index, innermost(index, id));
}

/** A module with more ops than this, and more ops than modules, is computation rather than architecture. */
const MAX_OPS = 6;

/** Whether the inside shows architecture: the ops of a norm or an activation don't, those of a user's own class do. */
function isInformative(index: GraphIndex, node: ModuleNode): boolean {
  const inside = shownIn(index, node.id).map((id) => index.nodes.get(id)?.kind);
  const blocks = inside.filter((kind) => kind === "module").length;
  const ops = inside.filter((kind) => kind === "op").length;
  if (ops > MAX_OPS && ops > blocks) return false;
  return (
    blocks > 0 ||
    (!node.class.startsWith("torch.nn.") && ["other", "attention", "linear"].includes(familyOf(index, node)))
  );
}
