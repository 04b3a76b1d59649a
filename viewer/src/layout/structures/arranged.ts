/** Places the items of a container as its author arranged them: at most so many in a row, and in an order. */
import { BORDER, type Placing } from "../../view/frame.js";
import type { Ranking } from "../layering/dot.js";
import { pack, portPlaces } from "../layering/fallback.js";
import type { Plan } from "../plan.js";

/** Items in the author's order as far as the flow allows, each below everything that it reads. */
export function arranged(plan: Plan, { most, order }: Placing): Ranking {
  const waiting = inOrder(plan, order);
  const before = plan.slots.map((_, item) => sourcesOf(plan, item));
  const rank: number[] = [];
  const rows: number[][] = [];
  while (waiting.length > 0) {
    // returns of a loop don't count
    const ready = waiting.findIndex((item) => before[item]?.every((source) => rank[source] !== undefined));
    const [item = 0] = waiting.splice(Math.max(ready, 0), 1);
    let row = Math.max(0, ...(before[item] ?? []).map((source) => (rank[source] ?? -1) + 1));
    while ((rows[row]?.length ?? 0) >= most) row += 1;
    rank[item] = row;
    const beside = rows[row] ?? [];
    rows[row] = beside;
    beside.push(item);
  }
  return packed(plan, rank, rows, aligned);
}

/** A layout with the items of each row in the author's order; unlisted items keep their places. */
export function reordered(plan: Plan, ranking: Ranking, { order }: Placing): Ranking {
  const place = new Map(order.map((item, i) => [item, i]));
  const rows: number[][] = [];
  for (const [item, row] of ranking.rank.entries()) {
    const beside = rows[row] ?? [];
    rows[row] = beside;
    beside.push(item);
  }
  const isWrong = rows.map((row) => {
    row.sort((a, b) => (ranking.across[a] ?? 0) - (ranking.across[b] ?? 0));
    const listed = row.filter((item) => place.has(item)).sort((a, b) => (place.get(a) ?? 0) - (place.get(b) ?? 0));
    const was = row.join();
    row.forEach((item, i) => {
      if (place.has(item)) row[i] = listed.shift() ?? item;
    });
    return row.join() !== was;
  });
  return isWrong.includes(true) ? packed(plan, ranking.rank, rows) : ranking;
}

function packed(plan: Plan, rank: number[], rows: number[][], move?: typeof aligned): Ranking {
  const across: number[] = [];
  for (const row of rows) pack(plan, row, across);
  move?.(plan, rows, across);
  return { rank, across, inputs: portPlaces(plan, across, true), outputs: portPlaces(plan, across, false) };
}

/** Moves rows so that their edges are aligned. */
function aligned({ slots, align }: Plan, rows: number[][], across: number[]): void {
  if (align === undefined) return;
  for (const row of rows) {
    const [first = 0, last = 0] = [row[0], row[row.length - 1]];
    const start = (across[first] ?? 0) - (slots[first]?.across ?? 0) / 2;
    const end = (across[last] ?? 0) + (slots[last]?.across ?? 0) / 2;
    const shift = { start, center: (start + end) / 2, end }[align];
    for (const item of row) across[item] = (across[item] ?? 0) - shift;
  }
}

/** Positions of all items: listed ones are in their order, in the places of listed items. */
function inOrder({ slots }: Plan, order: readonly number[]): number[] {
  const listed = [...order];
  return slots.map((_, item) => (order.includes(item) ? (listed.shift() ?? item) : item));
}

function sourcesOf({ wires }: Plan, item: number): number[] {
  return wires.flatMap(({ from, to }) => (to === item && from !== BORDER && from !== item ? [from] : []));
}
