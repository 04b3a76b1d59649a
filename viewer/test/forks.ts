/** Counts the forks of a layout whose branches stand in the order in which the model makes them. */
import type { Layout, Placed } from "../src/layout/layout.js";
import { BORDER, type Frame, type Wire } from "../src/view/frame.js";

export interface Forks {
  all: number;
  inOrder: number;
}

/** Centres that differ by less, in px, are below each other. */
const BELOW = 2;

/** Forks of all containers; calls `seen` for those that are in no order. */
export function forksOf({ root }: Layout, seen?: (placed: Placed, branches: number[]) => void): Forks {
  const count: Forks = { all: 0, inOrder: 0 };
  const pending = [root];
  for (const placed of pending) {
    const upright = placed.frame.direction === "TB";
    const places = placed.geometry.boxes.map((box) => (upright ? box.x + box.width / 2 : box.y + box.height / 2));
    for (const branches of branchesIn(placed.frame)) {
      const at = branches.map((item) => places[item] ?? 0);
      const isInOrder = at.slice(1).every((place, i) => place >= (at[i] ?? 0) - BELOW);
      count.all += 1;
      if (isInOrder) count.inOrder += 1;
      else seen?.(placed, branches);
    }
    pending.push(...placed.inner.filter((inner) => inner !== null));
  }
  return count;
}

/** The items that read one item or port and lead on, of which none depends on another; in execution order. */
function branchesIn({ items, wires }: Frame): number[][] {
  const onwards = wires.filter(({ flow }) => flow !== "return");
  const ahead = dependents(items.length, onwards);
  const readers = new Map<string, Set<number>>();
  for (const { from, fromPort, to } of onwards) {
    const source = from === BORDER ? `in ${fromPort}` : `${from}`;
    if (ahead[to]?.size) readers.set(source, (readers.get(source) ?? new Set()).add(to));
  }
  return [...readers.values()]
    .map((all) => [...all].filter((item) => ![...all].some((other) => ahead[other]?.has(item))).sort((a, b) => a - b))
    .filter((branches) => branches.length > 1);
}

/** Item → all that depends on it, and the border. */
function dependents(count: number, wires: readonly Wire[]): Set<number>[] {
  const ahead = Array.from({ length: count }, () => new Set<number>());
  for (const { from, to } of [...wires].sort((a, b) => b.from - a.from)) {
    for (const one of [to, ...(ahead[to] ?? [])]) ahead[from]?.add(one);
  }
  return ahead;
}
