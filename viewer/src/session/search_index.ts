/** Finds nodes by what a reader types: path, class, function, shape. */
import { contentsOf, type GraphIndex, type GraphNode, ROOT } from "../graph/graph.js";
import { tensorLabel } from "../view/labels.js";
import { pathOf, typeOf } from "./naming.js";

interface Entry {
  id: string;
  /** Everything that can be searched, on one line in lower case. */
  text: string;
}

export class SearchIndex {
  readonly #graph: GraphIndex;
  readonly #entries: Entry[];

  constructor(graph: GraphIndex) {
    this.#graph = graph;
    this.#entries = graph.graph.nodes.map((node) => ({ id: node.id, text: normalise(textOf(graph, node)) }));
  }

  /**
   * Ids of the nodes that contain every word of a query, in execution order. Where no node does: those that have the
   * words' letters in order, closest together first.
   */
  search(query: string): string[] {
    const words = normalise(query).split(/\s+/).filter(Boolean);
    if (words.length === 0) return [];
    const exact = this.#entries.filter(({ text }) => words.every((word) => text.includes(word)));
    const hits = exact.length > 0 ? exact : fuzzy(this.#entries, words);
    return withoutOnlyChildren(
      this.#graph,
      hits.map(({ id }) => id),
    );
  }
}

function fuzzy(entries: Entry[], words: string[]): Entry[] {
  return entries
    .map((entry) => ({ entry, gaps: words.reduce((sum, word) => sum + gaps(entry.text, word), 0) }))
    .filter((hit) => hit.gaps < Number.POSITIVE_INFINITY)
    .sort((a, b) => a.gaps - b.gaps)
    .map(({ entry }) => entry);
}

/** A module that holds one op is drawn as one box, so both are one hit. */
function withoutOnlyChildren(index: GraphIndex, hits: string[]): string[] {
  const found = new Set(hits);
  return hits.filter((id) => {
    const parent = index.parent.get(id) ?? ROOT;
    return !found.has(parent) || contentsOf(index, parent).children.length > 1;
  });
}

/** Letters that may stand between those of a word, for each of them. */
const MAX_GAP = 3;
/** How far into a line letters are compared: names in models can be megabytes long. */
const MAX_COMPARED = 500;

/** How many letters stand between those of a word where they are closest together; infinite where they are too far apart. */
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
    // a later start can't find what this one did not
    if (at < 0) break;
    best = Math.min(best, at - start + 1 - word.length);
  }
  return best > limit ? Number.POSITIVE_INFINITY : best;
}

function textOf(index: GraphIndex, node: GraphNode): string {
  const outputs = node.kind === "output" ? [] : Object.values(node.outputs ?? {});
  return [pathOf(node), typeOf(node), ...outputs.map((tensor) => tensorLabel(index, tensor))].join(" ");
}

/** Lower case, and `1×16×768` for a typed `1x16x768`. */
function normalise(text: string): string {
  return text.toLowerCase().replace(/(?<=\d)x(?=\d)/g, "×");
}
