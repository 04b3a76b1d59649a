/**
 * `<model-graph>`: the still picture a page ships with, made explorable.
 *
 * The element takes the picture into its shadow root, where no page style reaches it, and leaves everything else
 * (notes, the outline with the host's links) in the page. Nothing is loaded before a reader shows interest. What a
 * reader can do is in features, one per line below; widget.ts says what they are given.
 */

import { afloat } from "./element/afloat.js";
import { focusing } from "./element/alone.js";
import { aside } from "./element/aside.js";
import { colours } from "./element/colours.js";
import { expansion, toggleModule, toggleRepeats } from "./element/expansion.js";
import { hint } from "./element/hint.js";
import { legend } from "./element/legend.js";
import { lights } from "./element/lights.js";
import { link } from "./element/link.js";
import { menu } from "./element/menu.js";
import { minimap } from "./element/minimap.js";
import { outline } from "./element/outline.js";
import { panel } from "./element/panel.js";
import { save } from "./element/save.js";
import { search } from "./element/search.js";
import { sight } from "./element/sight.js";
import { tip } from "./element/tip.js";
import { header, idOf, nodeAt } from "./element/tree.js";
import { inTurn } from "./element/turns.js";
import { type Feature, Widget } from "./element/widget.js";

/** The text of `model-graph.css`, put in by the build. */
declare const STYLE: string;

const NAME = "model-graph";

const FEATURES: readonly Feature[] = [
  legend,
  outline,
  focusing,
  expansion,
  colours,
  panel,
  search,
  lights,
  tip,
  save,
  link,
  minimap,
  hint,
  sight,
  afloat,
  aside,
  menu,
];

class ModelGraph extends HTMLElement {
  #widget: Widget | undefined;

  connectedCallback(): void {
    if (this.#widget === undefined) inTurn(() => this.#wake());
    else this.#widget.arrive();
  }

  disconnectedCallback(): void {
    this.#widget?.leave();
  }

  #wake(): void {
    if (this.#widget !== undefined || !this.isConnected) return;
    const picture = this.querySelector<SVGSVGElement>(":scope > svg");
    if (picture !== null) this.#open(picture);
    // defined before the parser came to our children: they are there when the document is
    else if (document.readyState === "loading") {
      document.addEventListener("DOMContentLoaded", () => this.#wake(), { once: true });
    }
  }

  /** The SVG text of what is shown now, as the build would have drawn it. */
  async picture(): Promise<string> {
    if (this.#widget === undefined) throw new Error("this diagram has no picture");
    const [session, viz] = await this.#widget.load();
    return session.picture(viz);
  }

  /** Expand or collapse a module call; a failure is told to the reader. */
  async toggle(id: string): Promise<void> {
    if (this.#widget === undefined) return;
    void toggleModule(this.#widget, id);
    await this.#widget.settled;
  }

  #open(picture: SVGSVGElement): void {
    const widget = new Widget(this, picture);
    this.#widget = widget;
    const root = this.attachShadow({ mode: "open" });
    root.adoptedStyleSheets = [styleSheet()];
    root.append(...widget.parts, document.createElement("slot"));
    for (const feature of FEATURES) feature(widget);
    for (const [key, act] of Object.entries(widget.toolbar.keys)) widget.onKey(key, act);
    const prefetch = () => widget.prefetch();
    widget.stage.addEventListener("pointerenter", prefetch, { once: true });
    root.addEventListener("focusin", prefetch, { once: true });
    widget.stage.addEventListener("click", (event) => onClick(widget, event));
    root.addEventListener("keydown", (event) => onKey(widget, event as KeyboardEvent));
    this.addEventListener("fullscreenchange", () => {
      // the page may have lost its place meanwhile
      if (this.matches(":fullscreen")) widget.camera.fit();
      else widget.camera.showWhole();
    });
  }
}

function onClick(widget: Widget, event: MouseEvent): void {
  const node = nodeAt(event.target);
  const run = (event.target as Element).closest<SVGElement>("[data-run]")?.dataset.run;
  if (run !== undefined) void toggleRepeats(widget, run);
  else if (node !== null && header(node).contains(event.target as Node)) onNode(widget, idOf(node));
  // beside all nodes: nothing is meant any more
  else if (widget.pick === undefined) widget.select(undefined);
}

function onNode(widget: Widget, id: string): void {
  if (!choose(widget, id) && widget.tree.expandable(id)) void toggleModule(widget, id);
}

/** A node was clicked, or Enter was pressed on it; whether somebody waited for that. */
function choose(widget: Widget, id: string): boolean {
  const { pick } = widget;
  widget.pick = undefined;
  if (pick === undefined) widget.select(id);
  else pick(id);
  return pick !== undefined;
}

function onKey(widget: Widget, event: KeyboardEvent): void {
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event)) return;
  const node = nodeAt(event.target);
  const used = widget.press(event.key, node === null ? undefined : idOf(node));
  if (used || (node !== null && walk(widget, node, event.key))) event.preventDefault();
}

/** Letters in a text field are the field's; Escape is not a letter. */
function isTyping(event: KeyboardEvent): boolean {
  return (event.target as Element).matches("input, select") && event.key !== "Escape";
}

/** The keys of the tree pattern; whether this was one. */
function walk(widget: Widget, node: SVGElement, key: string): boolean {
  const id = idOf(node);
  const chooses = key === "Enter" || (key === " " && !widget.tree.expandable(id));
  if (chooses && choose(widget, id)) return true;
  const next = widget.tree.step(id, key);
  if (next === "toggle") void toggleModule(widget, id);
  else if (next !== undefined) {
    widget.focus(next);
    widget.reveal(next);
    // what is being read about is where the reader is
    if (widget.selected !== undefined && widget.pick === undefined) widget.select(idOf(next));
  }
  return next !== undefined || chooses;
}

let sheet: CSSStyleSheet | undefined;

/** One for all diagrams of a page. An adopted sheet is allowed under policies that forbid inline styles. */
function styleSheet(): CSSStyleSheet {
  if (sheet === undefined) {
    sheet = new CSSStyleSheet();
    sheet.replaceSync(STYLE);
  }
  return sheet;
}

// pages may bring this script several times, in several versions: the first one serves them all
if (customElements.get(NAME) === undefined) customElements.define(NAME, ModelGraph);
