/** One form for ops that can be written in several ways. */
import type { GraphData } from "../../graph/graph.js";
import { type Item, type Side, type Source, side } from "../items.js";

/** A graph as comparisons see it. */
export function normalised(data: GraphData): Side {
  const found = side(data);
  for (const item of found.steps) {
    if (item.label === "scaled_dot_product_attention") writeScale(item);
    if (item.label === "cat") leaveOutEmpty(item);
  }
  return found;
}

/** Written or not, the scale is what it is by default. */
function writeScale(item: Item): void {
  const query = item.sources.find(({ argument }) => argument === "query");
  const width = Number(query?.from.shapes[query.output]?.at(-1));
  if (!Number.isNaN(width)) item.arguments = { ...item.arguments, scale: item.arguments.scale ?? width ** -0.5 };
}

/** What is concatenated with nothing, such as an empty cache, stays what it is. */
function leaveOutEmpty(item: Item): void {
  const isEmpty = ({ from, output }: Source) => from.shapes[output]?.includes(0) ?? false;
  const empty = item.sources.filter(isEmpty);
  if (empty.length === 0) return;
  for (const { from, output } of empty) {
    from.readers = from.readers.filter((reader) => reader.to !== item || reader.output !== output);
  }
  const full = item.sources.filter((source) => !isEmpty(source));
  item.sources = full;
  if (full.length === 1) item.label = "identity";
}
