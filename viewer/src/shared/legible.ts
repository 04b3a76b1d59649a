/** Smallest scale of pictures on pages: labels of 10 px then have 9 px. */
export const READABLE_SCALE = 0.9;
/** Smallest scale of pictures that must fit a screen or paper, and of steps of tours: labels are as large as footnote marks. */
export const LEGIBLE_SCALE = 0.7;
