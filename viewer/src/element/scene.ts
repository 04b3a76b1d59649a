/**
 * A large picture, of which only what is in sight is in the document. Elements are what makes browsers slow, not the
 * layout: that knows where everything is.
 */
import { drawItem, drawLabel, drawWires, picture } from "../draw.js";
import type { Box, Layout, Placed } from "../layout.js";
import type { Item as TreeItem } from "./keys.js";
import { parseSvg } from "./trusted.js";

/** Pictures with fewer nodes are no burden, and are simply there. */
export const LARGE = 150;
/** Not drawn when smaller than this, px on screen: a node's height, both sides of a container with its inside. */
const SMALLEST_NODE = 2;
const SMALLEST_INSIDE = 16;
/** Labels, and then all words, are left out when the picture is made smaller than this. */
const SMALLEST_LABEL = 0.4;
const SMALLEST_WORDS = 0.25;
/** Drawn around the window, as a part of its sides, so that small movements show nothing missing. */
const AROUND = 0.3;

/** What of a picture is in sight, in its own coordinates, and px on screen for each of its own. */
export interface Sight extends Box {
  scale: number;
}

/** A node or label of a container; where it stands inside it. */
interface Entry {
  box: Box;
  element: SVGElement | undefined;
  /** What is in the document of its inside. */
  part: Part | undefined;
  /** Its inside, if it is expanded. */
  inner: Placed | null;
  isLabel: boolean;
  draw: () => string;
}

/** A container in the document. */
interface Part {
  group: SVGElement;
  wires: Element | null;
  entries: Entry[];
}

/** A node as the tree of nodes knows it. */
export interface Listed extends TreeItem {
  id: string;
}

export class Scene {
  readonly picture: SVGSVGElement;
  /** Told of nodes that came into the document. */
  onNew: (elements: SVGElement[]) => void = () => undefined;
  readonly #layout: Layout;
  readonly #root: Part;
  #drawn: Sight | undefined;

  constructor(layout: Layout) {
    this.#layout = layout;
    this.picture = parseSvg(picture(layout, placeholder).svg)[0] as SVGSVGElement;
    this.#root = partOf(this.picture, layout.root);
  }

