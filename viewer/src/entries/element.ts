import { strings } from "../shared/strings.js";
import { leaveFullscreen } from "../widget/controls/toolbar.js";
import { atlas } from "../widget/features/atlas.js";
import { changes } from "../widget/features/changes.js";
import { colours } from "../widget/features/colours.js";
import { expansion, toggleModule, toggleRepeats } from "../widget/features/expansion.js";
import { explore } from "../widget/features/explore.js";
import { farBlocks } from "../widget/features/far_blocks.js";
import { highlight } from "../widget/features/highlight.js";
import { hint, rest } from "../widget/features/hint.js";
import { isolate } from "../widget/features/isolate.js";
import { code, link, menu, recording } from "../widget/features/menu.js";
import { outline } from "../widget/features/outline.js";
import { factsOf, type NodeFacts, nodesAt, pageEvents } from "../widget/features/page_events.js";
import { paper } from "../widget/features/paper.js";
import { prefetch } from "../widget/features/prefetch.js";
import { sizeNames } from "../widget/features/size_names.js";
import { sizing } from "../widget/features/sizing.js";

import { sticky, toolbarSide } from "../widget/features/sticky.js";
import { tooltip } from "../widget/features/tooltip.js";
import { legend } from "../widget/features/translation.js";
import { viewport } from "../widget/features/viewport.js";
import { listenToKeys } from "../widget/keys.js";
import { runInSlices } from "../widget/loading/time_slice.js";
import { redrawn } from "../widget/picture/redrawn.js";
import { header, idOf, nodeAt } from "../widget/picture/tree.js";
import { type Feature, Widget } from "../widget/widget.js";

/**
 * `<model-graph>`: makes the still picture of a page interactive.
 *
 * The element moves the picture into its shadow root, which page styles don't reach, and leaves everything else (notes, the
 * outline with the host's links) in the page. Nothing is loaded before a reader shows interest. Everything that readers can
 * do is in features, listed below; widget.ts documents what they build on.
 */

/** The text of the style sheet, inserted by the build. */
declare const STYLE: string;

const NAME = "model-graph";

const FEATURES: readonly Feature[] = [
  prefetch,
  legend,
  outline,
  changes,
  recording,
  isolate,
  expansion,
  colours,
  explore,
  highlight,
  farBlocks,
  code,
  atlas,
  tooltip,
  link,
  hint,
  rest,
  viewport,
  sticky,
  toolbarSide,
  sizing,
  sizeNames,
  menu,
  paper,
  pageEvents,
];

class ModelGraph extends HTMLElement {
  #widget: Widget | undefined;

  /** For other scripts of this package; undefined until the event "mg-ready". */
  get widget(): Widget | undefined {
    return this.#widget;
  }

