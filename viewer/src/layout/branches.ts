/** Forks, and the order of their branches: as the model makes them, the first at the left. */
import { BORDER, type Frame } from "../view/frame.js";
import type { Geometry } from "./geometry.js";
import { agreement, centres, crossings, type Order } from "./order.js";
import type { Plan } from "./plan.js";

/** The items that read one item or port and lead on, of which none depends on another; in execution order. Streams have an order of their own. */
export function branchesOf({ streams, wires }: Plan): number[][] {
  if (streams.length > 0) return [];
  const leading = new Set(wires.map(({ from }) => from));
  const readers = new Map<number, Set<number>>();
  for (const { from, fromPort, to, rail } of wires) {
    const source = from === BORDER ? BORDER - 1 - fromPort : from;
    if (!rail && to !== BORDER && leading.has(to)) readers.set(source, (readers.get(source) ?? new Set()).add(to));
  }
  return [...readers.values()].filter(({ size }) => size > 1).map((items) => [...items].sort((a, b) => a - b));
}

/** Most crossings that are less disturbing than a picture whose sides change. */
const FOR_SIDES = 2;

/** Of the layouts of a frame, the one most in order for which no edge crosses; the first has no order. */
export function mostInOrder(frame: Frame, order: Order, branches: number[][], all: (() => Geometry)[]): Geometry {
  const valued = (geometry: Geometry) => ({
    geometry,
    share: agreement(geometry, frame, order),
    wrong: disorder(branches, centres(geometry, frame)),
  });
  const [free, ...others] = all.map((make) => () => valued(make()));
  if (free === undefined) throw new Error("expected a layout");
  const start = free();
  const least = Math.max(crossings(start.geometry, frame), order.crossings);
  return others.reduce((best, make) => {
    if (best.share === 1 && best.wrong === 0) return best;
    const other = make();
    if (other.share < best.share || (other.share === best.share && other.wrong >= best.wrong)) return best;
    const isForSides = other.share > best.share && other.geometry.width <= start.geometry.width;
    return crossings(other.geometry, frame) <= least + (isForSides ? FOR_SIDES : 0) ? other : best;
  }, start).geometry;
}

/** Number of neighbouring branches that don't stand as in the source. */
function disorder(branches: number[][], across: readonly number[]): number {
  const isWrong = (left = 0, right = 0) => (across[left] ?? 0) > (across[right] ?? 0);
  return branches.reduce((sum, items) => sum + items.slice(1).filter((item, i) => isWrong(items[i], item)).length, 0);
}
