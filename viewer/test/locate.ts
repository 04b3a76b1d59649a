/** Where an item is on the page. */
import type { Box } from "../src/layout/coord/geometry.js";
import type { Layout, Placed } from "../src/layout/layout.js";

/** Absolute box of an item; null if it is not visible. */
export function locate(found: Layout, id: string): Box | null {
  const stack: { placed: Placed; x: number; y: number }[] = [{ placed: found.root, x: 0, y: 0 }];
  for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
    const { placed, x, y } = at;
    for (const [i, item] of placed.frame.items.entries()) {
      const box = placed.geometry.boxes[i];
      if (box === undefined) continue;
      const absolute = { ...box, x: x + box.x, y: y + box.y };
      if (item.id === id) return absolute;
      const inner = placed.inner[i];
      if (inner) stack.push({ placed: inner, x: absolute.x, y: absolute.y });
    }
  }
  return null;
}
