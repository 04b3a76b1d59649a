/** What the reader of a diagram can change. */

export type Direction = "TB" | "LR";

/** Plain data; ids are those of module calls. */
export interface State {
  /** Modules shown with their contents. */
  expanded: string[];
  /** Runs (`Item.run`) shown one by one instead of as one with `×12`. */
  unrolled: string[];
  direction: Direction;
  /** Modules laid out in the other direction. */
  turned?: string[];
  /** Whether calls of functions are boxes, as by default. */
  functions?: boolean;
  /** Whether a convolution, its normalisation and its activation are one box, as by default. */
  layers?: boolean;
  /** Whether reshapes, casts, inactive dropout, constants and the like are shown. */
  plumbing?: boolean;
  /** Whether sizes are numbers although they have names. */
  numbers?: boolean;
  /** Containers with more children than `most`, or more inputs or outputs than `ends`, show some as bundles. */
  most?: number | undefined;
  ends?: number | undefined;
  /** Whether edges are thicker the more their tensors hold. */
  edgeWidth?: "bytes";
  /** Modules that are never bundled. */
  kept?: readonly string[] | undefined;
  /** Longest line of a model from left to right, px; absent for that of a screen. */
  line?: number;
  /** The structures with their own layout; absent for all. */
  shapes?: readonly Shape[];
  /** Whether a legend explains the colours, as by default. */
  legend?: boolean;
  /** Whether all boxes and containers are narrow, as in columns. */
  narrow?: boolean;
}

/** Structures of models that have a layout of their own. */

/**
 * Towers and encoder | decoder beside each other; down, across and up again, with level skips; streams that keep their
 * places; branches around the middle of what forks and joins them; arcs of dense blocks at one side.
 */
export const SHAPES = ["columns", "u", "streams", "fans", "dense"] as const;

export type Shape = (typeof SHAPES)[number];

/** Those that any flow may have, and that cost no width. */
export const IN_ONE_FLOW: readonly Shape[] = ["streams", "fans", "dense"];
