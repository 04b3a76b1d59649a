/** The plain stand-in for dot: longest-path ranks, order by neighbours, rows packed and centred. Never fails. */
import type { Ranking } from "./dot.js";
import type { Plan, PlanWire } from "./plan.js";
import { BORDER } from "./view.js";

const GAP = 28;
const PORT_GAP = 16;
const SWEEPS = 4;

/** Rank and place the items of a plan without dot. */
export function rankPlainly(plan: Plan): Ranking {
  const rank = longestPathRanks(plan);
  const rows: number[][] = [];
  rank.forEach((r, i) => {
    const row = rows[r];
    if (row === undefined) rows[r] = [i];
    else row.push(i);
  });
  let across = pack(plan, rows);
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    const wanted = plan.slots.map((_, i) => neighbourMean(plan, across, i, sweep % 2 === 0));
    for (const row of rows) row.sort((a, b) => (wanted[a] ?? 0) - (wanted[b] ?? 0) || a - b);
    across = pack(plan, rows);
  }
  return { rank, across, inputs: portPlaces(plan, across, true), outputs: portPlaces(plan, across, false) };
}

/** One below the other. */
export function rankAsColumn(plan: Plan): Ranking {
  return { rank: plan.slots.map((_, i) => i), across: plan.slots.map(() => 0), inputs: [], outputs: [] };
}

function longestPathRanks(plan: Plan): number[] {
  const rank = plan.slots.map(() => 0);
  const wires = plan.wires.filter((wire) => wire.from !== BORDER && wire.to !== BORDER && wire.to > wire.from);
  wires.sort((a, b) => a.from - b.from);
  for (const { from, to } of wires) rank[to] = Math.max(rank[to] ?? 0, (rank[from] ?? 0) + 1);
  // ranks with nothing in them would be empty rows
  const used = [...new Set(rank)].sort((a, b) => a - b);
  return rank.map((r) => used.indexOf(r));
}

function pack(plan: Plan, rows: number[][]): number[] {
  const across: number[] = [];
  for (const row of rows) {
    const width = row.reduce((sum, i) => sum + span(plan, i), GAP * (row.length - 1));
    let at = -width / 2;
    for (const i of row) {
      across[i] = at + (plan.slots[i]?.low ?? 0);
      at += span(plan, i) + GAP;
    }
  }
  return across;
}

function span(plan: Plan, item: number): number {
  const slot = plan.slots[item];
  return slot === undefined ? 0 : slot.low + slot.high;
}

function neighbourMean(plan: Plan, across: number[], item: number, down: boolean): number {
  const near = plan.wires
    .filter((wire) => (down ? wire.to : wire.from) === item)
    .map((wire) => across[down ? wire.from : wire.to])
    .filter((place) => place !== undefined);
  return near.length === 0 ? (across[item] ?? 0) : near.reduce((sum, place) => sum + place, 0) / near.length;
}

/** Ports above (or below) what they lead to, pushed apart. */
function portPlaces(plan: Plan, across: number[], inputs: boolean): number[] {
  const count = inputs ? plan.inputs : plan.outputs;
  const wanted = Array.from({ length: count }, (_, port) => {
    const ends = plan.wires
      .filter((wire) =>
        inputs ? wire.from === BORDER && wire.fromPort === port : wire.to === BORDER && wire.toPort === port,
      )
      .map((wire) => endPlace(plan, across, wire, inputs));
    return { port, at: ends.length === 0 ? 0 : ends.reduce((sum, place) => sum + place, 0) / ends.length };
  });
  const places: number[] = [];
  let least = Number.NEGATIVE_INFINITY;
  for (const { port, at } of wanted.sort((a, b) => a.at - b.at || a.port - b.port)) {
    places[port] = Math.max(at, least);
    least = (places[port] ?? 0) + PORT_GAP;
  }
  return places;
}

function endPlace(plan: Plan, across: number[], { from, fromPort, to, toPort }: PlanWire, inputs: boolean): number {
  const slot = plan.slots[inputs ? to : from];
  const centre = across[inputs ? to : from] ?? 0;
  const offset = inputs ? slot?.ports?.inputs[toPort] : slot?.ports?.outputs[fromPort];
  return slot === undefined || offset === undefined ? centre : centre - slot.across / 2 + offset;
}
