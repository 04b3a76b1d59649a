/**
 * Makes the chain of an arm of a U straight. Other items of its levels, such as a head or a time embedding, go beside them,
 * away from the other arm; items on a skip go between both arms.
 */
import { BORDER } from "../../../view/frame.js";
import type { Ranking } from "../../layering/dot.js";
import type { Plan, PlanWire } from "../../plan.js";

/** Connected items beside the chain. */
interface Branch {
  /** Item → its place along the branch. */
  places: Map<number, number>;
  length: number;
  /** The item of the chain that it leads to or comes from. */
  at: number;
  isBefore: boolean;
  /** Whether a skip leads to it. */
  isLateral: boolean;
}

/** Distance of branches from the chain and from each other. */
const GAP = 24;

/**
 * The chain upright, with its branches on one side (-1 for the left) and, on the other, items between skips and the chain;
 * unchanged if anything bypasses the chain.
 */
export function alongChain(
  chain: readonly number[],
  [side, skips]: readonly [side: number, skips: readonly number[]],
  plan: Plan,
  ranking: Ranking,
): Ranking {
  const branches = branchesOf(chain, plan, skips);
  if (branches === null || branches.length === 0) return ranking;
  for (const wire of plan.wires) wire.trunk = isOnwards(chain, wire);
  const moved = straight(chain, plan, { ...ranking, rank: ranksOf(chain, branches) });
  for (const at of chain) {
    const own = branches.filter((branch) => branch.at === at);
    for (const isBefore of [true, false]) {
      const there = own.filter((branch) => branch.isBefore === isBefore && !branch.isLateral);
      placeBeside(chain, side, plan, moved, there);
    }
  }
  const laterals = branches.filter(({ isLateral }) => isLateral).flatMap(({ places }) => [...places]);
  if (laterals.length > 0) placeBeside(chain, -side, plan, moved, [{ places: new Map(laterals) }]);
  return moved;
}

/** Whether a wire leads from one item of the chain to the next. */
function isOnwards(chain: readonly number[], { from, to }: PlanWire): boolean {
  return from !== BORDER && to !== BORDER && chain.includes(from) && chain.indexOf(from) + 1 === chain.indexOf(to);
}

/** The branches in execution order; null if one leads from the chain back to it or across the border. */
function branchesOf(chain: readonly number[], { slots, wires }: Plan, skips: readonly number[]): Branch[] | null {
  const beside = slots.flatMap((_, item) => (chain.includes(item) ? [] : [item]));
  const around = wires.filter(({ from, to, rail }) => !rail && (beside.includes(from) || beside.includes(to)));
  const branches: Branch[] = [];
  for (const items of connected(beside, around)) {
    const branch = branchOf(
      items,
      around.filter(({ from, to }) => items.includes(from) || items.includes(to)),
      chain[0],
    );
    if (branch === null) return null;
    const isSkip = ({ from, fromPort, to }: PlanWire) =>
      from === BORDER && skips.includes(fromPort) && items.includes(to);
    branches.push({ ...branch, isLateral: branch.isBefore && wires.some(isSkip) });
  }
  return branches;
}

/** Items in connected groups. */
function connected(items: readonly number[], wires: readonly PlanWire[]): number[][] {
  const rest = new Set(items);
  const groups: number[][] = [];
  for (const start of rest) {
    const group = new Set([start]);
    for (const item of group) {
      const ends = wires.filter(({ from, to }) => from === item || to === item).flatMap(({ from, to }) => [from, to]);
      for (const end of ends) if (rest.has(end)) group.add(end);
    }
    for (const item of group) rest.delete(item);
    groups.push([...group].sort((a, b) => a - b));
  }
  return groups;
}

