import { append } from "../../graph/append.js";
import {
  ancestors,
  contentsOf,
  costOf,
  type GraphIndex,
  type GraphNode,
  type ModuleNode,
  ROOT,
} from "../../graph/graph.js";
import { memoByObject } from "../../shared/memo.js";
import { isPlain, mostInformative } from "../labels/container_words.js";
import { familyOf, LAYERS } from "../labels/op_families.js";
import { joinIn } from "./joins.js";
import { boxed, entriesIn, innermost, isInformative, isOpenable, membersOf, type ShownChild } from "./openable.js";
import { reached } from "./twins.js";

/** Finds an exemplar of each class of main blocks: they show best what a model consists of. */

/** A visible block. */
interface Block {
  /** The boxes around it, outermost first, and the block itself. */
  path: string[];
  /** The classes of the wrappers around it, and its own. */
  classes: string[];
  /** Equal for blocks with equal ops and classes inside. */
  shape: string;
  /** The same without ops, and the number of ops. */
  modules: string;
  ops: number;
  times: number;
  cost: number;
  weights: number;
}

/** Least share of a model's cost in a class of main blocks. */
const CARRIES = 0.1;
/** Or least share of its weights: a decoder that is called with a few tokens costs little. */
const WEIGHS = 0.2;
/** Least share of a wrapper's cost in its blocks, and in its blocks of one class. */
const MAINLY = 0.5;
const NEARLY_ALL = 0.7;

/**
 * For each class of main blocks, the costliest first, the paths to its exemplars, the most typical first. Blocks of one
 * class in different towers count as several classes; all but the costliest come last.
 */
export const exemplars = memoByObject((index: GraphIndex): string[][][] => {
  const survey = new Survey(index);
  const found = survey.blocks();
  const all = costOfAll(found);
  const classOf = ({ classes }: Block) => classes[classes.length - 1] ?? "";
  const isNested = ([first]: Block[]) => first !== undefined && survey.nested.has(classOf(first));
  const isOwn = (blocks: Block[]) =>
    timesOfAll(blocks) > 1 && blocks.every((block) => isOfModel(index, classOf(block)));
  // a class that contains itself is the idea of a model, whatever its stem costs; a backbone from elsewhere is not
  const rank = (blocks: Block[]) => 2 * Number(isNested(blocks)) + Number(isOwn(blocks));
  const byClass = grouped(found, classOf).sort((a, b) => rank(b) - rank(a));
  const weightsOf = (blocks: Block[]) => blocks.reduce((sum, block) => sum + block.weights, 0);
  const weights = Math.max(index.graph.model.parameters.total, weightsOf(found));
  const carrying = byClass.filter(
    (blocks) => costOfAll(blocks) >= CARRIES * all || weightsOf(blocks) >= Math.max(1, WEIGHS * weights),
  );
  const towers = carrying.map((blocks) => grouped(blocks, ({ classes }) => classes.join(" ")));
  const ranked = [...towers.map(([first = []]) => first), ...towers.flatMap((others) => others.slice(1))];
  return ranked.map((blocks) => {
    const alike = grouped(blocks, ({ shape }) => shape, timesOfAll);
    return byPriority(index, alike).flatMap((same) => mostTypical(same).map(({ path }) => path));
  });
});

/** Whether a class comes from the package of the model's class, such as the layers of DETR, and not those of its ResNet. */
function isOfModel(index: GraphIndex, name: string): boolean {
  const [, around] = /^(.+)\.[^.]+\.[^.]+$/.exec(index.graph.model.class) ?? [];
  return around !== undefined && name.startsWith(`${around}.`);
}

/** Blocks with more ops count as typical if there are at least this share of those with fewer. */
const TYPICAL = 0.4;

