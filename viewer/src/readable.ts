/** What is open at first where nobody says anything: as much as reads at a glance. */
import { append } from "./append.js";
import { family, shortName } from "./families.js";
import { type GraphIndex, type ModuleNode, ROOT } from "./graph.js";
import { rolledUp } from "./surface.js";
import { boxOf, type Direction, isExpandable, type ModuleBox, type State, shownIndex } from "./view.js";

/** How long and how broad a picture may become, in px, by modules that nobody asked to open. */
export type Bounds = (direction: Direction) => { longest: number; broadest: number };

/** How large a picture is. */
export type Measure = (state: State) => { width: number; height: number };

/** What a picture is for. */
export interface Page {
  bounds: Bounds;
  measure: Measure;
  /** Paper has no room beyond its bounds; a screen can be scrolled. */
  isPaper: boolean;
  /** Longest line of a model that runs right, if it is not a screen's. */
  line?: number;
}

/** So many visible nodes still read at a glance. */
const READABLE = 40;
/** Where fewer than this are to be seen, one more may make the picture longer by a part. */
const FEW = 12;
const ROOM_FOR_FEW = 1.3;
/** Two towers side by side may be so much broader, in parts: one of them open tells half of it. */
const ROOM_FOR_TOWERS = 1.2;
/** What holds less of the model's parameters than this is opened last. */
const LITTLE = 0.01;

/**
 * Breadth first while the picture stays readable, what holds little of the model last. Modules of one class on one level
 * open together or, where that is too much, one of them as an example: the one repeated most, or else the first. Towers
 * open together or not at all.
 */
export function readable(traced: GraphIndex, start: State, page: Page, isClosed: (id: string) => boolean): string[] {
  const index = shownIndex(traced, start);
  const fits = fitting(start, page);
  const opened: string[] = [];
  const waiting: string[] = [];
  let visible = shownIn(index, ROOT).length;
  let breadth = 1;
  const open = (alike: string[]): string[] => {
    const cost = (ids: string[]) => ids.reduce((sum, id) => sum + shownIn(index, innermost(index, id)).length, 0);
    const roomFor = (ids: string[]) => (visible < FEW && ids.length === 1 && !page.isPaper ? ROOM_FOR_FEW : 1);
    const towers = new Set(alike.map((id) => kindOf(index, id))).size > 1;
    const room = towers && !page.isPaper ? ROOM_FOR_TOWERS : breadth;
    const choices = towers || isSequence(index, alike) ? [alike] : [alike, alike.slice(0, 1)];
    // a few layers in a row are news only where there is little else
    if (visible >= FEW && isSequence(index, alike) && !holdsBlocks(index, alike)) return [];
    const choice =
      choices.find((ids) => visible + cost(ids) <= READABLE && fits([...opened, ...ids], roomFor(ids), room)) ?? [];
    if (choice.length > 0) breadth = room;
    visible += cost(choice);
    opened.push(...choice);
    return choice.flatMap((id) => shownIn(index, innermost(index, id)));
  };
  const descend = (first: string[], waits: (alike: string[]) => boolean) => {
    for (let level = first; level.length > 0; ) {
      const groups = withTowers(
        index,
        byClass(
          index,
          level.filter((id) => !isClosed(id)),
        ),
      );
      waiting.push(...groups.filter(waits).flat());
      level = groups.filter((alike) => !waits(alike)).flatMap(open);
    }
  };
  descend(shownIn(index, ROOT), (alike) => isLight(index, alike));
  descend([...waiting], () => false);
  return opened;
}

/** Plain sequences have nothing in common but the class: one is no example of the others, unless it stands for them. */
function isSequence(index: GraphIndex, [first = ""]: string[]): boolean {
  const node = index.nodes.get(innermost(index, first));
  return node?.kind === "module" && shortName(node.class) === "Sequential" && timesOf(index, first) === 1;
}

/** Whether there are modules in it that are more than a layer or a sequence of layers. */
function holdsBlocks(index: GraphIndex, [first = ""]: string[]): boolean {
  return shownIn(index, innermost(index, first)).some((id) => {
    const node = index.nodes.get(innermost(index, id));
    return node?.kind === "module" && shortName(node.class) !== "Sequential" && isTelling(index, node);
  });
}

/** Modules of one class are alike; plain sequences are where they hold layers of the same classes. */
function kindOf(index: GraphIndex, id: string): string {
  const node = index.nodes.get(innermost(index, id));
  if (node?.kind !== "module") return "";
  if (shortName(node.class) !== "Sequential") return node.class;
  const layers = shownIn(index, node.id).map((id) => index.nodes.get(id));
  return [...new Set(layers.map((layer) => (layer?.kind === "module" ? layer.class : "")))].join();
}

