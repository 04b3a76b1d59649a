/** Finding nodes by what a reader types: path, class, function, shape. */
import { contentsOf, type GraphIndex, type GraphNode, ROOT } from "../graph.js";
import { tensorLabel } from "../labels.js";
import { kindOf, pathOf } from "./facts.js";

interface Entry {
  id: string;
  /** Lower case; one line of everything that can be searched. */
  text: string;
}

const entries = new WeakMap<GraphIndex, Entry[]>();

/**
 * Ids of the nodes that match, in the order they run. Words are looked for as they are, each anywhere; where nothing has
 * them all, their letters in order will do, best first.
 */
export function find(index: GraphIndex, query: string): string[] {
  const words = normal(query).split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  const all = entriesOf(index);
  const exact = all.filter(({ text }) => words.every((word) => text.includes(word)));
  if (exact.length > 0)
    return withoutInsides(
      index,
      exact.map(({ id }) => id),
    );
  const loose = all
    .map(({ id, text }) => ({ id, spread: words.reduce((sum, word) => sum + spread(text, word), 0) }))
    .filter((hit) => hit.spread < Number.POSITIVE_INFINITY)
    .sort((a, b) => a.spread - b.spread);
  return withoutInsides(
    index,
    loose.map(({ id }) => id),
  );
}

/** A module that holds one op shows as one box: one hit. */
function withoutInsides(index: GraphIndex, hits: string[]): string[] {
  const found = new Set(hits);
  return hits.filter((id) => {
    const holder = index.holder.get(id) ?? ROOT;
    return !found.has(holder) || contentsOf(index, holder).children.length > 1;
  });
}

/** So many letters between those of a word, for each of them; scattered over a whole line they are no hit. */
const MOST_APART = 3;
/** Only so much of a line is looked at letter by letter: models put megabytes into a name. */
const LONGEST = 500;

/** How far apart the letters of a word stand in a text, at their tightest; infinite where they are not there. */
export function spread(text: string, word: string): number {
  const line = text.slice(0, LONGEST);
  const [first = "", ...rest] = word;
  let best = MOST_APART * word.length + 1;
  for (let start = line.indexOf(first); start >= 0; start = line.indexOf(first, start + 1)) {
    let at = start;
    for (const letter of rest) {
      at = line.indexOf(letter, at + 1);
      if (at < 0) break;
    }
    // what is not found from here is not found further on, either
    if (at < 0) break;
    best = Math.min(best, at - start + 1 - word.length);
  }
  return best > MOST_APART * word.length ? Number.POSITIVE_INFINITY : best;
}

function entriesOf(index: GraphIndex): Entry[] {
  let made = entries.get(index);
  if (made === undefined) {
    made = index.graph.nodes.map((node) => ({ id: node.id, text: normal(textOf(index, node)) }));
    entries.set(index, made);
  }
  return made;
}

function textOf(index: GraphIndex, node: GraphNode): string {
  const outputs = node.kind === "output" ? [] : Object.values(node.outputs ?? {});
  return [pathOf(node), kindOf(node), ...outputs.map((tensor) => tensorLabel(index, tensor))].join(" ");
}

/** `1x16x768` is typed where `1×16×768` is shown. */
function normal(text: string): string {
  return text.toLowerCase().replace(/(?<=\d)x(?=\d)/g, "×");
}
