/** Finds nodes by what a reader types (path, class, function, shape), grouped by what they are. */
import { contentsOf, type GraphIndex, type GraphNode, ROOT } from "../graph/graph.js";
import { shortName } from "../graph/names.js";
import { withNumbers } from "../graph/size_names.js";
import { tensorLabel } from "../view/labels/labels.js";
import { pathOf, typeOf } from "./naming.js";

interface Entry {
  node: GraphNode;
  /** The searchable text, on one line in lower case. */
  text: string;
  /** Where the node's own name begins in it, after the names of the modules around it. */
  own: number;
  /** Where the name ends, and class and shapes follow. */
  end: number;
}

/** Equal nodes of repeated blocks. */
export interface HitGroup {
  /** The name after the last number: `attn.c_proj`. */
  name: string;
  /** The part before it, with `*` for numbers that differ: `h.*`. */
  place: string;
  /** Class or function, unless the name contains it. */
  type: string;
  /** Ids in execution order. */
  ids: string[];
}

export interface Hits {
  groups: HitGroup[];
  /** Whether no node matches exactly. */
  isSimilar: boolean;
  /** Whether only nodes that the picture leaves out match. */
  isLeftOut: boolean;
}

const NUMBER = /(?<=^|\.)\d+(?=$|[./])/g;

export class SearchIndex {
  readonly #graph: GraphIndex;
  readonly #isShown: (id: string) => boolean;
  readonly #entries: Entry[];

  /** @param isShown whether the picture has a node once everything around it is open */
  constructor(graph: GraphIndex, isShown: (id: string) => boolean = () => true) {
    this.#graph = graph;
    this.#isShown = isShown;
    this.#entries = graph.graph.nodes.map((node) => entryOf(graph, node));
  }

  /**
   * The nodes that contain every word of a query, modules first. If there are none, those with the letters of the words in
   * order. Nodes that the picture leaves out are found only if no others match.
   */
  search(query: string): Hits {
    const words = normalise(query).split(/\s+/).filter(Boolean);
    if (words.length === 0) return { groups: [], isSimilar: false, isLeftOut: false };
    const exact = themselves(
      this.#entries.filter(({ text }) => words.every((word) => text.includes(word))),
      words,
    );
    const isSimilar = exact.length === 0;
    const found = isSimilar ? fuzzy(this.#entries, words) : exact.sort((a, b) => rankOf(a, words) - rankOf(b, words));
    const shown = found.filter(({ node }) => this.#isShown(node.id));
    const isLeftOut = shown.length === 0 && found.length > 0;
    const nodes = withoutOnlyChildren(this.#graph, isLeftOut ? found : shown);
    return { groups: grouped(nodes.map(({ node }) => node)), isSimilar: isSimilar && nodes.length > 0, isLeftOut };
  }
}

/** Without nodes that only match by their module: the ops of a module that was searched by its path. */
function themselves(found: Entry[], words: string[]): Entry[] {
  const matching = found.filter(({ text, own }) => words.some((word) => text.lastIndexOf(word) + word.length > own));
  return matching.length > 0 ? matching : found;
}

/** Modules before ops, and names before classes and shapes. */
function rankOf({ node, text, end }: Entry, words: string[]): number {
  const name = text.slice(0, end);
  return KINDS.indexOf(node.kind) * 2 + (words.every((word) => name.includes(word)) ? 0 : 1);
}

/** In the order of the list of hits; other kinds come first. */
const KINDS: string[] = ["module", "function", "op"];

function grouped(nodes: GraphNode[]): HitGroup[] {
  const groups = new Map<string, GraphNode[]>();
  for (const node of nodes) {
    const key = `${node.kind} ${placeless(nameOf(node))} ${typeOf(node)}`;
    groups.set(key, [...(groups.get(key) ?? []), node]);
  }
  return [...groups.values()].map(groupOf);
}

function groupOf(nodes: GraphNode[]): HitGroup {
  const [first] = nodes as [GraphNode];
  const text = nodes.length > 1 ? placeless(nameOf(first)) : pathOf(first);
  const [, place = "", name = text] = /^(.*(?<=^|\.)(?:\d+|\*))[./](.+)$/s.exec(text) ?? [];
  const type = shortName(typeOf(first));
  return { name, place, type: name.endsWith(type) ? "" : type, ids: nodes.map(({ id }) => id) };
}

/** A key that is equal for corresponding nodes of equal blocks. */
function placeless(name: string): string {
  return name.replace(NUMBER, "*").replace(/#\d+/g, "");
}

function nameOf(node: GraphNode): string {
  return node.kind === "module" ? node.path : pathOf(node);
}

function fuzzy(entries: Entry[], words: string[]): Entry[] {
  return entries
    .map((entry) => ({ entry, gaps: words.reduce((sum, word) => sum + gaps(entry.text, word), 0) }))
    .filter((hit) => hit.gaps < Number.POSITIVE_INFINITY)
    .sort((a, b) => a.gaps - b.gaps)
    .map(({ entry }) => entry);
}

/** A module with one op is drawn as one box, so both are one hit. */
function withoutOnlyChildren(index: GraphIndex, hits: Entry[]): Entry[] {
  const found = new Set(hits.map(({ node }) => node.id));
  return hits.filter(({ node }) => {
    const parent = index.parent.get(node.id) ?? ROOT;
    return !found.has(parent) || contentsOf(index, parent).children.length > 1;
  });
}

/** Most letters between two letters of a word, on average. */
const MAX_GAP = 3;
/** Most characters of a line that are compared: names in models can be megabytes long. */
const MAX_COMPARED = 500;

/** The fewest letters between those of a word; infinite if they are too far apart. */
export function gaps(text: string, word: string): number {
  const line = text.slice(0, MAX_COMPARED);
  const limit = MAX_GAP * word.length;
  const [first = "", ...rest] = word;
  let best = limit + 1;
  for (let start = line.indexOf(first); start >= 0; start = line.indexOf(first, start + 1)) {
    let at = start;
    for (const letter of rest) {
      at = line.indexOf(letter, at + 1);
      if (at < 0) break;
    }
    // a later start can't succeed where this one failed
    if (at < 0) break;
    best = Math.min(best, at - start + 1 - word.length);
  }
  return best > limit ? Number.POSITIVE_INFINITY : best;
}

function entryOf(index: GraphIndex, node: GraphNode): Entry {
  const path = normalise(pathOf(node));
  const outputs = node.kind === "output" ? [] : Object.values(node.outputs ?? {});
  const more = [typeOf(node), ...outputs.flatMap((tensor) => shapesOf(index, tensor))].join(" ");
  const own = Math.max(path.lastIndexOf("."), path.lastIndexOf("/")) + 1;
  return { node, text: `${path} ${normalise(more)}`, own, end: path.length };
}

/** A shape in names, which readers type with `x`, and in numbers. */
function shapesOf(index: GraphIndex, tensor: string): string[] {
  const [names, numbers] = [tensorLabel(index, tensor), tensorLabel(withNumbers(index), tensor)];
  return names === numbers ? [numbers] : [names, names.replaceAll("×", "x"), numbers];
}

/** Lower case, and `1×16×768` for a typed `1x16x768`. */
function normalise(text: string): string {
  return text.toLowerCase().replace(/(?<=\d)x(?=\d)/g, "×");
}
