/**
 * Returns of a loop. For routing, each is a wire out of the frame and another one into it, over one lane on the right; then
 * both are joined on that lane. Ranking ignores them.
 */
import { BORDER, type Frame, type Wire } from "../view/frame.js";
import type { Ranking } from "./layering/dot.js";
import { LABEL_GAP, LABEL_HEIGHT, labelWidth, type Plan } from "./plan.js";
import type { Point, Routed } from "./routing/route.js";

/** The returns of a frame. */
export function returnsOf(frame: Frame, nets: number[]): Return[] {
  const wires: (Wire & { net: number })[] = [];
  for (const [i, wire] of frame.wires.entries()) {
    if (wire.flow === "return") wires.push({ ...wire, net: nets[i] ?? 0 });
  }
  return wires.map((wire) => {
    const same = wires.filter(({ net }) => net === wire.net);
    // a tensor has one lane and one label, however many items read it
    const farthest = same.reduce((best, other) => (other.to < best.to ? other : best));
    return {
      ...wire,
      label: wire === farthest ? wire.label : "",
      isAround: wire.from === wire.to && same.length === 1 && frame.items[wire.from]?.frame === null,
    };
  });
}

interface Return extends Wire {
  net: number;
  /** Whether it leads back to its own item, which is closed. */
  isAround: boolean;
}

/** Leads returns out of the frame and back into it. */
export function openLoops(plan: Plan, frame: Frame, nets: number[]): void {
  const returns = returnsOf(frame, nets);
  const backs = returns.map(({ from, to, fromPort, toPort, label, net, isAround }, i) => {
    const half = { trunk: false, spine: false, rail: true };
    plan.returns.push({ out: plan.wires.length, in: plan.wires.length + returns.length, label, isAround });
    plan.wires.push({ ...half, from, fromPort, to: BORDER, toPort: plan.outputs + i, net });
    return { ...half, from: BORDER, fromPort: plan.inputs + i, to, toPort, net: nets.length + i };
  });
  plan.wires.push(...backs);
}

/** Joins both halves of each return, with its label beside the lane. */
export function closeLoops(plan: Plan, routed: Routed): [Plan, Routed] {
  const { returns } = plan;
  const [first] = returns;
  if (first === undefined) return [plan, routed];
  const lines = [...routed.lines];
  const wires = plan.wires.slice(0, first.in);
  for (const one of returns) {
    lines[one.out] = [...(lines[one.out] ?? []).slice(0, -1), ...(lines[one.in] ?? []).slice(1)];
    const [out, back] = [plan.wires[one.out], plan.wires[one.in]];
    if (out !== undefined && back !== undefined) wires[one.out] = { ...out, to: back.to, toPort: back.toPort };
  }
  const onwards = lines.slice(0, first.in);
  const labelled = returns.filter(({ label }) => label !== "");
  const labels = labelled.map((one) => labelOf(plan.vertical, onwards, lines[one.out] ?? [], one));
  const ends = labels.map(({ across, text }) => across + (plan.vertical ? LABEL_GAP + labelWidth(text) : 0));
  return [
    { ...plan, wires },
    {
      ...{ ...routed, lines: lines.slice(0, first.in) },
      ...{ labels: [...routed.labels, ...labels], high: Math.max(routed.high, ...ends) },
    },
  ];
}

/** The label of a return: right of its lane or, left to right, above it; clear of lines to lanes further out. */
function labelOf(
  vertical: boolean,
  all: Point[][],
  line: Point[],
  one: Plan["returns"][number],
): Routed["labels"][number] {
  const lane = Math.max(...line.map(([across]) => across));
  const onLane = line.filter(([across]) => across === lane).map(([, along]) => along);
  const [top, bottom] = [Math.min(...onLane), Math.max(...onLane)];
  const width = LABEL_GAP + labelWidth(one.label);
  const [low, high] = vertical ? [lane, lane + width] : [lane - LABEL_HEIGHT - 2, lane];
  const length = vertical ? LABEL_HEIGHT + 4 : width;
  const crossed = all.flatMap((other) => levelsIn(other, low, high));
  let along = top;
  const isCrossed = () => crossed.some((level) => level > along && level < along + length);
  while (isCrossed() && along + length < bottom) along += 4;
  return { across: lane, along, text: one.label, net: -1, before: false, wire: one.out };
}

/** Where a line runs across a strip along the flow. */
function levelsIn(line: Point[], low: number, high: number): number[] {
  return line.slice(1).flatMap(([across, along], i) => {
    const before = line[i] ?? [across, along];
    const [start, end] = [Math.min(before[0], across), Math.max(before[0], across)];
    return before[1] === along && end > low && start < high ? [along] : [];
  });
}

/** Gap between the steps of a loop and their output wires, and between these wires. */
const BELOW_STEPS = 12;
const WIRE_STEP = 16;

/**
 * Aligns the tops of the steps of a loop, although states may leave them at another height. Output wires pass close below
 * the steps, because dot would keep wires as far apart as items.
 */
export function inOneRow(planned: Plan, ranking: Ranking): Ranking {
  if (new Set(ranking.rank).size < planned.slots.length) return ranking;
  const start = Math.min(...planned.slots.map((slot, i) => (ranking.across[i] ?? 0) - slot.across / 2));
  const end = start + Math.max(...planned.slots.map((slot) => slot.across));
  const outputs = [...ranking.outputs];
  let least = end + BELOW_STEPS;
  for (const port of outputs.map((_, i) => i).sort((a, b) => (outputs[a] ?? 0) - (outputs[b] ?? 0))) {
    if ((outputs[port] ?? 0) < least) continue;
    outputs[port] = least;
    least += WIRE_STEP;
  }
  return { ...ranking, outputs, across: planned.slots.map((slot) => start + slot.across / 2) };
}
