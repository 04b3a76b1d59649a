/**
 * Drops: wires to later items of a line in a wrapped flow that come straight down before their items, instead of running
 * along the line from its start.
 */
import { BORDER } from "../../view/frame.js";
import type { Ranking } from "../layering/dot.js";
import type { Plan } from "../plan.js";
import { AFTER_TRACKS, labelBox, type Point, type Routed } from "../routing/route.js";

/** Least distance of a vertical wire from others, and from boxes and labels. */
const APART = 6;

/** Something that a vertical wire must not touch, in flow coordinates. */
interface Obstacle {
  across: number;
  from: number;
  to: number;
}

/** Input port → where its wires come down, along the flow; without ports whose wires must come from the start. */
export function dropsOf(plan: Plan, ranking: Ranking, routed: Routed): Map<number, number> {
  const drops = new Map<number, number>();
  const lines = routed.lines.map((line) => [...line]);
  const afterFirst = Math.min(...plan.slots.map((slot, i) => (routed.places[i]?.[1] ?? 0) + slot.along));
  // the outermost first: wires that come down no longer block others
  for (const port of ranking.inputs
    .map((_, i) => i)
    .sort((a, b) => (ranking.inputs[a] ?? 0) - (ranking.inputs[b] ?? 0))) {
    const own = plan.wires.flatMap(({ from, fromPort }, i) => (from === BORDER && fromPort === port ? [i] : []));
    const along = Math.min(...own.map((wire) => firstTurn(lines[wire] ?? [])));
    const across = ranking.inputs[port] ?? 0;
    const nets = new Set(own.map((wire) => plan.wires[wire]?.net ?? -1));
    if (own.length === 0 || along < afterFirst || !isClear(plan, routed, lines, nets, [across, along])) continue;
    drops.set(port, along);
    for (const wire of own) lines[wire] = [[routed.low, along], [across, along], ...(lines[wire] ?? []).slice(1)];
  }
  return drops;
}

/** Where a wire may begin instead of at the start of the line: at its first corner if it goes down there, else before its end. */
function firstTurn(line: Point[]): number {
  const [[start] = [0], [, turn] = [0, 0], next] = line;
  if (next === undefined) return turn - AFTER_TRACKS;
  return next[0] > start ? turn : Number.NEGATIVE_INFINITY;
}

function isClear(
  plan: Plan,
  { places, labels }: Routed,
  lines: Point[][],
  nets: ReadonlySet<number>,
  end: Point,
): boolean {
  const [across, along] = end;
  const boxes = plan.slots.map((slot, i): Obstacle => {
    const [middle = 0, from = 0] = places[i] ?? [];
    return { across: middle - slot.across / 2, from, to: from + slot.along };
  });
  const texts = labels.map((label): Obstacle => {
    const [from, top, width] = labelBox(false, label.across, label.along, label.text, false);
    return { across: top, from, to: from + width };
  });
  const wires = lines.flatMap((line, i) => (nets.has(plan.wires[i]?.net ?? -1) ? [] : segments(line)));
  const blocks = (one: Obstacle) => one.across < across && one.from < along + APART && one.to > along - APART;
  return ![...boxes, ...texts, ...wires].some(blocks);
}

function segments(line: Point[]): Obstacle[] {
  return line.slice(1).map(([across, along], i) => {
    const [before, from] = line[i] ?? [across, along];
    return { across: Math.min(before, across), from: Math.min(from, along), to: Math.max(from, along) };
  });
}
