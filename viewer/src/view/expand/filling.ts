/** Fills a screen with expanded modules, after exemplars of the main blocks. */
import { append } from "../../graph/append.js";
import { type GraphIndex, ROOT } from "../../graph/graph.js";
import { shortName } from "../../graph/names.js";
import { familyOf } from "../labels/op_families.js";
import { foldedContents } from "../repeats/contents.js";
import type { State } from "../state.js";
import { innermost, isInformative, isOpenable, shownIn, timesOf } from "./openable.js";
import { fitting, MAX_VISIBLE, nodesIn, type Page } from "./page_limits.js";
import { reached, twinsOf } from "./twins.js";

/** With fewer visible nodes, a single module may exceed the height by this factor. */
const FEW = 12;
const EXTRA_HEIGHT = 1.3;
/** Least share of the parameters in a sequence of layers that is also expanded in a larger picture. */
const HEAVY = 0.3;
/** Modules with a smaller share of the parameters than this are expanded last. */
const LIGHT = 0.01;

/**
 * Expands breadth first while the picture stays readable. Modules of one class on one level expand together or, beyond
 * the limits, only the most repeated one, else the first, as an example. Towers expand together or not at all.
 */
export class Filling {
  readonly #chosen: string[];
  readonly #deferred: string[] = [];
  readonly #fits: (expanded: string[], room?: number) => boolean;

  constructor(
    readonly index: GraphIndex,
    start: State,
    readonly page: Page,
    open: string[],
  ) {
    this.#chosen = [...open];
    this.#fits = fitting({ ...start, expanded: open }, page);
  }

  breadthFirst(isClosed: (id: string) => boolean): string[] {
    const descend = (first: string[], isDeferred: (group: string[]) => boolean) => {
      for (let level = first; level.length > 0; ) {
        const groups = withTowers(
          this.index,
          byClass(
            this.index,
            this.#openFirst(level).filter((id) => !isClosed(id)),
          ),
        );
        this.#deferred.push(...groups.filter(isDeferred).flat());
        level = groups.filter((group) => !isDeferred(group)).flatMap((group) => this.#open(group));
      }
    };
    descend(shownIn(this.index, ROOT), (group) => isLight(this.index, group));
    descend([...this.#deferred], () => false);
    return this.#chosen;
  }

  /** Open modules first: of modules with equal contents, only the first counts. */
  #openFirst(ids: string[]): string[] {
    const open = new Set(this.#chosen);
    return [...ids.filter((id) => open.has(id)), ...ids.filter((id) => !open.has(id))];
  }

  /** Opens as much of a group as fits, and returns what becomes visible. */
  #open(group: string[]): string[] {
    const open = group.filter((id) => this.#chosen.includes(id));
    const choice = this.#choice(group, open);
    this.#chosen.push(...choice);
    return [...open, ...choice].flatMap((id) => shownIn(this.index, innermost(this.index, id)));
  }

  #choice(group: string[], open: string[]): string[] {
    const { index } = this;
    const visible = nodesIn(index, this.#chosen);
    const rest = group.filter((id) => !open.includes(id));
    const isPlain = isSequence(index, group) && !holdsBlocks(index, group);
    const isHeavy = isPlain && weightOf(index, group) >= HEAVY * index.graph.model.parameters.total;
    // a plain sequence of layers is only worth showing in a small picture, or if it holds much of the model
    if (rest.length === 0 || (visible >= FEW && isPlain && !isHeavy)) return [];
    const towers = new Set(group.map((id) => groupKey(index, id))).size > 1;
    const isWhole = towers || isSequence(index, group) || open.length > 0;
    const choices = (isWhole ? [rest] : [rest, rest.slice(0, 1)]).map((ids) => ids.flatMap((id) => twinsOf(index, id)));
    const fits = (ids: string[]) => {
      const isAlone = ids.length === 1 && this.page.mayScroll;
      const few = visible < FEW && isAlone ? EXTRA_HEIGHT : 1;
      const room = isHeavy && isAlone ? this.page.tallest / this.page.height : few;
      const all = [...this.#chosen, ...ids];
      return nodesIn(index, all) <= MAX_VISIBLE && this.#fits(all, room);
    };
    return choices.find(fits) ?? [];
  }
}

/** Plain sequences share only their class, so one is no example of the others, unless it represents a run. */
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

/** Parameters of modules and of the runs that they represent. Attention comes first: readers look for it. */
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

/**
 * Modules worth expanding, grouped by class, heaviest group first. Of modules with equal contents only the first, because
 * the others would show the same.
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
