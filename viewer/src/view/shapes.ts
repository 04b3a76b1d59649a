/** Structures of models that have a layout of their own. */

/** Towers and encoder | decoder beside each other; down, across and up again, with level skips. */
export const SHAPES = ["columns", "u"] as const;

export type Shape = (typeof SHAPES)[number];
