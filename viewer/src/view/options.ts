import type { Family } from "./labels/op_families.js";
import type { Direction, Shape } from "./state.js";

/** The author's options for the initial state. The viewer chooses options that are absent or null. */
export interface ViewOptions {
  depth?: number | null;
  expand?: string[] | null;
  /** Patterns of modules that stay collapsed; takes precedence over all other options. */
  collapse?: string[] | null;
  /**
   * One direction, or pairs of pattern and direction: the last matching pair wins, and `*` also matches the model itself.
   * Pairs, because an object would order `0` before `*`.
   */
  direction?: Direction | readonly (readonly [pattern: string, direction: Direction])[] | null;
  /** Whether calls of functions are boxes; null means true. */
  functions?: boolean | null;
  /** Whether a convolution, its normalisation and its activation are one box; null means true. */
  layers?: boolean | null;
  /** Width and height of the page in px. */
  fit?: readonly [width: number, height: number] | null;
  /** Whether the width of edges grows with the size of their tensors. */
  edge_width?: "bytes" | null;
  /** Whether a legend explains the colours; null means true. */
  legend?: boolean | null;
  /** The structures with their own layout. */
  shapes?: readonly Shape[] | "none" | null;
  /** Colours of kinds in flat pictures; other pictures have a style sheet. */
  palette?: Partial<Record<Family, string>> | null;
}
