/**
 * `<model-graph>`: the still picture a page ships with, made explorable.
 *
 * The element takes the picture into its shadow root, where no page style reaches it, and leaves everything else
 * (notes, the outline with the host's links) in the page. Nothing is loaded before a reader shows interest.
 */

import { Camera } from "./element/camera.js";
import { discardViz, LoadError, loadData, loadViz, wasmAllowed } from "./element/loader.js";
import { appear } from "./element/motion.js";
import { Note } from "./element/note.js";
import { Session } from "./element/session.js";
import { strings } from "./element/strings.js";
import { toolbar } from "./element/toolbar.js";
import { header, idOf, nodeAt, RUN_KEY, runOf, Tree } from "./element/tree.js";
import { isBroken, type Viz } from "./layout.js";
import { headOf } from "./surface.js";

/** The text of `model-graph.css`, put in by the build. */
declare const STYLE: string;

const NAME = "model-graph";

class ModelGraph extends HTMLElement {
  /** The picture as the page shipped it, kept for paper once another one is on screen. */
  readonly #still = box("mg-still");
  readonly #stage = box("mg-stage");
  readonly #canvas = box("mg-canvas");
  readonly #camera = new Camera(this.#stage, this.#canvas, () => this.matches(":fullscreen"));
  readonly #note = new Note();
  #tree: Tree | undefined;
  #source: string | undefined;
  #session: Promise<Session> | undefined;
  #busy = false;

  connectedCallback(): void {
    if (this.#tree !== undefined) return;
    const picture = this.querySelector<SVGSVGElement>(":scope > svg");
    if (picture !== null) this.#open(picture);
    // defined before the parser came to our children: they are there when the document is
    else if (document.readyState === "loading") {
      document.addEventListener("DOMContentLoaded", () => this.connectedCallback(), { once: true });
    }
  }

  /** The SVG text of what is shown now, as the build would have drawn it. */
  async picture(): Promise<string> {
    const [session, viz] = await this.#load();
    return session.picture(viz);
  }

  /** Expand or collapse a module call. */
  toggle(id: string): Promise<void> {
    return this.#change((session, viz) => session.toggle(id, viz), id);
  }

  /** Show the repeats of a run one by one, or as one. */
  toggleRun(run: string): Promise<void> {
    return this.#change((session, viz) => session.toggleRun(run, viz), headOf(run));
  }

  /** Show reshapes, casts, constants and the like, or hide them; whether they are shown then. */
  async togglePlumbing(): Promise<boolean> {
    await this.#change((session, viz) => session.togglePlumbing(viz));
    return (await this.#session)?.plumbing ?? false;
  }

  /** Draw another picture; the node of this id stays where it is on screen. */
  async #change(draw: (session: Session, viz: Viz) => string, id = ""): Promise<void> {
    if (this.#busy) return;
    if (!wasmAllowed()) {
      this.#note.say(strings.stillPicture);
      return;
    }
    this.#busy = true;
    this.#note.wait(strings.loading);
    try {
      const [session, viz] = await this.#load();
      this.#show(draw(session, viz), id);
      if (isBroken(viz)) discardViz();
      this.#note.clear();
    } catch (error) {
      this.#explain(error, () => void this.#change(draw, id));
    } finally {
      this.#busy = false;
    }
  }

  #open(picture: SVGSVGElement): void {
    const source = this.getAttribute("src");
    // resolved now: instant navigation may change the page's address under a kept element
    if (source !== null) this.#source = new URL(source, document.baseURI).href;
    this.#tree = new Tree(picture);
    this.#canvas.append(picture);
    this.#stage.append(this.#canvas);
    const root = this.attachShadow({ mode: "open" });
    root.adoptedStyleSheets = [styleSheet()];
    root.append(
      this.#still,
      this.#stage,
      toolbar(this, this.#camera, () => this.togglePlumbing()),
      this.#note.element,
      document.createElement("slot"),
    );
    this.#listen();
  }

  #listen(): void {
    const prefetch = () => {
      // a failure is told when the reader asks for something
      if (wasmAllowed()) this.#load().catch(() => undefined);
    };
    this.#stage.addEventListener("pointerenter", prefetch, { once: true });
    this.#stage.addEventListener("focusin", prefetch, { once: true });
    this.#stage.addEventListener("click", (event) => this.#onClick(event));
    this.#stage.addEventListener("keydown", (event) => this.#onKey(event));
    this.addEventListener("fullscreenchange", () => this.#camera.fit());
  }

  #onClick(event: MouseEvent): void {
    const node = nodeAt(event.target);
    const pill = (event.target as Element).closest<SVGElement>("[data-run]");
    if (pill?.dataset.run !== undefined) {
      void this.toggleRun(pill.dataset.run);
      return;
    }
    if (node === null || !this.#tree?.expandable(idOf(node))) return;
    if (header(node).contains(event.target as Node)) void this.toggle(idOf(node));
  }

  #onKey(event: KeyboardEvent): void {
    const node = nodeAt(event.target);
    if (node === null || event.ctrlKey || event.metaKey || event.altKey) return;
    const run = event.key === RUN_KEY ? runOf(node) : undefined;
    if (run !== undefined) void this.toggleRun(run);
    const next = this.#tree?.step(idOf(node), event.key);
    if (next === undefined) return;
    event.preventDefault();
    if (next === "toggle") void this.toggle(idOf(node));
    else {
      this.#focus(next);
      this.#camera.reveal(next);
    }
  }

  #focus(node: SVGElement): void {
    this.#tree?.hold(node);
    // the camera brings it into sight where that is wanted; left to itself the browser would scroll
    node.focus({ preventScroll: true });
  }

