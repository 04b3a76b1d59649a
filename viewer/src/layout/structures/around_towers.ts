import { memoByObject } from "../../shared/memo.js";
import { BORDER, type Frame, type Item, type Wire } from "../../view/frame.js";
import type { Shape } from "../../view/state.js";
import { MOST_IN_ORDER } from "../decross/order.js";
import { towersOf } from "./structured.js";
import type { Towers } from "./towers.js";

/**
 * Items around a container with towers inside, such as a wrapper around an encoder and a decoder, have the left-right order
 * of the towers even while the container is closed. Otherwise, opening it would make them change sides.
 */

/** Item → the column that it reads or that reads it. */
type Columns = Map<number, number>;

/** Items in the order of the columns that they lead to or read. */
export function aroundTowers(frame: Frame, shapes: readonly Shape[]): number[][] {
  if (frame.direction !== "TB" || !shapes.includes("columns") || frame.items.length > MOST_IN_ORDER) return [];
  return ordersIn(frame);
}

const ordersIn = memoByObject(({ items, wires }: Frame): number[][] =>
  items.flatMap((item, i) => {
    if (!mayHoldTowers(item)) return [];
    const isOnwards = ({ from, to, flow }: Wire) => flow !== "return" && from !== BORDER && to !== BORDER;
    const [into, out] = [
      wires.filter((wire) => wire.to === i && isOnwards(wire)),
      wires.filter((wire) => wire.from === i && isOnwards(wire)),
    ];
    if (!isBetween(into, "from") && !isBetween(out, "to")) return [];
    const inside = insideOf(item);
    const towers = inside && towersOf(inside);
    if (!inside || !towers) return [];
    return [sources(inside, towers, into), readers(inside, towers, out)].flatMap(inColumns);
  }),
);

/** Whether an item is a module with several inputs. Functions, such as those for rotary tables, hold no stacks. */
function mayHoldTowers({ kind, frame, inside }: Item): boolean {
  return kind === "module" && (frame === null ? inside !== undefined : frame.inputs.length > 1);
}

/** Whether wires lead from or to several items. */
function isBetween(wires: readonly Wire[], end: "from" | "to"): boolean {
  return new Set(wires.map((wire) => wire[end])).size > 1;
}

function insideOf(item: Item): Frame | undefined {
  const inside = item.frame ?? item.inside?.();
  return inside?.direction === "TB" ? inside : undefined;
}

function sources({ inputs, wires }: Frame, towers: Towers, into: readonly Wire[]): Columns {
  return leftmost(
    into,
    ({ from, tensor }) => {
      const inner = wires.filter((wire) => wire.from === BORDER && inputs[wire.fromPort] === tensor);
      return [from, inner.map(({ to }) => to)];
    },
    towers,
  );
}

function readers({ outputs, wires }: Frame, towers: Towers, out: readonly Wire[]): Columns {
  return leftmost(
    out,
    ({ to, source }) => {
      const inner = wires.filter((wire) => wire.to === BORDER && outputs[wire.toPort] === source);
      return [to, inner.map(({ from }) => from)];
    },
    towers,
  );
}

function leftmost(
  all: readonly Wire[],
  endsOf: (wire: Wire) => [item: number, inside: number[]],
  { columns }: Towers,
): Columns {
  const found: Columns = new Map();
  for (const [item, inside] of all.map(endsOf)) {
    const places = inside.map((one) => columns.findIndex((column) => column.includes(one)));
    const column = Math.min(...places.filter((place) => place >= 0));
    if (Number.isFinite(column)) found.set(item, Math.min(column, found.get(item) ?? column));
  }
  return found;
}

function inColumns(found: Columns): number[][] {
  const items = [...found].sort(([a, column], [b, other]) => column - other || a - b);
  return new Set(found.values()).size > 1 ? [items.map(([item]) => item)] : [];
}
