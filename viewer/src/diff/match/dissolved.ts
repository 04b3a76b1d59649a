/** Containers that one of two versions does without: `encoder.layer.0` there is `layers.0` here. */
import { type Item, isModule } from "../items.js";

/** The children of two containers that may pair. Members of a list come without the container that only one side has. */
export function pairable(before: readonly Item[], after: readonly Item[]): [Item[], Item[]] {
  const labels = [counts(before), counts(after)] as const;
  return [dissolved(before, labels[0], labels[1]), dissolved(after, labels[1], labels[0])];
}

type Counts = ReadonlyMap<string, number>;

function dissolved(items: readonly Item[], own: Counts, others: Counts): Item[] {
  return items.flatMap((item) => (isNotThere(item, own, others) ? item.children : [item]));
}

/** Whether there is no such container on the other side, but several of what it holds. */
function isNotThere(item: Item, own: Counts, others: Counts): boolean {
  // several of a class are no list: each takes the place of something
  if (!isModule(item) || others.has(item.label) || own.get(item.label) !== 1) return false;
  const inside = counts(item.children);
  return [...inside].some(([label, count]) => count > 1 && !own.has(label) && (others.get(label) ?? 0) > 1);
}

function counts(items: readonly Item[]): Counts {
  const found = new Map<string, number>();
  for (const item of items) if (isModule(item)) found.set(item.label, (found.get(item.label) ?? 0) + 1);
  return found;
}
