/**
 * A large picture, only the visible part of which is in the document: many elements slow browsers down, whereas laying out
 * everything costs little.
 */
import type { Box, Layout, Placed } from "../../layout/layout.js";
import type { Drawing } from "../../session/session.js";
import { parseSvg } from "../loading/trusted_types.js";
import type { Rank, TreeItem } from "./tree_navigation.js";

/** Pictures with fewer nodes are in the document as a whole. */
export const LARGE = 150;
/** Least height of a drawn node, and least sides of a container whose inside is drawn, px on screen. */
const SMALLEST_NODE = 2;
const SMALLEST_INSIDE = 16;
/** Least scales for labels, and for any text. */
const SMALLEST_LABEL = 0.4;
const SMALLEST_TEXT = 0.25;
/** Margin that is drawn around the viewport, as a share of its size, so that small movements show no gaps. */
const MARGIN = 0.3;

/** The visible part of a picture, in the picture's coordinates; `scale` is px on screen per unit. */
export interface Viewport extends Box {
  scale: number;
}

/** A node, a label, or a part of the wires of a container, at its position there. */
interface Entry {
  box: Box;
  element: SVGElement | undefined;
  /** Its contents in the document, if it is an expanded node whose inside is drawn. */
  part: Part | undefined;
  /** The layout of its inside, if it is expanded. */
  inner: Placed | null;
  kind: "node" | "label" | "wire";
  draw: () => string;
}

/** A container whose inside is in the document. */
interface Part {
  group: Element;
  entries: Entry[];
  /** The group of its wires, and the wires. */
  edges: Element;
  wires: Entry[];
}

/** A node, drawn or not. */
export interface TreeNode extends TreeItem, Rank {
  id: string;
}

export class Scene {
  readonly picture: SVGSVGElement;
  /** Called with nodes that were added to the document. */
  onAdded: (elements: SVGElement[]) => void = () => undefined;
  readonly #layout: Layout;
  readonly #drawing: Drawing;
  readonly #root: Part;
  /** The viewport with margins that was drawn last. */
  #drawn: Viewport | undefined;

  constructor(layout: Layout, drawing: Drawing) {
    this.#layout = layout;
    this.#drawing = drawing;
    this.picture = parseSvg(drawing.picture(layout, { inside: placeholder }).svg)[0] as SVGSVGElement;
    this.#root = this.#partOf(this.picture, layout.root);
  }

