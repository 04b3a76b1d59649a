/**
 * Ranks without dot, by the steps of Sugiyama, Tagawa and Toda (1981) in their simplest form: longest-path ranks, order by
 * neighbours, rows packed and centred. Never fails.
 */

import { BORDER } from "../../view/frame.js";
import type { Plan, PlanWire } from "../plan.js";
import { offset } from "./chain.js";
import type { Ranking } from "./dot.js";

const GAP = 28;
const PORT_GAP = 16;
const SWEEPS = 4;

/** Rank and position the items of a plan without dot. */
export function rankPlainly(given: Plan): Ranking {
  const plan = symmetric(given);
  const rank = longestPathRanks(plan);
  const rows: number[][] = [];
  rank.forEach((r, i) => {
    const row = rows[r];
    if (row === undefined) rows[r] = [i];
    else row.push(i);
  });
  const across: number[] = [];
  for (const row of rows) pack(plan, row, across);
  const [sources, targets] = [neighbours(plan, true), neighbours(plan, false)];
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    const down = sweep % 2 === 0;
    // row by row, because simultaneous updates could alternate for ever
    for (const row of down ? rows : [...rows].reverse()) {
      const preferred = new Map(
        row.map((i) => [i, meanPlace((down ? sources : targets)[i], across) ?? across[i] ?? 0]),
      );
      row.sort((one, other) => (preferred.get(one) ?? 0) - (preferred.get(other) ?? 0) || one - other);
      pack(plan, row, across);
    }
  }
  return { rank, across, inputs: portPlaces(plan, across, true), outputs: portPlaces(plan, across, false) };
}

/** Gives items equal room on both sides: a layout may be mirrored, but labels stay on their side. */
function symmetric(plan: Plan): Plan {
  const slots = plan.slots.map((slot) => {
    const reach = Math.max(slot.low, slot.high);
    return { ...slot, low: reach, high: reach };
  });
  return { ...plan, slots };
}

/** All items below each other. */
export function rankAsColumn(plan: Plan): Ranking {
  return { rank: plan.slots.map((_, i) => i), across: plan.slots.map(() => 0), inputs: [], outputs: [] };
}

function longestPathRanks(plan: Plan): number[] {
  const sources = neighbours(plan, true);
  const rank: number[] = [];
  for (const item of afterSources(sources)) {
    rank[item] = Math.max(0, ...(sources[item] ?? []).map((source) => (rank[source] ?? -1) + 1));
  }
  // drop empty ranks
  const used = new Map([...new Set(rank)].sort((a, b) => a - b).map((r, row) => [r, row]));
  return rank.map((r) => used.get(r) ?? 0);
}

/** All items, each after what it reads, apart from returns of loops; in their own order if possible. */
function afterSources(sources: readonly number[][]): number[] {
  const found = new Set<number>();
  const begun = new Set<number>();
  for (const item of sources.keys()) {
    const stack = [item];
    for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
      if (begun.has(top)) {
        found.add(top);
        stack.pop();
      } else {
        begun.add(top);
        stack.push(...(sources[top] ?? []).filter((source) => !begun.has(source)).reverse());
      }
    }
  }
  return [...found];
}

/** Position the items of a row, centred. */
export function pack(plan: Plan, row: number[], across: number[]): void {
  const width = row.reduce((sum, i) => sum + span(plan, i), GAP * (row.length - 1));
  let at = -width / 2;
  for (const i of row) {
    across[i] = at + (plan.slots[i]?.low ?? 0);
    at += span(plan, i) + GAP;
  }
}

function span(plan: Plan, item: number): number {
  const slot = plan.slots[item];
  return slot === undefined ? 0 : slot.low + slot.high;
}

/** Item → the sources (or targets) of its wires. */
function neighbours(plan: Plan, before: boolean): number[][] {
  const found: number[][] = plan.slots.map(() => []);
  for (const { from, to } of plan.wires) {
    if (from !== BORDER && to !== BORDER) found[before ? to : from]?.push(before ? from : to);
  }
  return found;
}

function meanPlace(items: number[] = [], across: number[]): number | undefined {
  return items.length === 0 ? undefined : items.reduce((sum, item) => sum + (across[item] ?? 0), 0) / items.length;
}

/** Positions of ports: above (or below) the items they connect to, with a minimum distance. */
export function portPlaces(plan: Plan, across: number[], inputs: boolean): number[] {
  const ends: number[][] = Array.from({ length: inputs ? plan.inputs : plan.outputs }, () => []);
  for (const wire of plan.wires) {
    if ((inputs ? wire.from : wire.to) !== BORDER) continue;
    ends[inputs ? wire.fromPort : wire.toPort]?.push(endPlace(plan, across, wire, inputs));
  }
  const preferred = ends.map((places, port) => {
    return { port, at: places.reduce((sum, place) => sum + place, 0) / Math.max(1, places.length) };
  });
  const places: number[] = [];
  let least = Number.NEGATIVE_INFINITY;
  for (const { port, at } of preferred.sort((a, b) => a.at - b.at || a.port - b.port)) {
    places[port] = Math.max(at, least);
    least = (places[port] ?? 0) + PORT_GAP;
  }
  return places;
}

function endPlace(plan: Plan, across: number[], { from, fromPort, to, toPort }: PlanWire, inputs: boolean): number {
  const place = inputs ? offset(plan, to, "inputs", toPort) : offset(plan, from, "outputs", fromPort);
  return (across[inputs ? to : from] ?? 0) + place;
}
