/** Pictures are not shown smaller than this: their labels of 10 px are then as large as footnote marks, but legible. */
export const LEGIBLE_SCALE = 0.7;
