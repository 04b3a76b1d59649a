/** What the reader of a diagram can change. */

import type { Shape } from "./shapes.js";

export type Direction = "TB" | "LR";

/** Plain data; ids are those of module calls. */
export interface State {
  /** Modules shown with their contents. */
  expanded: string[];
  /** Runs (`Item.run`) shown one by one instead of once with `×12`. */
  unrolled: string[];
  direction: Direction;
  /** Modules laid out in the other direction. */
  turned?: string[];
  /** Whether calls of functions are boxes; they are unless this is false. */
  functions?: boolean;
  /** Also show reshapes, casts, inactive dropout, constants and the like. */
  plumbing?: boolean;
  /** Containers with more children than `most`, inputs or outputs than `ends` show some as bundles, which can be expanded. */
  most?: number | undefined;
  ends?: number | undefined;
  /** Whether edges are thicker the more their tensors hold. */
  edgeWidth?: "bytes";
  /** Modules that are in no bundle. */
  kept?: readonly string[] | undefined;
  /** Longest line of a left-to-right model in px, for pages of another width than a screen's. */
  line?: number;
  /** The structures that have a layout of their own; absent if all have. */
  shapes?: readonly Shape[];
  /** Whether the colours are explained; they are unless this is false. */
  legend?: boolean;
  /** Whether all containers are narrow, as those in columns are, and boxes, too. */
  narrow?: boolean;
}
