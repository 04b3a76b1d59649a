import type { Family } from "./labels/op_families.js";
import type { Shape } from "./shapes.js";
import type { Direction } from "./state.js";

/** The author's options for the initial state; the viewer chooses those that are absent or null. */
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
  /** Whether calls of functions are boxes; null is true. */
  functions?: boolean | null;
  /** Width and height of the page in px. */
  fit?: readonly [width: number, height: number] | null;
  /** Whether edges are thicker the more their tensors hold. */
  edge_width?: "bytes" | null;
  /** Whether the colours are explained; null is true. */
  legend?: boolean | null;
  /** The structures that have a layout of their own, or none of them. */
  shapes?: readonly Shape[] | "none" | null;
  /** Colours of kinds in flat pictures; others have a style sheet. */
  palette?: Partial<Record<Family, string>> | null;
}
