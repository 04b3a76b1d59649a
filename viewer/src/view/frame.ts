import type { Positions } from "../graph/cases.js";
import type { Flow, GraphNode, OnlyIn } from "../graph/graph.js";
import type { Family, Glyph } from "./labels/op_families.js";
import type { Direction, Shape } from "./state.js";

/** The parts of a view: frames of items and wires, without positions. */

/** The end of a wire at the container's border. */
export const BORDER = -1;

export interface Wire {
  /** Position in `Frame.items`, or `BORDER`. */
  from: number;
  to: number;
  /** Position among the frame's inputs or outputs (at the border) or among the ports of an expanded item; else -1. */
  fromPort: number;
  toPort: number;
  tensor: string;
  /** Number of tensors; `tensor` is the first. */
  count: number;
  /** The tensor's port at the source: wires with the same port start as one line. */
  source: string;
  /** `return`: from a step of a loop to the next. */
  flow: Flow | "return";
  /** The tensor's shape; for a return also its name. */
  label: string;
  /** Whether the item that it leaves keeps the shape; absent if nothing enters that item. */
  shape?: "same-shape" | "new-shape";
  /** Step of thickness, from 1. */
  width?: number;
  /** In a difference: the graph that has it, and its label in the earlier one if that differs. */
  only?: OnlyIn | undefined;
  former?: string;
  /** The cases in which it and its ends run, if its container runs in others, too. */
  cases?: Positions;
  /** Their letters, if both ends run in more of them. */
  letters?: string;
  /** Whether only forced passes have it. */
  forced?: true;
  /** The shape in each shown case, empty where it has none; absent if all are equal. */
  sizes?: readonly string[];
}

type ItemKind = GraphNode["kind"] | "group";

/** A visible node, collapsed module, or expanded module with its frame. */
export interface Item {
  id: string;
  kind: ItemKind;
  family: Family;
  name: string;
  detail: string;
  glyph: Glyph | null;
  /** Number of repeats that the item represents. */
  times: number;
  /** What its badge says instead: `×T`. */
  count?: string;
  /** Whether the repeats are a loop over time: chained, with shared or no weights. */
  loop: boolean;
  /** For the first member of an unrolled run, the number of members; else 1. */
  unrolled: number;
  /** The run that it represents or, if unrolled, whose first member it is; empty if none. */
  run: string;
  /** Ids of all nodes that a rolled repeat represents, in order; else empty. */
  members: string[];
  expandable: boolean;
  /** Whether it represents or holds equal blocks; absent in frames with fewer than two inputs. */
  stack?: boolean;
  /** Extra CSS classes: `error`, `unseen`, `again`, `highlight`, `faded`; in a difference `added`, `removed`, `changed`, `same`. */
  marks: string[];
  /** In a difference, positions in the list of changes. */
  changes?: readonly number[];
  /** In a difference, its text in the earlier graph if that differs. */
  former?: { name: string; detail: string };
  frame: Frame | null;
  /** What a closed container shows when opened. */
  inside?: () => Frame;
  /** Numbers of the author's notes. */
  notes?: readonly number[];
  /** The author's images: the first of the node, and the number of others, including those inside a closed box. */
  thumb?: Thumb;
  moreImages?: number;
  /** Whether its text is broken into shorter lines. */
  narrow?: boolean;
  /** More about it, shown on hover. */
  hint?: string;
  /** Where the bar of a lens begins, and its length, as parts of the width. */
  bar?: readonly [start: number, length: number];
  /** Whether a closed box contains a condition on a tensor's value. */
  decides?: true;
  /** The cases that run it, if its container runs in others, too; and their letters. None: only forced passes run it. */
  cases?: Positions;
  letters?: string;
  /** Which of few cases runs it alone, from 0. */
  hue?: number;
  /** Names of the cases with these letters. */
  onlyIn?: string;
  /** The cases of each part of a closed box that not all its cases run. */
  hidden?: readonly (readonly number[])[];
  /** The least number of repeats in a case, if others have more; and that of each shown case. */
  least?: number;
  counts?: readonly number[];
}

export type Alignment = "start" | "center" | "end";

/** An image at a node, shown small. */
interface Thumb {
  /** Numbers of this image and others at the same node. */
  numbers: readonly number[];
  source: string;
  alt: string;
  width: number;
  height: number;
}

/** How the author arranges a container. */
export interface Placing {
  /** Most items in a row; 0 for no limit. */
  most: number;
  /** Number of lines of a flow from left to right; 0 for as many as fit the page. */
  lines: number;
  /** Positions of items in the author's order. */
  order: readonly number[];
  /** Which of their edges are aligned; absent if the layout decides. */
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
  /** Whether the author turned it across the direction of the picture. */
  turned?: boolean;
}

/** A case in the legend. */
export interface CaseSign {
  letter: string;
  /** Which of few cases it is, from 0. */
  hue?: number;
  name: string;
}

/** `×12`, or `×T`; empty for an item that stands for one. */
export function timesText({ times, count }: Pick<Item, "times" | "count">): string {
  return times > 1 ? (count ?? `×${times}`) : "";
}

export interface View {
  root: Frame;
  /** The cases, if there are several. */
  cases: readonly CaseSign[];
  direction: Direction;
  line: number;
  shapes: readonly Shape[];
  /** Whether width is scarce. */
  narrow: boolean;
  legend: boolean;
  /** What names of sizes mean, in parts. */
  sizes: readonly string[];
}