function isLight(index: GraphIndex, ids: string[]): boolean {
  return weight(index, ids) < LITTLE * index.graph.model.parameters.total;
}

/** Parameters of some modules and of what they stand for; attention is what readers look for first. */
function weight(index: GraphIndex, ids: string[]): number {
  let sum = 0;
  for (const id of ids) {
    const node = index.nodes.get(innermost(index, id));
    if (node?.kind !== "module") continue;
    if (family(node) === "attention") return Number.MAX_VALUE;
    sum += node.parameters.total * timesOf(index, id);
  }
  return sum;
}

/** Whether a picture with some modules open is no larger than a page, or than the picture with all of them closed. */
function fitting(
  start: State,
  { bounds, measure }: Page,
): (expanded: string[], room: number, breadth: number) => boolean {
  const sides = (expanded: string[]) => {
    const { width, height } = measure({ ...start, expanded });
    return start.direction === "TB" ? { long: height, broad: width } : { long: width, broad: height };
  };
  const closed = sides([]);
  const { longest, broadest } = bounds(start.direction);
  return (expanded, room, breadth) => {
    const { long, broad } = sides(expanded);
    return long <= Math.max(longest * room, closed.long) && broad <= Math.max(broadest * breadth, closed.broad);
  };
}

const NOTHING_UNROLLED: ReadonlySet<string> = new Set();

/** Children on show in a container, those in panels included. */
function shownIn(index: GraphIndex, id: string): string[] {
  const { contents, groups } = rolledUp(index, id);
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
 * Modules worth opening, those of one class together; of equal ones, which would show the same twice, the first. Attention
 * is what readers look for, then what has most parameters.
 */
function byClass(index: GraphIndex, ids: string[]): string[][] {
  const groups = new Map<string, string[]>();
  const seen = new Set<string>();
  for (const id of ids) {
    const node = index.nodes.get(innermost(index, id));
    if (node?.kind !== "module" || !isOpenable(index, id) || !isTelling(index, node)) continue;
    const likeness = `${node.class} ${node.signature ?? node.id}`;
    if (seen.has(likeness)) continue;
    seen.add(likeness);
    append(groups, kindOf(index, id), id);
  }
  for (const group of groups.values()) group.sort((a, b) => timesOf(index, b) - timesOf(index, a));
  return [...groups.values()].sort((a, b) => weight(index, b) - weight(index, a));
}

/** With towers in one group: single modules side by side whose classes end with the same word, such as two `…Model`. */
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
  const role = (one: string) => /[A-Z][a-z]+$/.exec(kindOf(index, one))?.[0] ?? one;
  const holder = index.holder.get(id) ?? ROOT;
  return (
    new Set(known.map((one) => kindOf(index, one))).size === known.length &&
    known.every((one) => role(one) === role(id) && index.holder.get(one) === holder) &&
    known.every((one) => !leadsTo(index, holder, one, id) && !leadsTo(index, holder, id, one))
  );
}

/** Whether something goes from one child of a container to another. */
function leadsTo(index: GraphIndex, holder: string, from: string, to: string): boolean {
  const { links } = rolledUp(index, holder).contents;
  const reached = new Set([from]);
  // a set goes on with what is added meanwhile
  for (const at of reached) for (const link of links) if (link.from === at && link.to !== null) reached.add(link.to);
  return reached.has(to);
}

/** How often a module stands for itself and its like in a row. */
function timesOf(index: GraphIndex, id: string): number {
  const holder = index.holder.get(id) ?? ROOT;
  return (rolledUp(index, holder).runs.get(id) ?? boxed(index, id).run)?.times ?? 1;
}

export function isOpenable(index: GraphIndex, id: string): boolean {
  return isExpandable(index, innermost(index, id));
}

/** More loose ops than this, and more than modules, is computation: it can be opened, but is no architecture. */
const LOOSE = 6;

/** What a norm or an activation is made of is no news; a class of the author's own with only ops in it is. */
function isTelling(index: GraphIndex, node: ModuleNode): boolean {
  const inside = shownIn(index, node.id).map((id) => index.nodes.get(id)?.kind);
  const blocks = inside.filter((kind) => kind === "module").length;
  const ops = inside.filter((kind) => kind === "op").length;
  if (ops > LOOSE && ops > blocks) return false;
  return blocks > 0 || (!node.class.startsWith("torch.nn.") && ["other", "attention", "linear"].includes(family(node)));
}