  /** All nodes, in reading order. */
  get nodes(): readonly TreeNode[] {
    return nodesIn(this.#layout.root, 1);
  }

  /** The box in the picture of the node at the end of a path. */
  box(path: readonly number[]): Box {
    return boxAt(this.#layout.root, path);
  }

  /** Put the contents of the viewport into the document and remove the rest; whether there was anything to do. */
  update(viewport: Viewport): boolean {
    const { scale } = viewport;
    const drawn = this.#drawn;
    if (scale === 0 || (drawn?.scale === scale && contains(drawn, viewport))) return false;
    const wide = widened(viewport);
    this.#drawn = wide;
    this.picture.classList.toggle("mg-far", scale < SMALLEST_TEXT);
    const active = (this.picture.getRootNode() as ShadowRoot).activeElement;
    this.onAdded(this.#fill(this.#root, wide, active));
    return true;
  }

  /** The element of the node at the end of a path; outside the viewport, it stays until the next update. */
  element(path: readonly number[]): SVGElement | undefined {
    let part = this.#root;
    let found: SVGElement | undefined;
    let hasAdded = false;
    for (const position of path) {
      const entry = part.entries[position];
      if (entry === undefined) return undefined;
      if (entry.element === undefined) {
        this.onAdded(insert(part.group, part.entries, new Set([entry])));
        hasAdded = true;
      }
      found = entry.element;
      if (entry.inner !== null) part = this.#open(entry, entry.inner);
    }
    // the next update must remove what was added outside the viewport
    if (hasAdded) this.#drawn = undefined;
    return found;
  }

  #partOf(container: SVGElement, { frame, geometry, inner }: Placed): Part {
    const { drawItem, drawLabel, wireLetters, wireParts } = this.#drawing;
    const group = container.querySelector(":scope > .mg-inside") as Element;
    const edges = group.firstElementChild as Element;
    const absent = { element: undefined, part: undefined };
    const items = geometry.boxes.map((box, i): Entry => {
      const item = frame.items[i];
      const inside = inner[i] ?? null;
      const draw = () => (item === undefined ? "" : drawItem(item, box, inside, { inside: placeholder }));
      return { ...absent, box, inner: inside, kind: "node", draw };
    });
    const labels = geometry.labels.map((label): Entry => {
      const draw = () => drawLabel(label, frame);
      return { ...absent, box: label, inner: null, kind: "label", draw };
    });
    const wires = wireParts(frame, geometry).map((wire): Entry => ({ ...absent, ...wire, inner: null, kind: "wire" }));
    const letters = wireLetters(frame, geometry).map(
      (part): Entry => ({ ...absent, ...part, inner: null, kind: "label" }),
    );
    return { group, entries: [...items, ...labels, ...letters], edges, wires };
  }

  #open(entry: Entry, placed: Placed): Part {
    entry.part ??= this.#partOf(entry.element as SVGElement, placed);
    return entry.part;
  }

  /** Let a container hold its visible contents and the focused node; returns added nodes. */
  #fill(part: Part, viewport: Viewport, active: Element | null): SVGElement[] {
    hold(part.edges, part.wires, viewport, active);
    const added = hold(part.group, part.entries, viewport, active);
    for (const entry of part.entries) {
      const { box, inner, element } = entry;
      if (inner === null || element === undefined) continue;
      const inside = { ...viewport, x: viewport.x - box.x, y: viewport.y - box.y };
      const isLegible = Math.min(box.width, box.height) * viewport.scale >= SMALLEST_INSIDE;
      if (isLegible || element.contains(active)) added.push(...this.#fill(this.#open(entry, inner), inside, active));
      else close(entry);
    }
    return added;
  }
}

/** Whether a picture has too many nodes for the document. */
export function isLarge(layout: Layout): boolean {
  const waiting = [layout.root];
  let nodes = 0;
  for (let at = waiting.pop(); at !== undefined && nodes < LARGE; at = waiting.pop()) {
    nodes += at.frame.items.length;
    for (const inner of at.inner) if (inner !== null) waiting.push(inner);
  }
  return nodes >= LARGE;
}

/** The inside of a container before anything of it is visible. */
function placeholder(): string {
  return '<g class="mg-inside"><g class="mg-edges"></g></g>';
}

function close(entry: Entry): void {
  for (const inside of entry.part?.entries ?? []) inside.element?.remove();
  entry.part?.edges.replaceChildren();
  entry.part = undefined;
}

function isVisible({ box, kind }: Entry, viewport: Viewport): boolean {
  const inside = box.x < viewport.x + viewport.width && box.x + box.width > viewport.x;
  if (!inside || box.y > viewport.y + viewport.height || box.y + box.height < viewport.y) return false;
  if (kind === "label") return viewport.scale >= SMALLEST_LABEL;
  return kind === "wire" || box.height * viewport.scale >= SMALLEST_NODE;
}

/** Let a group hold its visible entries and the focused node; returns added nodes. */
function hold(group: Element, entries: readonly Entry[], viewport: Viewport, active: Element | null): SVGElement[] {
  const visible = new Set(entries.filter((entry) => isVisible(entry, viewport)));
  for (const entry of entries) {
    if (visible.has(entry) || entry.element?.contains(active) !== false) continue;
    entry.element.remove();
    entry.element = undefined;
    entry.part = undefined;
  }
  return insert(group, entries, new Set([...visible].filter((entry) => entry.element === undefined)));
}

/** Draw entries of a group and insert them in reading order; returns the nodes among them. */
function insert(group: Element, all: readonly Entry[], missing: ReadonlySet<Entry>): SVGElement[] {
  if (missing.size === 0) return [];
  const entries = [...missing];
  const made = parseSvg(entries.map((entry) => entry.draw()).join(""));
  entries.forEach((entry, i) => {
    entry.element = made[i];
  });
  let next: Element | null = null;
  for (const entry of [...all].reverse()) {
    if (entry.element === undefined) continue;
    if (missing.has(entry)) group.insertBefore(entry.element, next);
    next = entry.element;
  }
  return made.filter((_, i) => entries[i]?.kind === "node");
}

function widened({ x, y, width, height, scale }: Viewport): Viewport {
  const [dx, dy] = [width * MARGIN, height * MARGIN];
  return { x: x - dx, y: y - dy, width: width + 2 * dx, height: height + 2 * dy, scale };
}

function contains(outer: Box, inner: Box): boolean {
  const right = outer.x + outer.width >= inner.x + inner.width;
  const bottom = outer.y + outer.height >= inner.y + inner.height;
  return outer.x <= inner.x && outer.y <= inner.y && right && bottom;
}

/** All nodes in a container, cached because toggling leaves most containers unchanged. */
const insides = new WeakMap<Placed, readonly TreeNode[]>();

function nodesIn(placed: Placed, level: number): readonly TreeNode[] {
  const known = insides.get(placed);
  if (known?.[0]?.level === level) return known;
  const found: TreeNode[] = [];
  const { items } = placed.frame;
  items.forEach((item, i) => {
    const inside = placed.inner[i] ?? null;
    const canToggle = item.expandable && item.kind !== "group";
    const expanded = canToggle ? inside !== null : undefined;
    found.push({ id: item.id, level, expanded, at: i + 1, of: items.length });
    if (inside !== null) for (const node of nodesIn(inside, level + 1)) found.push(node);
  });
  insides.set(placed, found);
  return found;
}

/** The box of a node in its picture. */
export function boxIn(root: Placed, id: string): Box | undefined {
  const path = pathTo(root, id);
  return path && boxAt(root, path);
}

function boxAt(root: Placed, path: readonly number[]): Box {
  let [at, found]: [Placed | null | undefined, Box] = [root, { x: 0, y: 0, width: 0, height: 0 }];
  for (const position of path) {
    const box: Box | undefined = at?.geometry.boxes[position];
    if (box !== undefined) found = { ...box, x: found.x + box.x, y: found.y + box.y };
    at = at?.inner[position];
  }
  return found;
}

/** Indices of the items around a node, outermost first, and of the node itself. */
function pathTo(root: Placed, id: string): number[] | undefined {
  const position = root.frame.items.findIndex((item) => item.id === id);
  if (position >= 0) return [position];
  for (const [i, inner] of root.inner.entries()) {
    const rest = inner === null ? undefined : pathTo(inner, id);
    if (rest !== undefined) return [i, ...rest];
  }
  return undefined;
}
