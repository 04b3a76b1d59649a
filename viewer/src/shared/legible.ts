/** Pictures on pages are not shown smaller than this: their labels of 10 px then have 9 px. */
export const READABLE_SCALE = 0.9;
/** Those that have to fit a screen or paper, and steps of tours, not smaller than this: their labels are then as large as footnote marks. */
export const LEGIBLE_SCALE = 0.7;
