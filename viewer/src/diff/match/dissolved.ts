/** Containers that exist in one version only: `encoder.layer.0` in one is `layers.0` in the other. */
import { type DiffItem, isModule } from "../items.js";

/** The children of two containers that may pair, with dissolved containers replaced by the members of their lists. */
export function pairable(before: readonly DiffItem[], after: readonly DiffItem[]): [DiffItem[], DiffItem[]] {
  const labels = [counts(before), counts(after)] as const;
  return [dissolved(before, labels[0], labels[1]), dissolved(after, labels[1], labels[0])];
}

type Counts = ReadonlyMap<string, number>;

function dissolved(items: readonly DiffItem[], own: Counts, others: Counts): DiffItem[] {
  return items.flatMap((item) => (isNotThere(item, own, others) ? item.children : [item]));
}

/** Whether the other side lacks a container but has several of its members. */
function isNotThere(item: DiffItem, own: Counts, others: Counts): boolean {
  // several containers of a class aren't a list: each takes the place of something
  if (!isModule(item) || others.has(item.label) || own.get(item.label) !== 1) return false;
  const inside = counts(item.children);
  return [...inside].some(([label, count]) => count > 1 && !own.has(label) && (others.get(label) ?? 0) > 1);
}

function counts(items: readonly DiffItem[]): Counts {
  const found = new Map<string, number>();
  for (const item of items) if (isModule(item)) found.set(item.label, (found.get(item.label) ?? 0) + 1);
  return found;
}
