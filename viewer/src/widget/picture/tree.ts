/** The nodes of a picture as an ARIA tree: one tab stop, which arrow keys move. */

import type { Box } from "../../layout/layout.js";
import { fill, strings } from "../../shared/strings.js";
import { svg } from "../controls/dom.js";
import type { Scene, TreeNode } from "./scene.js";
import { ranks, step, treePath } from "./tree_navigation.js";

export class Tree {
  readonly picture: SVGSVGElement;
  readonly #nodes: readonly TreeNode[];
  /** Id of a node → its index in reading order. */
  readonly #positions: Map<string, number>;
  /** Draws the picture if only a part of it is in the document. */
  readonly #scene: Scene | undefined;
  /** For a picture drawn as a whole: id of a node → its element. */
  readonly #drawn: ReadonlyMap<string, SVGElement>;
  /** Id of the node that is the tab stop. */
  #current: string | undefined;

  /**
   * Add roles to a picture, whose label becomes that of the tree.
   *
   * @param scene draws the picture if only a part of it is in the document
   * @param before the tree of the previous picture, whose tab stop stays
   */
  constructor(picture: SVGSVGElement, scene?: Scene, before?: Tree) {
    this.picture = picture;
    if (before !== undefined) this.#current = before.#current;
    const elements = [...picture.querySelectorAll<SVGElement>("[data-id]")];
    this.#nodes = scene?.nodes ?? nodesOf(elements);
    this.#positions = new Map(this.#nodes.map(({ id }, i) => [id, i]));
    this.#scene = scene;
    this.#drawn = new Map(scene === undefined ? elements.map((element) => [idOf(element), element]) : []);
    picture.setAttribute("role", "tree");
    this.#describe(elements);
    if (scene !== undefined) scene.onAdded = (added) => this.#describe(added);
  }

  /** Number of nodes, drawn or not. */
  get size(): number {
    return this.#nodes.length;
  }

  /** Ids of all nodes, drawn or not. */
  get ids(): Iterable<string> {
    return this.#positions.keys();
  }

  has(id: string): boolean {
    return this.#positions.has(id);
  }

  /** The element of a node, which is drawn if it isn't in the document. */
  find(id: string): SVGElement | undefined {
    const at = this.#positions.get(id);
    if (at === undefined) return undefined;
    return this.#scene === undefined ? this.#drawn.get(id) : this.#scene.element(treePath(this.#nodes, at));
  }

  /** The box of a node, if only a part of the picture is in the document; else undefined. */
  box(id: string): Box | undefined {
    return this.#scene?.box(treePath(this.#nodes, this.#positions.get(id) ?? -1));
  }

