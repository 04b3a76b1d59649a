/** Chooses between a layout and its mirror image. */
import { BORDER } from "../../view/frame.js";
import type { Ranking } from "../layering/dot.js";
import type { Plan } from "../plan.js";
import { leftOfStreams } from "../structures/streams.js";

/** The same layout with left and right exchanged. */
export function mirrored(ranking: Ranking): Ranking {
  const negated = (places: number[]) => places.map((place) => -place);
  const { rank, across, inputs, outputs } = ranking;
  return { rank, across: negated(across), inputs: negated(inputs), outputs: negated(outputs) };
}

/**
 * Of a layout and its mirror image, the one where items join the trunk from the left, because residuals run on the right;
 * else the one in execution order.
 */
export function oriented(plan: Plan, ranking: Ranking): Ranking {
  const wrong = leftOfStreams(plan, ranking) || fromRight(plan, ranking) || outOfOrder(plan, ranking);
  return wrong > 0 ? mirrored(ranking) : ranking;
}

/** Number of items that join the trunk from the right, minus those from the left. */
function fromRight({ slots, wires }: Plan, { across }: Ranking): number {
  const trunk = new Set(wires.flatMap((wire) => (wire.trunk ? [wire.from, wire.to] : [])));
  const joins = wires.filter(
    ({ from, to }) => to !== BORDER && trunk.has(to) && !trunk.has(from) && slots[from]?.terminal === false,
  );
  return joins.reduce((sum, { from, to }) => sum + Math.sign((across[from] ?? 0) - (across[to] ?? 0)), 0);
}

/** Number of neighbours out of order minus those in order, by their sources or else by execution. */
function outOfOrder(plan: Plan, { rank, across }: Ranking): number {
  const firsts = firstSources(plan);
  let [bySource, byExecution] = [0, 0];
  plan.slots.forEach((_, later) => {
    for (let earlier = 0; earlier < later; earlier += 1) {
      if (rank[earlier] !== rank[later]) continue;
      const side = Math.sign((across[earlier] ?? 0) - (across[later] ?? 0));
      bySource += side * Math.sign((firsts[later] ?? 0) - (firsts[earlier] ?? 0));
      byExecution += side;
    }
  });
  return bySource || byExecution;
}

/** Item → the first item that it depends on: towers are in the order of their inputs. */
function firstSources({ slots, wires }: Plan): number[] {
  const firsts = slots.map((_, i) => i);
  const onwards = wires.filter(({ from, to }) => from < to).sort((a, b) => a.from - b.from);
  for (const { from, to } of onwards) firsts[to] = Math.min(firsts[to] ?? to, firsts[from] ?? from);
  return firsts;
}
