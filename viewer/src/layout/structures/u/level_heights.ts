/** Aligns the levels of a U: both arms are stretched until each skip leaves one at the height where the other reads it. */
import { type Box, type Geometry, stretched } from "../../coord/geometry.js";

/** An arm and its distance from the top of the U. */
export interface Arm {
  geometry: Geometry;
  drop: number;
}

/** A level of an arm: the height of its skip, and the box that the skip leaves or reaches. */
export interface SkipLevel {
  at: number;
  box: Box;
}

/** Distance of a cut from what it passes. */
export const BESIDE = 2;
/** Closer heights are equal. */
export const EQUAL = 0.01;

/** The arms with aligned levels; null if something is beside two levels. */
export function inLine(
  left: Geometry,
  right: Geometry,
  levels: readonly (readonly [SkipLevel, SkipLevel])[],
): [Arm, Arm] | null {
  const arms: [Arm, Arm] = [
    { geometry: left, drop: 0 },
    { geometry: right, drop: 0 },
  ];
  const added: [number, number] = [0, 0];
  for (const [i, [down, up]] of levels.entries()) {
    const missing = up.at + added[1] - down.at - added[0];
    if (Math.abs(missing) < EQUAL) continue;
    const side = missing > 0 ? 0 : 1;
    const above = levels[i - 1];
    const at = side === 0 ? before(left, down, above?.[0]) : after(right, above?.[1] ?? up, up);
    if (at === null) return null;
    arms[side] = lowered(arms[side], above && at + added[side], Math.abs(missing));
    added[side] += Math.abs(missing);
  }
  return arms;
}

/** An arm that is lower from a height on; without a height, as a whole. */
function lowered({ geometry, drop }: Arm, at: number | undefined, by: number): Arm {
  return at === undefined ? { geometry, drop: drop + by } : { geometry: stretched(geometry, at - drop, by), drop };
}

/** A height just before the row of a level in the left arm or, if a box has several levels, below the level above. */
function before({ boxes, labels }: Geometry, { box }: SkipLevel, above: SkipLevel | undefined): number | null {
  if (above?.box === box) return free([...boxes, ...labels], above.at + BESIDE);
  const row = boxes.filter(({ y, height }) => y < box.y + box.height && box.y < y + height);
  return free([...boxes, ...labels], Math.min(...row.map(({ y }) => y)) - BESIDE);
}

/** A height after a level in the right arm, which flows up, and before everything below, or another level of its box. */
function after({ boxes, labels }: Geometry, { at, box }: SkipLevel, next: SkipLevel): number | null {
  if (next.box === box && next.at !== at) return free([...boxes, ...labels], at + BESIDE);
  const end = Math.max(at, box.y + box.height);
  const starts = [...boxes, ...labels].map(({ y }) => y).filter((start) => start >= end);
  return free([...boxes, ...labels], Math.min(...starts) - BESIDE);
}

export function free(all: readonly Box[], height: number): number | null {
  return all.some((one) => one.y < height && height < one.y + one.height) ? null : height;
}
