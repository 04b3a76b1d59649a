/** Pairs the children of two containers that changed their order. */
import { append } from "../../graph/append.js";
import { type DiffItem, isModule, isOpOrModule } from "../items.js";
import { isNumbered } from "../vocabulary.js";
import type { Pairs } from "./align.js";
import type { Similarity } from "./similarity.js";

/** Pairs children with equal keys, if they count. */
interface Rule {
  counts: (item: DiffItem) => boolean;
  key: (item: DiffItem) => string;
  fits?: (before: DiffItem, after: DiffItem) => boolean;
}

/** The most specific rule first. */
function rules(similarity: Similarity): Rule[] {
  return [
    { counts: isModule, key: (item) => `${item.label} ${item.name} ${similarity.useOf(item)}` },
    { counts: isModule, key: (item) => `${similarity.exactly(item)} ${similarity.useOf(item)}` },
    { counts: isModule, key: ({ label, name }) => `${label} ${name}` },
    {
      counts: (item) => isModule(item) && !isNumbered(item.name),
      key: ({ name }) => name,
      fits: (x, y) => similarity.structure(x, y) >= 0.4,
    },
    { counts: isModule, key: (item) => String(similarity.exactly(item)) },
    { counts: (item) => !isOpOrModule(item), key: ({ kind, name }) => `${kind} ${name}` },
  ];
}

type Rest = readonly [Set<number>, Set<number>];

/** Pairs members of `rest` and removes them from it. */
export function pairsInAnyOrder(
  before: readonly DiffItem[],
  after: readonly DiffItem[],
  rest: Rest,
  similarity: Similarity,
): Pairs {
  return rules(similarity).flatMap((rule) => pairsBy(rule, before, after, rest));
}

function pairsBy(
  { counts, key, fits = () => true }: Rule,
  before: readonly DiffItem[],
  after: readonly DiffItem[],
  rest: Rest,
): Pairs {
  const pairs: Pairs = [];
  const waiting = new Map<string, number[]>();
  for (const j of rest[1]) if (counts(after[j] as DiffItem)) append(waiting, key(after[j] as DiffItem), j);
  for (const i of rest[0]) {
    const item = before[i] as DiffItem;
    const equals = counts(item) ? waiting.get(key(item)) : undefined;
    const j = equals?.find((at) => rest[1].has(at) && fits(item, after[at] as DiffItem));
    if (j === undefined) continue;
    pairs.push([i, j]);
    rest[0].delete(i);
    rest[1].delete(j);
  }
  return pairs;
}
