/** Keyboard navigation in a tree. */

/** A node; lists of them are in reading order. */
export interface TreeItem {
  level: number;
  /** Undefined for a node that can't be expanded. */
  expanded: boolean | undefined;
}

/** The position of an item among its siblings, from 1, and their number. */
export interface Rank {
  at: number;
  of: number;
}

/** The rank of every item. */
export function ranks(items: readonly TreeItem[]): Rank[] {
  /** Level → number of siblings so far; shared by all of them, so that each has the final count. */
  const open: { count: number }[] = [];
  const found = items.map(({ level }) => {
    open.length = Math.min(open.length, level);
    const family = open[level - 1] ?? { count: 0 };
    open[level - 1] = family;
    family.count += 1;
    return { at: family.count, family };
  });
  return found.map(({ at, family }) => ({ at, of: family.count }));
}

/** The effect of a key: go to the item at this index, toggle the current one, or nothing. */
export type Move = { to: number } | "toggle" | undefined;

/** The tree pattern of the ARIA Authoring Practices. */
export function step(items: readonly TreeItem[], at: number, key: string): Move {
  const here = items[at];
  if (here === undefined) return undefined;
  switch (key) {
    case "ArrowDown":
      return go(items, at + 1);
    case "ArrowUp":
      return go(items, at - 1);
    case "Home":
      return go(items, 0);
    case "End":
      return go(items, items.length - 1);
    case "ArrowRight":
      if (here.expanded === false) return "toggle";
      return here.expanded && (items[at + 1]?.level ?? 0) > here.level ? go(items, at + 1) : undefined;
    case "ArrowLeft":
      if (here.expanded === true) return "toggle";
      return go(items, parentOf(items, at));
    case "Enter":
    case " ":
      return here.expanded === undefined ? undefined : "toggle";
    default:
      return undefined;
  }
}

function go(items: readonly TreeItem[], to: number): Move {
  return items[to] === undefined ? undefined : { to };
}

/** Positions among siblings, from 0, of the nodes around a node, outermost first, and of the node itself. */
export function treePath(items: readonly (TreeItem & Rank)[], at: number): number[] {
  const path: number[] = [];
  for (let i = at; i >= 0; i = parentOf(items, i)) path.unshift((items[i]?.at ?? 1) - 1);
  return path;
}

function parentOf(items: readonly TreeItem[], at: number): number {
  const level = items[at]?.level ?? 0;
  let parent = at - 1;
  while (parent >= 0 && (items[parent]?.level ?? 0) >= level) parent -= 1;
  return parent;
}