/** Orders blocks: those with a skip first; of blocks with equal modules, those with more ops between them first. */
function byPriority(index: GraphIndex, alike: Block[][]): Block[][] {
  const described = alike.map((blocks) => {
    const [{ path = [], modules = "", ops = 0 } = {}] = blocks;
    const isSkip = joinIn(index, path[path.length - 1] ?? "") === "skip";
    return { blocks, ops, isSkip, kind: `${isSkip} ${modules}`, times: timesOfAll(blocks) };
  });
  // the most frequent first
  const kinds = [...new Set(described.map(({ kind }) => kind))];
  const most = new Map([...described].reverse().map(({ kind, times }) => [kind, times]));
  const opsOf = ({ ops, kind, times }: (typeof described)[0]) => (times >= TYPICAL * (most.get(kind) ?? 0) ? ops : -1);
  const place = ({ kind, isSkip }: (typeof described)[0]) => kinds.indexOf(kind) - (isSkip ? kinds.length : 0);
  // a comparison of only some pairs would be no order, and differ between browsers
  return described.sort((a, b) => place(a) - place(b) || opsOf(b) - opsOf(a)).map(({ blocks }) => blocks);
}

function costOfAll(blocks: Block[]): number {
  return blocks.reduce((sum, { cost }) => sum + cost, 0);
}

/** In each container, blocks that represent several first: the block before them may read something else. */
function mostTypical(blocks: Block[]): Block[] {
  const beside = new Map<string, Block[]>();
  for (const block of blocks) append(beside, block.path.slice(0, -1).join(" "), block);
  return [...beside.values()].flatMap((some) => some.sort((a, b) => b.times - a.times));
}

function timesOfAll(blocks: Block[]): number {
  return blocks.reduce((sum, { times }) => sum + times, 0);
}

/** Blocks by a key, the largest group first. */
function grouped(blocks: Block[], keyOf: (block: Block) => string, size = costOfAll): Block[][] {
  const groups = new Map<string, Block[]>();
  for (const block of blocks) append(groups, keyOf(block), block);
  return [...groups.values()].sort((a, b) => size(b) - size(a));
}

class Survey {
  readonly #calls = new Map<string, number>();
  readonly #layers = new Map<string, number>();
  readonly #wrappers = new Map<string, boolean>();
  /** Classes whose modules contain another of their class, such as an hourglass around a smaller one. */
  readonly nested = new Set<string>();

  constructor(readonly index: GraphIndex) {
    for (const node of index.graph.nodes) {
      if (node.kind !== "module") continue;
      this.#calls.set(node.class, (this.#calls.get(node.class) ?? 0) + 1);
      if (!isPlain(node) && ancestors(index, node.id).some((id) => isOf(index.nodes.get(id), node.class)))
        this.nested.add(node.class);
    }
  }

  /** The outermost modules in a container that aren't wrappers. */
  blocks(id = ROOT, path: string[] = [], classes: string[] = [], times = 1): Block[] {
    return this.#parts(id).flatMap((part): Block[] => {
      const node = this.#module(part.id);
      if (node === undefined) return [];
      const inner = innermost(this.index, part.id);
      const names = isPlain(node) ? classes : [...classes, node.class];
      const all = times * part.times;
      const way = [...path, ...this.#functionsAround(part.id), part.id];
      if (this.#isWrapper(part.id)) return this.blocks(inner, way, names, all);
      const kinds = this.#kinds(inner);
      return [
        {
          path: [...way, ...this.#core(part.id)],
          classes: [...classes, node.class],
          ...kinds,
          times: all,
          cost: times * this.#cost(part),
          weights: all * node.parameters.total,
        },
      ];
    });
  }

  /** The sequence with all layers of a block, if there is one. */
  #core(id: string): string[] {
    const holding = entriesIn(this.index, innermost(this.index, id)).filter((entry) => this.#layersIn(entry.id) > 0);
    const [only] = holding;
    const node = only && this.index.nodes.get(innermost(this.index, only.id));
    return holding.length === 1 && node?.kind === "module" && isPlain(node) ? [only?.id ?? ""] : [];
  }

  /** The children of a container that are blocks or wrappers, with several layers inside. */
  #parts(id: string): ShownChild[] {
    return entriesIn(this.index, id).flatMap((entry): ShownChild[] => {
      if (this.index.nodes.get(entry.id)?.kind === "function") {
        return this.#parts(entry.id).map((part) => ({ ...part, times: part.times * entry.times }));
      }
      const node = this.index.nodes.get(innermost(this.index, entry.id));
      if (node?.kind !== "module" || !isOpenable(this.index, entry.id)) return [];
      const shows = isInformative(this.index, node) || this.#isWrapper(entry.id);
      return this.#layersIn(node.id) > 1 && shows ? [entry] : [];
    });
  }