  connectedCallback(): void {
    if (this.#widget === undefined) runInSlices(() => this.#start());
    else this.#widget.onConnected();
  }

  disconnectedCallback(): void {
    this.#widget?.onDisconnected();
  }

  /** Id of the selected node; null if none is. */
  get selected(): string | null {
    return this.#widget?.selected || null;
  }

  /** The current picture as SVG text, drawn as in the build. */
  async picture(): Promise<string> {
    const [session, layout] = await this.#opened().tasks.layOut();
    return session.drawing.picture(layout).svg;
  }

  /** Select a node and make it visible; null selects none. */
  async select(id: string | null): Promise<void> {
    const widget = this.#opened();
    if (id === null) widget.select(undefined);
    else {
      await this.#check(id);
      await widget.show(id);
    }
  }

  /** Expand a module call, and those around it. */
  async open(id: string): Promise<void> {
    await this.#set(id, true);
  }

  /** Collapse a module call. */
  async close(id: string): Promise<void> {
    await this.#set(id, false);
  }

  /** What the graph says of a node. */
  async node(id: string): Promise<NodeFacts | null> {
    await this.#check(id);
    return factsOf(this.#opened(), id);
  }

  /** Ids of the ops and function calls that a line of code makes, and of the modules whose class begins there. */
  async nodesAt(file: string, line: number): Promise<string[]> {
    const [session] = await this.#opened().tasks.layOut();
    return nodesAt(session, file, line);
  }

  /** Expand or collapse a module call; failures are shown to the reader. */
  async toggle(id: string): Promise<void> {
    if (this.#widget === undefined) return;
    void toggleModule(this.#widget, id);
    await this.#widget.tasks.settled;
  }

  #opened(): Widget {
    if (this.#widget === undefined) throw new Error("this diagram has no picture, or is not ready: wait for mg-ready");
    return this.#widget;
  }

  async #check(id: string): Promise<void> {
    const [session] = await this.#opened().tasks.layOut();
    if (!session.indexOf(id).nodes.has(id)) throw new Error(`no node has the id ${JSON.stringify(id)}`);
  }

  async #set(id: string, isOpen: boolean): Promise<void> {
    await this.#check(id);
    const widget = this.#opened();
    if (isOpen && !widget.tree.has(id)) await widget.change(({ transitions }) => transitions.reveal(id));
    const { session } = widget;
    if (session === undefined || !widget.tree.canToggle(id) || session.state.expanded.includes(id) === isOpen) return;
    await widget.change((now) => now.transitions.toggle(id), id);
  }

  #start(): void {
    if (this.#widget !== undefined || !this.isConnected) return;
    // a copy has the shadow root of its original with the page's picture
    const copied = this.shadowRoot?.querySelector("template")?.content.querySelector("svg");
    const own = this.querySelector<SVGSVGElement>(":scope > svg");
    // and the colour around a theme, with which it doesn't begin
    if (own === null) this.style.removeProperty("--mg-around");
    const picture = copied ?? own;
    if (picture !== null) this.#open(picture);
    // the parser hasn't read the children yet
    else if (document.readyState === "loading") {
      document.addEventListener("DOMContentLoaded", () => this.#start(), { once: true });
    } else if (this.hasAttribute("graph")) {
      redrawn(this).then(
        (drawn) => this.#widget === undefined && this.isConnected && this.#open(drawn),
        () => undefined,
      );
    }
  }

  #open(picture: SVGSVGElement): void {
    const widget = new Widget(this, picture);
    this.#widget = widget;
    // pages that are restored (Turbo) or printed from a copy (reveal.js) clone their elements
    const root = this.shadowRoot ?? this.attachShadow({ mode: "open", clonable: true });
    root.adoptedStyleSheets = [styleSheet()];
    root.replaceChildren(...widget.elements, document.createElement("slot"));
    widget.stage.part.add("stage");
    widget.foot.part.add("foot");
    widget.toolbar.element.part.add("toolbar");
    for (const feature of FEATURES) feature(widget);
    for (const [key, action] of Object.entries(widget.toolbar.keys)) widget.onKey(key, action);
    widget.onKey("Escape", () => widget.modes.leaveLast() || widget.deselect());
    widget.stage.addEventListener("click", (event) => onClick(widget, event));
    listenToKeys(root, (event) => onKeyDown(widget, event));
    this.dispatchEvent(new Event("mg-ready"));
    const fullscreen = { text: strings.fullscreen, leave: leaveFullscreen };
    this.addEventListener("fullscreenchange", () => {
      const isFullscreen = this.matches(":fullscreen");
      widget.modes.set(fullscreen, isFullscreen);
      widget.camera.fit();
      // the page may have scrolled meanwhile
      if (!isFullscreen) widget.stage.scrollIntoView({ block: "nearest", behavior: "instant" });
    });
  }
}

function onClick(widget: Widget, event: MouseEvent): void {
  const text = (event.target as Element).closest("text");
  // dragging moves the picture, so a click selects text for copying
  if (event.shiftKey && text !== null) {
    getSelection()?.selectAllChildren(text);
    return;
  }
  const node = nodeAt(event.target);
  const run = (event.target as Element).closest<SVGElement>("[data-run]")?.dataset.run;
  if (run !== undefined) void toggleRepeats(widget, run);
  else if (node !== null && header(node).contains(event.target as Node)) onNodeClick(widget, idOf(node));
  else if (widget.nodePicker === undefined) widget.select(undefined);
}

function onNodeClick(widget: Widget, id: string): void {
  if (!pickOrSelect(widget, id) && widget.tree.canToggle(id)) void toggleModule(widget, id);
}

/** Give a chosen node to the node picker, if there is one (then true), or select it. */
function pickOrSelect(widget: Widget, id: string): boolean {
  const { nodePicker } = widget;
  widget.nodePicker = undefined;
  if (nodePicker === undefined) widget.select(id);
  else nodePicker(id);
  return nodePicker !== undefined;
}

/** Handle a key; whether it was used. */
function onKeyDown(widget: Widget, event: KeyboardEvent): boolean {
  if (event.key === "Escape" && !widget.modes.isOver && widget.tasks.stop()) return true;
  if (widget.modes.onKey(event)) return true;
  const { target, key } = event;
  const node = nodeAt(target);
  const isUsed = widget.handleKey(key, node === null ? undefined : idOf(node));
  return isUsed || (node !== null && onTreeKey(widget, node, key));
}

/** Handle the keys of the ARIA tree pattern; whether this was one. */
function onTreeKey(widget: Widget, node: SVGElement, key: string): boolean {
  const id = idOf(node);
  const isChoice = key === "Enter" || (key === " " && !widget.tree.canToggle(id));
  if (isChoice && pickOrSelect(widget, id)) return true;
  const next = visibleStep(widget, id, key);
  if (next === "toggle") void toggleModule(widget, id);
  else if (next !== undefined) {
    widget.focus(next);
    widget.reveal(next);
    // an open details panel follows the focus
    if (widget.selected !== undefined && widget.nodePicker === undefined) widget.select(idOf(next));
  }
  return next !== undefined || isChoice;
}

/** The effect of a key, skipping nodes that are hidden because only another version has them. */
function visibleStep(widget: Widget, id: string, key: string): ReturnType<typeof widget.tree.step> {
  const next = widget.tree.step(id, key);
  const isHidden = next instanceof SVGElement && getComputedStyle(header(next)).visibility === "hidden";
  return isHidden && idOf(next) !== id ? visibleStep(widget, idOf(next), key) : next;
}

let sheet: CSSStyleSheet | undefined;

/** The page's one style sheet. Adopted sheets are allowed under policies that forbid inline styles. */
function styleSheet(): CSSStyleSheet {
  if (sheet === undefined) {
    sheet = new CSSStyleSheet();
    sheet.replaceSync(STYLE);
  }
  return sheet;
}

// a page may contain this script several times, in several versions: the first one serves all diagrams
if (customElements.get(NAME) === undefined) customElements.define(NAME, ModelGraph);
