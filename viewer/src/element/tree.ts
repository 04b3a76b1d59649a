/** The drawn nodes as a tree for keyboard and assistive technology: one tab stop, arrows walk it. */
import { type Item, type Rank, ranks, step } from "./keys.js";
import type { Listed, Scene } from "./scene.js";
import { fill, strings } from "./strings.js";

/** The tree of one picture. */
export class Tree {
  readonly picture: SVGSVGElement;
  readonly #items: readonly Listed[];
  readonly #ranks: readonly Rank[];
  readonly #places: Map<string, number>;
  readonly #element: (id: string) => SVGElement | undefined;
  /** Id of the node that was made the tab stop. */
  #held: string | undefined;

  /**
   * Give the picture its roles; its label stays the label of the tree. Of a scene, not all is in the document. The tab
   * stop is where the tree before had it.
   */
  constructor(picture: SVGSVGElement, scene?: Scene, before?: Tree) {
    this.picture = picture;
    if (before !== undefined) this.#held = before.#held;
    const elements = [...picture.querySelectorAll<SVGElement>("[data-id]")];
    this.#items = scene?.nodes ?? itemsOf(elements);
    this.#ranks = ranks(this.#items);
    this.#places = new Map(this.#items.map(({ id }, i) => [id, i]));
    const known = new Map(elements.map((element) => [idOf(element), element]));
    this.#element = (id) => (scene === undefined ? known.get(id) : scene.element(id));
    picture.setAttribute("role", "tree");
    this.#describe(elements);
    if (scene !== undefined) scene.onNew = (made) => this.#describe(made);
  }

  /** Number of nodes, in sight or not. */
  get size(): number {
    return this.#items.length;
  }

  /** Of all nodes, in sight or not. */
  get ids(): Iterable<string> {
    return this.#places.keys();
  }

  /** Whether there is such a node in the picture. */
  has(id: string): boolean {
    return this.#places.has(id);
  }

  /** The element of a node. In a large picture it may have been out of sight, and come into the document by this. */
  find(id: string): SVGElement | undefined {
    return this.#places.has(id) ? this.#element(id) : undefined;
  }

  /** The element of a node, if it is in the document by now. */
  here(id: string): SVGElement | undefined {
    const found = this.#places.has(id) ? this.picture.querySelector<SVGElement>(`[data-id="${CSS.escape(id)}"]`) : null;
    return found ?? undefined;
  }

  /** Whether a node can be expanded or collapsed. */
  expandable(id: string): boolean {
    return this.#items[this.#places.get(id) ?? -1]?.expanded !== undefined;
  }

  /** What a key does on a node. */
  step(id: string, key: string): SVGElement | "toggle" | undefined {
    const next = step(this.#items, this.#places.get(id) ?? -1, key);
    return typeof next === "object" ? this.find(this.#items[next.to]?.id ?? "") : next;
  }

  /** Make a node the one tab stop. */
  hold(element: SVGElement): void {
    this.#held = idOf(element);
    this.#moveStop(element);
  }

  /** The one tab stop. */
  get stop(): SVGElement | null {
    return this.picture.querySelector<SVGElement>("[tabindex='0']");
  }

  #moveStop(element: SVGElement): void {
    this.stop?.setAttribute("tabindex", "-1");
    header(element).setAttribute("tabindex", "0");
  }

  /** What this picture shows and the other one did not. */
  newSince(other: Tree): SVGElement[] {
    const elements = this.picture.querySelectorAll<SVGElement>("[data-id]");
    return [...elements].filter((element) => !other.#places.has(idOf(element)));
  }

  #describe(elements: SVGElement[]): void {
    for (const element of elements) {
      const place = this.#places.get(idOf(element)) ?? -1;
      const [item, rank] = [this.#items[place], this.#ranks[place]];
      if (item !== undefined && rank !== undefined) describe(element, item, rank);
      describeRun(element);
      if (idOf(element) === this.#held) this.#moveStop(element);
    }
    // while the one that was held is out of sight, another is the way in
    const first = this.stop === null ? this.picture.querySelector<SVGElement>("[data-id]") : null;
    if (first !== null) this.#moveStop(first);
  }
}

/** The drawn node at (or around) an event's target. */
export function nodeAt(target: EventTarget | null): SVGElement | null {
  return target instanceof Element ? target.closest<SVGElement>("[data-id]") : null;
}

export function idOf(element: SVGElement): string {
  return element.dataset.id ?? "";
}

function itemsOf(elements: SVGElement[]): Listed[] {
  const open: SVGElement[] = [];
  return elements.map((element) => {
    while (open.length > 0 && !open[open.length - 1]?.contains(element)) open.pop();
    open.push(element);
    return { id: idOf(element), level: open.length, expanded: expansion(element) };
  });
}

/** The build has said what can be expanded. */
function expansion(element: SVGElement): boolean | undefined {
  const expanded = element.getAttribute("aria-expanded");
  return expanded === null ? undefined : expanded === "true";
}

/** An open node's item is its title, before what is inside: a tree of one level, where every item says its own. */
function describe(element: SVGElement, { level, expanded }: Item, { at, of }: Rank): void {
  const item = header(element);
  if (item !== element) element.querySelector(":scope > .mg-panel")?.after(item);
  element.removeAttribute("aria-expanded");
  if (expanded !== undefined) item.setAttribute("aria-expanded", String(expanded));
  item.setAttribute("role", "treeitem");
  item.setAttribute("tabindex", "-1");
  item.setAttribute("aria-level", String(level));
  // of a large picture the document holds only some
  item.setAttribute("aria-posinset", String(at));
  item.setAttribute("aria-setsize", String(of));
  item.setAttribute("aria-label", wordsOn(item));
}

/** The pill `×12` of a repeated block is a button, for pointers; its key is the block's. */
function describeRun(element: SVGElement): void {
  const pill = pillOf(element);
  if (pill === null) return;
  const label = fill(pill.classList.contains("mg-unrolled") ? strings.roll : strings.unroll, pill.textContent.trim());
  pill.setAttribute("role", "button");
  pill.setAttribute("aria-label", label);
  const hint = document.createElementNS("http://www.w3.org/2000/svg", "title");
  hint.textContent = label;
  pill.prepend(hint);
  header(element).setAttribute("aria-keyshortcuts", RUN_KEY);
}

/** Rolls a repeated block up, or unrolls it. */
export const RUN_KEY = "r";

/** The run a node stands for or begins, if there is one. */
export function runOf(element: SVGElement): string | undefined {
  return pillOf(element)?.dataset.run;
}

function pillOf(element: SVGElement): SVGElement | null {
  return header(element).querySelector<SVGElement>(":scope > [data-run]");
}

/** The words a reader sees on an item. */
function wordsOn(item: SVGElement): string {
  const words = [...item.querySelectorAll("text, title")];
  // for those who read them off the picture, too: words do not run into each other
  for (const text of words) text.after(" ");
  return words.map((text) => text.textContent).join(" ");
}

/** What of a node is pressed to toggle it, and stays in place: the header of an expanded one, else all of it. */
export function header(element: SVGElement): SVGElement {
  return element.querySelector(":scope > .mg-header") ?? element;
}
