/**
 * Returns of a loop. For routing, each is a wire out of the frame and another one in, over one lane at the right; then
 * both are joined on that lane. Ranking knows nothing of them.
 */
import { BORDER, type Frame } from "../view/frame.js";
import { LABEL_GAP, LABEL_HEIGHT, labelWidth, type Plan } from "./plan.js";
import type { Point, Routed } from "./routing/route.js";

/** Leads returns out of the frame, and in again. */
export function openLoops(plan: Plan, frame: Frame, nets: number[]): void {
  const returns = frame.wires
    .map((wire, i) => ({ wire, net: nets[i] ?? 0 }))
    .filter(({ wire }) => wire.flow === "return");
  const backs = returns.map(({ wire: { from, to, fromPort, toPort, label }, net }, i) => {
    const half = { trunk: false, spine: false, rail: true };
    plan.returns.push({ out: plan.wires.length, in: plan.wires.length + returns.length, label });
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
  const labels = returns.map((one) =>
    labelOf(
      returns.map(({ out }) => lines[out] ?? []),
      lines[one.out] ?? [],
      one,
    ),
  );
  const ends = labels.map(({ across, text }) => across + LABEL_GAP + labelWidth(text));
  return [
    { ...plan, wires },
    {
      ...{ ...routed, lines: lines.slice(0, first.in) },
      ...{ labels: [...routed.labels, ...labels], high: Math.max(routed.high, ...ends) },
    },
  ];
}

/** The label of a return: right of its lane, clear of lines that lead to lanes further out. */
function labelOf(all: Point[][], line: Point[], { out, label }: Plan["returns"][number]): Routed["labels"][number] {
  const lane = Math.max(...line.map(([across]) => across));
  const heights = line.filter(([across]) => across === lane).map(([, along]) => along);
  const [top, bottom] = [Math.min(...heights), Math.max(...heights)];
  const crossed = all.flatMap((other) =>
    other.slice(1).flatMap(([across, along], i) => {
      const before = other[i] ?? [across, along];
      return before[1] === along && Math.max(before[0], across) > lane ? [along] : [];
    }),
  );
  let along = top;
  const isCrossed = () => crossed.some((height) => height > along && height < along + LABEL_HEIGHT + 4);
  while (isCrossed() && along + LABEL_HEIGHT + 4 < bottom) along += 4;
  return { across: lane, along, text: label, net: -1, before: false, wire: out };
}