  /** The element of a node, if it is in the document. */
  findDrawn(id: string): SVGElement | undefined {
    if (!this.#positions.has(id)) return undefined;
    return this.picture.querySelector<SVGElement>(`[data-id="${CSS.escape(id)}"]`) ?? undefined;
  }

  /** Whether a node can be expanded or collapsed. */
  canToggle(id: string): boolean {
    return this.#nodes[this.#positions.get(id) ?? -1]?.expanded !== undefined;
  }

  /** The effect of a key on a node: moves to another one, toggles it, or nothing. */
  step(id: string, key: string): SVGElement | "toggle" | undefined {
    const next = step(this.#nodes, this.#positions.get(id) ?? -1, key);
    return typeof next === "object" ? this.find(this.#nodes[next.to]?.id ?? "") : next;
  }

  setTabStop(element: SVGElement): void {
    this.#current = idOf(element);
    this.#moveTabStop(element);
  }

  focus(node: SVGElement): void {
    this.setTabStop(node);
    // the camera reveals it if needed; the browser would scroll the page
    header(node).focus({ preventScroll: true });
  }

  get tabStop(): SVGElement | null {
    return this.picture.querySelector<SVGElement>("[tabindex='0']");
  }

  #moveTabStop(element: SVGElement): void {
    this.tabStop?.setAttribute("tabindex", "-1");
    header(element).setAttribute("tabindex", "0");
  }

  /** The drawn nodes that another picture lacks. */
  addedSince(other: Tree): SVGElement[] {
    const elements = this.picture.querySelectorAll<SVGElement>("[data-id]");
    return [...elements].filter((element) => !other.#positions.has(idOf(element)));
  }

  #describe(elements: SVGElement[]): void {
    for (const element of elements) {
      const node = this.#nodes[this.#positions.get(idOf(element)) ?? -1];
      if (node !== undefined) describe(element, node);
      describeRun(element);
      if (idOf(element) === this.#current) this.#moveTabStop(element);
    }
    // another node is the tab stop while the current one is not drawn
    const first = this.tabStop === null ? this.picture.querySelector<SVGElement>("[data-id]") : null;
    if (first !== null) this.#moveTabStop(first);
  }
}

/** The drawn node at (or around) an event's target. */
export function nodeAt(target: EventTarget | null): SVGElement | null {
  return target instanceof Element ? target.closest<SVGElement>("[data-id]") : null;
}

export function idOf(element: SVGElement): string {
  return element.dataset.id ?? "";
}

function nodesOf(elements: SVGElement[]): TreeNode[] {
  const open: SVGElement[] = [];
  const items = elements.map((element) => {
    while (open.length > 0 && !open[open.length - 1]?.contains(element)) open.pop();
    open.push(element);
    return { id: idOf(element), level: open.length, expanded: expansion(element) };
  });
  const found = ranks(items);
  return items.map((item, i) => ({ ...item, ...(found[i] ?? { at: 1, of: 1 }) }));
}

/** Undefined if the node can't be expanded. */
function expansion(element: SVGElement): boolean | undefined {
  const expanded = element.getAttribute("aria-expanded");
  return expanded === null ? undefined : expanded === "true";
}

/** The tree item of an expanded node is its title, which precedes its inside; every item has its level as an attribute. */
function describe(element: SVGElement, { level, expanded, at, of }: TreeNode): void {
  const item = header(element);
  if (item !== element) element.querySelector(":scope > .mg-panel")?.after(item);
  element.removeAttribute("aria-expanded");
  if (expanded !== undefined) item.setAttribute("aria-expanded", String(expanded));
  item.setAttribute("role", "treeitem");
  item.setAttribute("tabindex", "-1");
  item.setAttribute("aria-level", String(level));
  // the document may hold only some of the siblings
  item.setAttribute("aria-posinset", String(at));
  item.setAttribute("aria-setsize", String(of));
  item.setAttribute("aria-label", textOf(item));
}

/** The pill `×12` of a run is a button for pointers; keyboards use a key on the node. */
function describeRun(element: SVGElement): void {
  const pill = pillOf(element);
  if (pill === null) return;
  const label = fill(pill.classList.contains("mg-unrolled") ? strings.roll : strings.unroll, pill.textContent.trim());
  pill.setAttribute("role", "button");
  pill.setAttribute("aria-label", label);
  pill.prepend(svg("title", {}, label));
  header(element).setAttribute("aria-keyshortcuts", RUN_KEY);
}

/** Shows the repeats of a run one by one, or as one. */
export const RUN_KEY = "r";

/** The run that a node represents or begins. */
export function runOf(element: SVGElement): string | undefined {
  return pillOf(element)?.dataset.run;
}

function pillOf(element: SVGElement): SVGElement | null {
  return header(element).querySelector<SVGElement>(":scope > [data-run]");
}

/** The visible text of an item. */
function textOf(item: SVGElement): string {
  const texts = [...item.querySelectorAll("text, title")];
  // also separates them in copied text and for screen readers
  for (const text of texts) text.after(" ");
  // cases are at the end, because a name contains what is visible
  return [...texts.map((text) => text.textContent), ...casesOf(item)].join(" ");
}

/** Says which cases an item's letters mean. */
export function casesOf(item: Element): string[] {
  const lettered = [...item.querySelectorAll<SVGElement>("[data-only]")];
  return lettered.map(({ dataset }) => fill(strings.onlyInCases, dataset.only ?? ""));
}

/** The part of a node that toggles it and stays in place: the title of an expanded one, else all of it. */
export function header(element: SVGElement): SVGElement {
  return element.querySelector(":scope > .mg-header") ?? element;
}
