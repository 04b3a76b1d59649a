/** Structures of models that have a layout of their own. */

/**
 * Towers and encoder | decoder beside each other; down, across and up again, with level skips; streams that keep their
 * places; branches around the middle of what forks and joins them; arcs of dense blocks at one side.
 */
export const SHAPES = ["columns", "u", "streams", "fans", "dense"] as const;

export type Shape = (typeof SHAPES)[number];

/** Those that any flow may have, and that cost no width. */
export const IN_ONE_FLOW: readonly Shape[] = ["streams", "fans", "dense"];
