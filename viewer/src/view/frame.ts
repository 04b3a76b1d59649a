/** The parts of a view: frames of items and wires, without positions. */
import type { Flow, GraphNode, OnlyIn } from "../graph/graph.js";
import type { Family, Glyph } from "./labels/op_families.js";
import type { Shape } from "./shapes.js";
import type { Direction } from "./state.js";

/** The end of a wire at the container's border. */
export const BORDER = -1;

export interface Wire {
  /** Position in `Frame.items`, or `BORDER`. */
  from: number;
  to: number;
  /** Position among the frame's inputs or outputs (at the border) or the ports of an expanded item; else -1. */
  fromPort: number;
  toPort: number;
  tensor: string;
  /** Number of tensors, of which that is the first. */
  count: number;
  /** The tensor's port at the source: wires with the same port start as one. */
  source: string;
  /** `return`: from a step of a loop to the next. */
  flow: Flow | "return";
  /** The tensor's shape, for the label; of a return also its name. */
  label: string;
  /** Whether the item in front of it keeps the shape; absent where nothing enters it. */
  shape?: "same-shape" | "new-shape";
  /** Step of thickness, from 1. */
  width?: number;
  /** In the picture of a difference: which graph has it, and its label in the earlier one if that is another. */
  only?: OnlyIn | undefined;
  former?: string;
}

export type ItemKind = GraphNode["kind"] | "group";

/** A visible node, collapsed module, or expanded module with its frame. */
export interface Item {
  id: string;
  kind: ItemKind;
  family: Family;
  name: string;
  detail: string;
  glyph: Glyph | null;
  /** Number of repeats that the item stands for. */
  times: number;
  /** Whether the repeats are a loop over time: chained, with shared or no weights. */
  loop: boolean;
  /** For the first member of an unrolled run, the number of members; else 1. */
  unrolled: number;
  /** The run it stands for or, unrolled, is the first member of; empty if none. */
  run: string;
  /** Ids of all that a rolled repeat stands for, in order; else empty. */
  members: string[];
  expandable: boolean;
  /** Whether it stands for equal blocks, or holds them; absent in frames that fewer than two tensors enter. */
  stack?: boolean;
  /** Extra CSS classes: `error`, `unseen`, `again`, `highlight`, `faded`; in a difference `added`, `removed`, `changed`, `same`. */
  marks: string[];
  /** In a difference, positions in the list of changes. */
  changes?: readonly number[];
  /** In a difference, its text in the earlier graph, where it was another. */
  former?: { name: string; detail: string };
  frame: Frame | null;
  /** What a closed container would show. */
  inside?: () => Frame;
  /** Numbers of the author's notes. */
  notes?: readonly number[];
  /** The author's images: the first of its own, and how many more there are, also inside of a closed box. */
  thumb?: Thumb;
  moreImages?: number;
  /** Whether its text is broken into shorter lines. */
  narrow?: boolean;
}

export type Alignment = "start" | "center" | "end";

/** An image at a node, shown small. */
export interface Thumb {
  /** Numbers of this image and others at the same node. */
  numbers: readonly number[];
  source: string;
  alt: string;
  width: number;
  height: number;
}

/** How the author places what is in a container. */
export interface Placing {
  /** Most items beside each other; 0 leaves that to the flow. */
  most: number;
  /** Number of lines of a flow from left to right; 0 for as many as the page needs. */
  lines: number;
  /** Positions of items in their order. */
  order: readonly number[];
  /** Which of their edges are in line; absent where the layout decides. */
  align?: Alignment;
}

/** The inside of an expanded container, or of the model. */
export interface Frame {
  id: string;
  direction: Direction;
  items: Item[];
  wires: Wire[];
  /** Ports: the tensors that cross the border, in order. */
  inputs: string[];
  outputs: string[];
  placing?: Placing;
  /** Whether it runs across the direction of the picture, as its author wants. */
  turned?: boolean;
}

export interface View {
  root: Frame;
  direction: Direction;
  line: number;
  shapes: readonly Shape[];
  /** Whether width is scarce. */
  narrow: boolean;
  legend: boolean;
}
