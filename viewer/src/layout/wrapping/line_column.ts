/** Positions of the lines of a wrapped flow, one below the other, and of the ports of their column. */

import { type Alignment, BORDER } from "../../view/frame.js";
import type { Ranking } from "../layering/dot.js";
import type { Plan } from "../plan.js";

/** Offset of a line whose wires arrive in another order, so that they don't overlap. */
const ASIDE = 5;

/** Lines below each other, by default aligned at their starts. */
export function asColumn(plan: Plan, align: Alignment = "start"): Ranking {
  let offset = 0;
  const across = plan.slots.map(({ across, ports }, line) => {
    if (align !== "start") return align === "center" ? 0 : -across / 2;
    const places = [...(ports?.inputs ?? []), ...(ports?.outputs ?? [])];
    if (line > 0) offset += lineOffset(plan, line, offset);
    return across / 2 - (places.length > 0 ? Math.min(...places) : 0) + offset;
  });
  const inputs = Array.from({ length: plan.inputs }, (_, port) => borderPlace(plan, across, "from", port));
  const outputs = Array.from({ length: plan.outputs }, (_, port) => borderPlace(plan, across, "to", port));
  return { rank: plan.slots.map((_, i) => i), across, inputs, outputs };
}

/** Distance of wires that pass lines from these, and from each other. */
const BESIDE_LINES = 10;

/** Position of a port of a column: straight above the first line, straight below the last, or beside all lines. */
function borderPlace({ slots, wires }: Plan, across: number[], end: "from" | "to", port: number): number {
  const [nearest, other] = end === "from" ? [0, "to" as const] : [slots.length - 1, "from" as const];
  const wire = wires.find((one) => one[end] === BORDER && one[`${end}Port`] === port && one[other] === nearest);
  const slot = slots[nearest];
  const ports = end === "from" ? slot?.ports?.inputs : slot?.ports?.outputs;
  const offset = wire === undefined ? undefined : ports?.[wire[`${other}Port`]];
  if (offset !== undefined) return (across[nearest] ?? 0) - (slot?.across ?? 0) / 2 + offset;
  const left = slots.map((one, i) => (across[i] ?? 0) - one.low);
  return Math.min(...left) - (port + 1) * BESIDE_LINES;
}

/** Smaller offsets look like a mistake. */
const LEAST_JOG = 8;
/** Larger offsets would make the picture wider, and the starts of lines look like stairs. */
const FARTHEST = 16;

/**
 * Offset of a line from the one before, with which the trunk, or else as many wires as possible, run straight, and none
 * starts where another ends. @param offset that of the line before from the first
 */
function lineOffset(plan: Plan, line: number, offset: number): number {
  const [before, here] = [plan.slots[line - 1]?.ports, plan.slots[line]?.ports];
  const first = (ports: typeof here) => Math.min(...(ports?.inputs ?? []), ...(ports?.outputs ?? []));
  const ends = plan.wires
    .filter((wire) => wire.to === line && wire.from === line - 1)
    .map(({ fromPort, toPort, trunk }) => ({
      out: (before?.outputs[fromPort] ?? 0) - first(before),
      into: (here?.inputs[toPort] ?? 0) - first(here),
      trunk,
    }))
    .sort((a, b) => a.out - b.out);
  const isStraight = (by: number) => ends.filter(({ out, into }) => out === into + by);
  const rank = (by: number) => isStraight(by).length + (isStraight(by).some(({ trunk }) => trunk) ? ends.length : 0);
  const excess = (by: number) => Math.max(0, Math.abs(offset + by) - FARTHEST);
  const isJog = (step: number) => step > 0.1 && step < LEAST_JOG;
  const back = [-offset, -offset + ASIDE, -offset - ASIDE].filter(
    (by) => !ends.some(({ out, into }) => isJog(Math.abs(out - into - by))),
  );
  const choices = [...new Set([...ends.map(({ out, into }) => out - into), ...back])]
    .filter((by) => !ends.some(({ out }) => ends.some((end) => end.out !== out && end.into + by === out)))
    .sort((a, b) => excess(a) - excess(b) || rank(b) - rank(a) || Math.abs(a) - Math.abs(b) || a - b);
  const isInOrder = ends.every(({ into }, i) => i === 0 || into >= (ends[i - 1]?.into ?? into));
  return choices[0] ?? (isInOrder ? 0 : ASIDE);
}