  /** The calls of functions around a module in its container, the outermost first. */
  #functionsAround(id: string): string[] {
    const around = ancestors(this.index, id);
    return around
      .slice(
        0,
        around.findIndex((at) => this.index.nodes.get(at)?.kind !== "function"),
      )
      .reverse();
  }

  /** The module of a box whose class says most. */
  #module(id: string): ModuleNode | undefined {
    return mostInformative(this.index, boxed(this.index, id).chain);
  }

  #cost({ id, times }: ShownChild): number {
    const node = this.index.nodes.get(innermost(this.index, id));
    if (node?.kind !== "module") return 0;
    return times * costOf(this.index, node);
  }

  /** Whether a module only wraps blocks: a plain container, the model's body, a row of blocks of one class. */
  #isWrapper(id: string): boolean {
    const known = this.#wrappers.get(id) ?? this.#holdsBlocks(id);
    this.#wrappers.set(id, known);
    return known;
  }

  #holdsBlocks(id: string): boolean {
    const node = this.#module(id);
    const inner = innermost(this.index, id);
    const parts = this.#parts(inner);
    const [own, inside] = [this.#cost({ id, times: 1 }), this.#costAll(parts)];
    if (node === undefined || parts.length === 0 || inside < MAINLY * own || this.nested.has(node.class)) return false;
    if (isPlain(node) || this.#calls.get(node.class) === 1) return true;
    const byClass = new Map<string, ShownChild[]>();
    for (const part of parts) append(byClass, this.#module(part.id)?.class ?? "", part);
    const [main = []] = [...byClass.values()].sort((a, b) => this.#costAll(b) - this.#costAll(a));
    if (this.#costAll(main) < NEARLY_ALL * own || this.#weights(main) < NEARLY_ALL * node.parameters.total)
      return false;
    const [only] = main;
    return main.length === 1 && only?.times === 1 ? this.#isWrapper(only.id) : this.#isRow(inner, main);
  }

  /** Also by weights: a layer that reads a long memory spends nearly everything on attention, but isn't a row of attentions. */
  #weights(entries: ShownChild[]): number {
    return entries.reduce((sum, { id, times }) => sum + times * (this.#module(id)?.parameters.total ?? 0), 0);
  }

  #costAll(entries: ShownChild[]): number {
    return entries.reduce((sum, entry) => sum + this.#cost(entry), 0);
  }

  /** Whether the last of several blocks depends on the first. */
  #isRow(container: string, blocks: ShownChild[]): boolean {
    const members = blocks.flatMap(({ id }) => membersOf(this.index, container, id));
    const [first = "", last = ""] = [members[0], members[members.length - 1]];
    const { links } = contentsOf(this.index, this.index.parent.get(first) ?? ROOT);
    return reached(links, first).has(last);
  }

  /** The classes and functions inside a module. */
  #kinds(id: string): Pick<Block, "shape" | "modules" | "ops"> {
    const inside = entriesIn(this.index, id).map(({ id: child }) => {
      const node = this.index.nodes.get(child);
      if (node?.kind !== "module") {
        const isOp = node?.kind === "op";
        return { shape: isOp ? node.name : (node?.kind ?? ""), modules: "", ops: Number(isOp) };
      }
      const { shape, modules, ops } = this.#kinds(child);
      return { shape: `${node.class}(${shape})`, modules: `${node.class}(${modules})`, ops };
    });
    return {
      shape: inside.map(({ shape }) => shape).join(),
      modules: inside.map(({ modules }) => modules).join(""),
      ops: inside.reduce((sum, { ops }) => sum + ops, 0),
    };
  }

  /** The number of layers with weights, or attention, in a module. */
  #layersIn(id: string): number {
    const known = this.#layers.get(id) ?? this.#countLayers(id);
    this.#layers.set(id, known);
    return known;
  }

  #countLayers(id: string): number {
    const inside = entriesIn(this.index, id);
    const node = this.index.nodes.get(id);
    if (inside.length === 0) return node !== undefined && LAYERS.includes(familyOf(this.index, node)) ? 1 : 0;
    return inside.reduce((sum, entry) => sum + entry.times * this.#layersIn(entry.id), 0);
  }
}

function isOf(node: GraphNode | undefined, name: string): boolean {
  return node?.kind === "module" && node.class === name;
}