  /** Data and layout engine, at the first need; what failed to load may be tried again. */
  #load(): Promise<[Session, Viz]> {
    const engine = loadViz(this.#source && new URL("viz.js", this.#source).href);
    this.#session ??= loadData(this.getAttribute("graph") ?? "", this.#source).then(
      (data) => new Session(data),
      (error: unknown) => {
        this.#session = undefined;
        throw error;
      },
    );
    return Promise.all([this.#session, engine]);
  }

  /** Put a new picture in place of the old one, around the node that was toggled, or else its upper edge. */
  #show(svg: string, id: string): void {
    const old = this.#tree;
    if (old === undefined) return;
    const focused = nodeAt(this.shadowRoot?.activeElement ?? null);
    const picture = parse(svg);
    picture.setAttribute("aria-label", old.picture.getAttribute("aria-label") ?? "");
    const tree = new Tree(picture);
    const [before, after] = [old.find(id), tree.find(id)];
    if (before && after) this.#camera.replace(picture, header(before), header(after));
    else this.#camera.replace(picture, old.picture, picture);
    this.#tree = tree;
    if (!this.#still.hasChildNodes()) this.#still.append(old.picture);
    if (focused !== null) this.#focusAgain(idOf(focused), id);
    appear(tree.newSince(old));
  }

  /** Keep the focus where it was or, where that is gone, on what was toggled. */
  #focusAgain(id: string, toggled: string): void {
    const node = this.#tree?.find(id) ?? this.#tree?.find(toggled);
    if (node !== undefined) this.#focus(node);
  }

  #explain(error: unknown, retry: () => void): void {
    if (error instanceof LoadError) {
      this.#note.say(strings.loadFailed(error.file), retry);
      return;
    }
    this.#note.say(strings.drawFailed);
  }
}

function box(name: string): HTMLElement {
  const element = document.createElement("div");
  element.className = name;
  return element;
}

function parse(svg: string): SVGSVGElement {
  const template = document.createElement("template");
  template.innerHTML = svg;
  return template.content.firstElementChild as SVGSVGElement;
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
