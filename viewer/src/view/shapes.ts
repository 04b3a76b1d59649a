/** Structures of models that have a layout of their own. */

/** Towers and encoder | decoder beside each other. */
export const SHAPES = ["columns"] as const;

export type Shape = (typeof SHAPES)[number];
