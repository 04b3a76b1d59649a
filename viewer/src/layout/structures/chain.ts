/**
 * An arm of a U whose chain is straight. What else belongs to its levels, such as a head or an embedding of time, stands
 * beside them, away from the other arm.
 */
import { BORDER } from "../../view/frame.js";
import type { Ranking } from "../dot.js";
import type { Plan, PlanWire } from "../plan.js";

/** Connected items beside the chain. */
interface Branch {
  /** Item → its place along the branch. */
  places: Map<number, number>;
  length: number;
  /** The item of the chain that it leads to, or comes from. */
  at: number;
  isBefore: boolean;
}

/** Distance of branches from the chain and from each other. */
const GAP = 24;

/** The chain upright with its branches at one side, -1 for the left; as it was if anything bypasses the chain. */
export function alongChain(chain: readonly number[], side: number, plan: Plan, ranking: Ranking): Ranking {
  const branches = branchesOf(chain, plan);
  if (branches === null || branches.length === 0) return ranking;
  for (const wire of plan.wires) wire.trunk = isOnwards(chain, wire);
  const moved = straight(chain, plan, { ...ranking, rank: ranksOf(chain, branches) });
  for (const at of chain) {
    for (const isBefore of [true, false]) {
      const own = branches.filter((branch) => branch.at === at && branch.isBefore === isBefore);
      placeBeside(chain, side, plan, moved, own);
    }
  }
  return moved;
}

/** Whether a wire leads from one item of the chain to the next. */
function isOnwards(chain: readonly number[], { from, to }: PlanWire): boolean {
  return from !== BORDER && to !== BORDER && chain.includes(from) && chain.indexOf(from) + 1 === chain.indexOf(to);
}

/** The branches in execution order; null if one leads from the chain back to it, or across the border. */
function branchesOf(chain: readonly number[], { slots, wires }: Plan): Branch[] | null {
  const beside = slots.flatMap((_, item) => (chain.includes(item) ? [] : [item]));
  const around = wires.filter(({ from, to, rail }) => !rail && (beside.includes(from) || beside.includes(to)));
  const branches: Branch[] = [];
  for (const items of connected(beside, around)) {
    const branch = branchOf(
      items,
      around.filter(({ from, to }) => items.includes(from) || items.includes(to)),
    );
    if (branch === null) return null;
    branches.push(branch);
  }
  return branches;
}

/** Items in groups that wires connect. */
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

function branchOf(items: number[], wires: PlanWire[]): Branch | null {
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
  return ends.size !== 1 || at === BORDER || comesBack ? null : { places, length, at, isBefore };
}

/** Ranks at which no two branches of different items are beside each other. */
function ranksOf(chain: readonly number[], branches: readonly Branch[]): number[] {
  const rank: number[] = [];
  let [next, free] = [0, 0];
  for (const item of chain) {
    const own = branches.filter(({ at }) => at === item);
    const [before, after] = [true, false].map((isBefore) => longest(own, isBefore)) as [number, number];
    const at = Math.max(next, before && free + before, after && free - 1);
    rank[item] = at;
    for (const { places, isBefore, length } of own)
      for (const [one, place] of places) rank[one] = isBefore ? at - length + place : at + 1 + place;
    if (before + after > 0) free = at + (after && 1 + after);
    next = at + 1;
  }
  return rank;
}

function longest(branches: readonly Branch[], isBefore: boolean): number {
  return Math.max(0, ...branches.filter((one) => one.isBefore === isBefore).map(({ length }) => length));
}

/** The chain in one line: each item where the wire from the one before arrives. */
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

/** Puts branches of one item beside all of the chain that they pass. */
function placeBeside(chain: readonly number[], side: number, plan: Plan, ranking: Ranking, own: Branch[]): void {
  const { rank, across } = ranking;
  const reach = (item: number, towards: number) => (towards < 0 ? plan.slots[item]?.low : plan.slots[item]?.high) ?? 0;
  const rows = own.flatMap(({ places }) => [...places.keys()].map((item) => rank[item] ?? 0));
  const isPassed = (at = 0) => at >= Math.min(...rows) && at <= Math.max(...rows);
  // closed items count wherever they are, so that branches are in one line
  const passed = chain.filter((item) => plan.slots[item]?.ports === null || isPassed(rank[item]));
  let far = Math.max(0, ...passed.map((item) => side * (across[item] ?? 0) + reach(item, side)));
  for (const { places } of own) {
    const items = [...places.keys()];
    const middle = far + GAP + Math.max(...items.map((item) => reach(item, -side)));
    for (const item of items) across[item] = side * middle;
    far = middle + Math.max(...items.map((item) => reach(item, side)));
  }
}
