/**
 * Cells as in NASNet: ops on a few states, joined in pairs. As in the figures of the papers, ops are in one row, next to
 * those with which they are joined, and joins are in a row below.
 */

import { memoByObject } from "../../shared/memo.js";
import { BORDER, type Frame } from "../../view/frame.js";
import { holdsSteps } from "../../view/repeats/contents.js";
import type { Plan, PlanWire } from "../plan.js";

/** Most extra crossings to keep ops near their joins. */
export const FOR_ROWS = 2;

/** Fewest joins of a cell, and fewest readers of a state. */
const [LEAST_JOINS, LEAST_READERS] = [3, 3];

/** The part of a plan or a frame that shows whether it is a cell. */
interface Flow {
  slots: readonly unknown[];
  wires: readonly Pick<PlanWire, "from" | "fromPort" | "to">[];
}

/** The rows of a cell, ops and joins, in the order of the joins; null if the plan is not a cell. */
export function cellRows({ slots, wires }: Flow): [ops: number[], joins: number[]] | null {
  const sources = slots.map(() => new Set<number>());
  const readers = new Map<number, Set<number>>();
  for (const { from, fromPort, to } of wires) {
    const source = from === BORDER ? BORDER - 1 - fromPort : from;
    sources[to]?.add(source);
    readers.set(source, (readers.get(source) ?? new Set()).add(to));
  }
  const isState = (item: number) => (readers.get(item)?.size ?? 0) >= LEAST_READERS;
  const stateOf = (op: number) => [...(sources[op] ?? [])].find(isState);
  const isOp = (item: number) =>
    sources[item]?.size === 1 && readers.get(item)?.size === 1 && stateOf(item) !== undefined;
  const opsOf = (join: number) => [...(sources[join] ?? [])].filter(isOp).sort((a, b) => a - b);
  const joins = slots.flatMap((_, item) => {
    const read = [...(sources[item] ?? [])];
    return read.length === 2 && read.some(isOp) && read.every((one) => isOp(one) || isState(one)) ? [item] : [];
  });
  const ops = joins.flatMap(opsOf);
  const states = ops.map((op) => stateOf(op) ?? BORDER);
  // a later state may depend on the joins
  const isMadeBefore = Math.max(...states) < Math.min(...ops, ...joins);
  return isMadeBefore && joins.length >= LEAST_JOINS && new Set(states).size > 1 ? [ops, joins] : null;
}

/** A cell from top to bottom as one from left to right, where its ops are below each other; null for other frames. */
export const sidewaysCell = memoByObject((frame: Frame): Frame | null => {
  // several outputs belong to parallel streams
  const mayTurn =
    frame.direction === "TB" && frame.outputs.length === 1 && frame.placing === undefined && !holdsSteps(frame.id);
  return mayTurn && cellRows({ slots: frame.items, wires: frame.wires }) !== null
    ? { ...frame, direction: "LR" }
    : null;
});

/** Item → its place in its row. */
export function placesIn(rows: number[][], { slots }: Plan): number[] {
  return slots.map((_, item) => Math.max(0, ...rows.map((row) => row.indexOf(item))));
}