/** A branch. One that reads the same as the chain's first item begins beside it. */
function branchOf(items: number[], wires: PlanWire[], first = BORDER): Omit<Branch, "isLateral"> | null {
  const places = new Map<number, number>();
  for (const item of items) {
    const before = wires.filter(({ to }) => to === item).map(({ from }) => places.get(from) ?? -1);
    places.set(item, Math.max(-1, ...before) + 1);
  }
  const length = Math.max(...places.values()) + 1;
  const ends = new Set(wires.flatMap(({ from, to }) => [from, to]).filter((end) => !places.has(end)));
  const [at = BORDER] = ends;
  const isBefore = wires.some(({ to }) => to === at);
  const comesBack = isBefore && wires.some(({ from }) => from === at);
  return ends.size !== 1 || comesBack || (at === BORDER && isBefore)
    ? null
    : { places, length, at: at === BORDER ? first : at, isBefore };
}

/** Ranks such that branches of different items are never beside each other. */
function ranksOf(chain: readonly number[], branches: readonly Branch[]): number[] {
  const rank: number[] = [];
  const free = { next: 0, inside: 0, outside: 0 };
  for (const item of chain) {
    const own = branches.filter(({ at }) => at === item);
    const lateral = longest(own.filter(({ isLateral }) => isLateral));
    const before = longest(own.filter(({ isBefore, isLateral }) => isBefore && !isLateral));
    const after = longest(own.filter(({ isBefore }) => !isBefore));
    const outside = Math.max(before && free.outside + before, after && free.outside - 1);
    const at = Math.max(free.next, lateral && free.inside + lateral, outside);
    rank[item] = at;
    for (const branch of own) for (const [one, place] of branch.places) rank[one] = rankOf(branch, place, at);
    if (before + after > 0) free.outside = at + (after && 1 + after);
    if (lateral > 0) free.inside = at;
    free.next = at + 1;
  }
  return rank;
}

function rankOf({ isBefore, length }: Branch, place: number, at: number): number {
  return isBefore ? at - length + place : at + 1 + place;
}

function longest(branches: readonly Branch[]): number {
  return Math.max(0, ...branches.map(({ length }) => length));
}

/** The chain in one line: each item is where the wire from the one before arrives. */
function straight(chain: readonly number[], { slots, wires }: Plan, ranking: Ranking): Ranking {
  const [across, inputs, outputs] = [[...ranking.across], [...ranking.inputs], [...ranking.outputs]];
  const along = (item: number, side: "inputs" | "outputs", port = BORDER) => {
    const { ports = null, across: width = 0 } = slots[item] ?? {};
    return ports === null ? 0 : (ports[side][port] ?? 0) - width / 2;
  };
  let line = 0;
  for (const [i, item] of chain.entries()) {
    const from = chain[i - 1] ?? BORDER;
    const wire = wires.find((one) => one.from === from && one.to === item && !one.rail);
    if (wire?.from === BORDER) inputs[wire.fromPort] = 0;
    else line = (across[from] ?? 0) + along(from, "outputs", wire?.fromPort);
    across[item] = line - along(item, "inputs", wire?.toPort);
    for (const { from: source, to, fromPort, toPort, rail } of wires)
      if (source === item && to === BORDER && !rail)
        outputs[toPort] = (across[item] ?? 0) + along(item, "outputs", fromPort);
  }
  return { rank: ranking.rank, across, inputs, outputs };
}

/** Puts branches of one item beside the part of the chain that they pass. */
function placeBeside(
  chain: readonly number[],
  side: number,
  plan: Plan,
  ranking: Ranking,
  own: Pick<Branch, "places">[],
): void {
  const { rank, across } = ranking;
  const reach = (item: number, towards: number) => (towards < 0 ? plan.slots[item]?.low : plan.slots[item]?.high) ?? 0;
  const rows = own.flatMap(({ places }) => [...places.keys()].map((item) => rank[item] ?? 0));
  const isPassed = (at = 0) => at >= Math.min(...rows) && at <= Math.max(...rows);
  // closed items count wherever they are, so that branches are aligned
  const passed = chain.filter((item) => plan.slots[item]?.ports === null || isPassed(rank[item]));
  let far = Math.max(0, ...passed.map((item) => side * (across[item] ?? 0) + reach(item, side)));
  for (const { places } of own) {
    const items = [...places.keys()];
    const middle = far + GAP + Math.max(...items.map((item) => reach(item, -side)));
    for (const item of items) across[item] = side * middle;
    far = middle + Math.max(...items.map((item) => reach(item, side)));
  }
}
