/** Forks, and the order of their branches: that of the source, the first on the left. */
import type { Steps } from "../../shared/slices.js";
import { BORDER, type Frame } from "../../view/frame.js";
import type { Geometry } from "../coord/geometry.js";
import type { Plan } from "../plan.js";
import { acrossIn, crossings, disagreement, type Order, type Positions } from "./order.js";

/**
 * The items that read one item or port and lead on, for each fork, in execution order. For parallel streams: a stage, and
 * the module that derives another stream.
 */
export function branchesOf({ streams, wires }: Plan): number[][] {
  if (streams.length > 0) return streams.map(({ wire, beside }) => [wires[wire]?.from ?? BORDER, beside]);
  const leading = new Set(wires.map(({ from }) => from));
  const readers = new Map<number, Set<number>>();
  for (const { from, fromPort, to, rail } of wires) {
    const source = from === BORDER ? BORDER - 1 - fromPort : from;
    if (!rail && to !== BORDER && leading.has(to)) readers.set(source, (readers.get(source) ?? new Set()).add(to));
  }
  return [...readers.values()].filter(({ size }) => size > 1).map((items) => [...items].sort((a, b) => a - b));
}

/** Most extra crossings to avoid that sides change, and for each neighbour that would change. */
const FOR_SIDES = 2;
const FOR_NEIGHBOUR = 0.6;

/** A layout that may be made. */
export interface Try {
  /** Where its items and ports will be; null if only the layout itself shows it. */
  across: () => Steps<Positions | null>;
  make: () => Steps<Geometry>;
}

/** The layout of a frame with the best order that adds no crossings. @param free the one without an order */
export function* mostInOrder(
  frame: Frame,
  order: Order,
  branches: number[][],
  free: Geometry,
  others: Try[],
): Steps<Geometry> {
  const valued = (places: Positions) => ({
    moved: disagreement(places, order),
    wrong: disorder(branches, places.across),
  });
  let best = { geometry: free, ...valued(acrossIn(free, frame)) };
  for (const { across, make } of others) {
    if (best.moved === 0 && best.wrong === 0) break;
    // most are no better and need not be routed
    const value = valued((yield* across()) ?? acrossIn(yield* make(), frame));
    if (value.moved > best.moved || (value.moved === best.moved && value.wrong >= best.wrong)) continue;
    const geometry = yield* make();
    const kept = best.moved - value.moved;
    const forSides = kept > 0 && geometry.width <= free.width ? FOR_SIDES : 0;
    const most = Math.max(crossings(free, frame), order.crossings) + Math.max(forSides, FOR_NEIGHBOUR * kept);
    if (crossings(geometry, frame) <= most) best = { geometry, ...value };
  }
  return best.geometry;
}

/** Number of neighbouring branches that aren't in the order of the source. */
function disorder(branches: number[][], across: readonly number[]): number {
  const isWrong = (left = 0, right = 0) => (across[left] ?? 0) > (across[right] ?? 0);
  return branches.reduce((sum, items) => sum + items.slice(1).filter((item, i) => isWrong(items[i], item)).length, 0);
}
