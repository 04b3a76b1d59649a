/** In narrow containers, items that read nothing, such as position tables, go above or below others, not beside them. */
import { BORDER, type Frame } from "../../view/frame.js";
import type { Plan } from "../plan.js";
import type { Ranking } from "./dot.js";

/** Distance of a table from the wire beside it, and of its wire from what it passes; equals that of lanes. */
const BESIDE = 12;

/**
 * Items that read nothing go below the columns and unrolled stacks before them; otherwise, modules among them go above the
 * items that read only inputs and would be in their row. This doesn't depend on which modules are open.
 */
export function besideOthers({ items, wires }: Frame): [above: number, below: number][] {
  const arriving = items.map((_, i) => wires.filter(({ to, flow }) => to === i && flow !== "return"));
  const large = items.flatMap(({ kind, frame }, i) => (kind === "group" && frame !== null ? [i] : []));
  const first = items.flatMap(({ kind }, i) =>
    kind === "module" && arriving[i]?.length !== 0 && arriving[i]?.every(({ from }) => from === BORDER) ? [i] : [],
  );
  return items.flatMap(({ kind }, table): [number, number][] => {
    if (arriving[table]?.length !== 0 || kind === "input") return [];
    const before = large.filter((one) => one < table);
    if (before.length > 0) return before.map((one) => [one, table]);
    return kind === "module" ? first.map((below) => [table, below]) : [];
  });
}

/**
 * Moves a lone table above others close to the trunk: to its right, or to its left if inputs are on the right; with an
 * order, to the side where it was. dot keeps wires as far from items as items from each other, and uses either side.
 */
export function packTables(plan: Plan, ranking: Ranking): void {
  const start = plan.wires.find((wire) => wire.trunk && wire.from === BORDER);
  const trunk = ranking.inputs[start?.fromPort ?? -1];
  const [table = BORDER, ...others] = new Set(plan.apart.map(([above]) => above));
  const row = ranking.rank[table];
  if (trunk === undefined || row === undefined || others.length > 0 || plan.slots[table]?.ports !== null) return;
  if (ranking.rank.some((rank, i) => rank === row && i !== table)) return;
  // opening a module keeps left and right
  const before = plan.order?.places ?? [];
  const sides = (before[table] ?? 0) < (before[start?.to ?? table] ?? 0) ? [-1, 1] : [1, -1];
  const side = sides.find((one) => ranking.inputs.every((at) => (at - trunk) * one <= 0));
  if (side === undefined) return;
  const reach = (item: number) => (side < 0 ? plan.slots[item]?.low : plan.slots[item]?.high) ?? 0;
  const readers = plan.wires.filter(({ from }) => from === table).map(({ to }) => ranking.rank[to] ?? row);
  const passed = plan.slots.flatMap((_, i) => {
    const rank = ranking.rank[i] ?? 0;
    return rank > row && rank < Math.max(...readers) ? [((ranking.across[i] ?? 0) - trunk) * side + reach(i)] : [];
  });
  const own = (side < 0 ? plan.slots[table]?.high : plan.slots[table]?.low) ?? 0;
  ranking.across[table] = trunk + side * (Math.max(own, ...passed) + BESIDE);
}

/** Distance between items. */
const GAP = 24;

/** Moves inputs that nothing reads next to others in the first row, where they don't make the picture wider. */
export function packUnread({ slots, wires, inputs }: Plan, ranking: Ranking): void {
  const used = new Set(wires.flatMap(({ from, to }) => [from, to]));
  const span = (i: number): [number, number] => {
    const [at, slot] = [ranking.across[i] ?? 0, slots[i]];
    return [at - (slot?.low ?? 0), at + (slot?.high ?? 0)];
  };
  for (const [item, slot] of slots.entries()) {
    if (used.has(item) || !slot.terminal || inputs > 0 || ranking.rank[item] !== 0) continue;
    const others = slots.flatMap((_, i) => (i === item ? [] : [i]));
    const row = others.filter((i) => ranking.rank[i] === 0).map(span);
    const [low, high] = [Math.min(...others.map((i) => span(i)[0])), Math.max(...others.map((i) => span(i)[1]))];
    const sides = [...row, [low - GAP, low - GAP], [high + GAP, high + GAP]].sort(([a = 0], [b = 0]) => a - b);
    const places = sides.slice(1).flatMap(([end = 0], i) => {
      const room = end - (sides[i]?.[1] ?? 0) - 2 * GAP;
      return room >= slot.low + slot.high ? [end - GAP - slot.high] : [];
    });
    ranking.across[item] = places[places.length - 1] ?? ranking.across[item] ?? 0;
  }
}
