/** Where shapes change: most steps of a model keep the shape, and readers look for those that don't. */
import { BORDER, type Frame } from "./frame.js";

/** Marks wires behind an item by whether its shape is one of those that enter the item. */
export function markChanges({ items, wires }: Frame): void {
  const entering = items.map(() => new Set<string>());
  for (const { to, flow, label } of wires)
    if (to !== BORDER && flow === "data" && label !== "") entering[to]?.add(label);
  for (const wire of wires) {
    const before = wire.from === BORDER ? undefined : entering[wire.from];
    if (before === undefined || before.size === 0 || wire.flow !== "data" || wire.label === "") continue;
    wire.shape = before.has(wire.label) ? "same-shape" : "new-shape";
  }
}