  /** All nodes, in reading order. */
  get nodes(): Listed[] {
    const found: Listed[] = [];
    const visit = ({ frame, inner }: Placed, level: number) => {
      frame.items.forEach((item, i) => {
        const within = inner[i] ?? null;
        const toggles = item.expandable && item.kind !== "group";
        found.push({ id: item.id, level, expanded: toggles ? within !== null : undefined });
        if (within !== null) visit(within, level + 1);
      });
    };
    visit(this.#layout.root, 1);
    return found;
  }

  /** Let the document hold what is in sight; whether that was not yet so. */
  look(sight: Sight): boolean {
    const { scale } = sight;
    const drawn = this.#drawn;
    if (scale === 0 || (drawn?.scale === scale && holds(drawn, sight))) return false;
    const x = sight.width * AROUND;
    const y = sight.height * AROUND;
    const wide = { x: sight.x - x, y: sight.y - y, width: sight.width + 2 * x, height: sight.height + 2 * y, scale };
    this.#drawn = wide;
    this.picture.classList.toggle("mg-far", scale < SMALLEST_WORDS);
    const active = (this.picture.getRootNode() as ShadowRoot).activeElement;
    this.onNew(fill(this.#root, wide, active));
    return true;
  }

  /** The element of a node, wherever it is; it stays until something else is looked at. */
  element(id: string): SVGElement | undefined {
    const path = pathTo(this.#layout.root, id);
    if (path === undefined) return undefined;
    let part = this.#root;
    let found: SVGElement | undefined;
    let added = false;
    for (const place of path) {
      const entry = part.entries[place];
      if (entry === undefined) return undefined;
      if (entry.element === undefined) {
        this.onNew(insert(part, new Set([entry])));
        added = true;
      }
      found = entry.element;
      if (entry.inner !== null) part = open(entry, entry.inner);
    }
    // what was added may be out of sight; everything else is as it was
    if (added) this.#drawn = undefined;
    return found;
  }
}

/** A picture that is too large to be in the document as a whole. */
export function isLarge(layout: Layout): boolean {
  const waiting = [layout.root];
  let nodes = 0;
  for (let at = waiting.pop(); at !== undefined && nodes < LARGE; at = waiting.pop()) {
    nodes += at.frame.items.length;
    for (const inner of at.inner) if (inner !== null) waiting.push(inner);
  }
  return nodes >= LARGE;
}

/** A container's inside, before anything of it is in sight. */
function placeholder(): string {
  return '<g class="mg-inside"><g class="mg-edges"></g></g>';
}

function partOf(container: SVGElement, placed: Placed): Part {
  const group = container.querySelector(":scope > .mg-inside") as SVGElement;
  const { frame, geometry, inner } = placed;
  const wires = group.firstElementChild;
  const fresh = { element: undefined, part: undefined };
  const items = geometry.boxes.map((box, i): Entry => {
    const item = frame.items[i];
    const within = inner[i] ?? null;
    const draw = () => (item === undefined ? "" : drawItem(item, box, within, placeholder));
    return { ...fresh, box, inner: within, isLabel: false, draw };
  });
  const labels = geometry.labels.map((label): Entry => {
    const draw = () => drawLabel(label, frame.wires[label.wire]);
    return { ...fresh, box: label, inner: null, isLabel: true, draw };
  });
  wires?.append(...parseSvg(drawWires(frame, geometry)));
  return { group, wires, entries: [...items, ...labels] };
}

function open(entry: Entry, placed: Placed): Part {
  entry.part ??= partOf(entry.element as SVGElement, placed);
  return entry.part;
}

function close(entry: Entry): void {
  for (const inside of entry.part?.entries ?? []) inside.element?.remove();
  entry.part?.wires?.replaceChildren();
  entry.part = undefined;
}

/** Let a container hold what is in sight, and nothing else but the focused node; the nodes that are new. */
function fill(part: Part, sight: Sight, active: Element | null): SVGElement[] {
  const seen = new Set(part.entries.filter((entry) => isSeen(entry, sight)));
  for (const entry of part.entries) {
    if (seen.has(entry) || entry.element?.contains(active) !== false) continue;
    entry.element.remove();
    entry.element = undefined;
    entry.part = undefined;
  }
  const fresh = insert(part, new Set([...seen].filter((entry) => entry.element === undefined)));
  for (const entry of part.entries) {
    const { box, inner, element } = entry;
    if (inner === null || element === undefined) continue;
    const inside = { ...sight, x: sight.x - box.x, y: sight.y - box.y };
    const legible = Math.min(box.width, box.height) * sight.scale >= SMALLEST_INSIDE;
    if (legible || element.contains(active)) fresh.push(...fill(open(entry, inner), inside, active));
    else close(entry);
  }
  return fresh;
}

function isSeen({ box, isLabel }: Entry, sight: Sight): boolean {
  const inside = box.x < sight.x + sight.width && box.x + box.width > sight.x;
  if (!inside || box.y > sight.y + sight.height || box.y + box.height < sight.y) return false;
  return isLabel ? sight.scale >= SMALLEST_LABEL : box.height * sight.scale >= SMALLEST_NODE;
}

/** Put entries where they belong, in reading order; the nodes among them. */
function insert(part: Part, missing: ReadonlySet<Entry>): SVGElement[] {
  if (missing.size === 0) return [];
  const entries = [...missing];
  const made = parseSvg(entries.map((entry) => entry.draw()).join(""));
  entries.forEach((entry, i) => {
    entry.element = made[i];
  });
  let next: Element | null = null;
  for (const entry of [...part.entries].reverse()) {
    if (entry.element === undefined) continue;
    if (missing.has(entry)) part.group.insertBefore(entry.element, next);
    next = entry.element;
  }
  return made.filter((_, i) => !entries[i]?.isLabel);
}

function holds(outer: Box, inner: Box): boolean {
  const right = outer.x + outer.width >= inner.x + inner.width;
  const bottom = outer.y + outer.height >= inner.y + inner.height;
  return outer.x <= inner.x && outer.y <= inner.y && right && bottom;
}

/** Places of the items around a node, and of itself, from the outside in. */
function pathTo(root: Placed, id: string): number[] | undefined {
  const place = root.frame.items.findIndex((item) => item.id === id);
  if (place >= 0) return [place];
  for (const [i, inner] of root.inner.entries()) {
    const rest = inner === null ? undefined : pathTo(inner, id);
    if (rest !== undefined) return [i, ...rest];
  }
  return undefined;
}
