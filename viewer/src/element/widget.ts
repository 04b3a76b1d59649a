/**
 * The one diagram behind a `<model-graph>`: what is shown, how it changes, and what features hang on.
 *
 * A feature is a module with one function `(widget: Widget) => void`, called once per diagram from `element.ts`, when
 * the still picture has come to life and before anything is loaded. It can
 *
 * - add a button to `widget.toolbar` (`add`), or a row of controls to its menu (`addToMenu`);
 * - put elements of its own over the picture (`widget.stage`) or below it (`widget.foot`, which stays in sight);
 * - offer something to do with the selected node: `widget.actions`, buttons of the details panel;
 * - decorate a picture that is saved as the one on screen is: `widget.dress`;
 * - take a key: `widget.onKey("x", (id) => true)`; `id` is the focused node, the answer says whether the key was used.
 *   Who came last is asked first, so whoever opens something takes Escape;
 * - listen: `widget.on("drawn", …)`. "drawn": there are new nodes in the picture (another picture, or more of it came
 *   into sight): decorate them, idempotently. "moved": another part of it is in sight (`camera.sight`). "selected": `widget.selected` is another
 *   one. Listeners are told nothing, they look at the widget;
 * - listen outside of the diagram, to the window or the document: only `widget.whileHere((signal) => …)`, with the
 *   signal that ends when the diagram leaves the page; it is called again where it comes back;
 * - change what is shown: `widget.change((state, session) => otherState, idThatStaysInPlace)`. It loads what is needed,
 *   waits for its turn, draws, and tells the reader if that fails. States are plain data. `ask` and `askData` do the
 *   same for anything else that needs what is loaded. What they promise comes with success, be it of a second try:
 *   what follows on it never follows on a failure. `peek` is for what a moving pointer asks: now, if all is there;
 * - select (`widget.select`), bring into sight (`widget.reveal`), and say something to who can't see it (`widget.say`).
 *
 * Graph and layout come from `widget.session` (see session.ts), undefined until something was loaded; `await
 * widget.load()` loads. Elements of nodes come from `widget.tree`, colours from style.css, words from strings.ts.
 */

import { draw } from "../draw.js";
import { isBroken, type Layout, type Viz } from "../layout.js";
import { Camera } from "./camera.js";
import { box, plain } from "./dom.js";
import { discardData, discardViz, LoadError, loadCore, loadData, loadViz, vizAtHand, wasmAllowed } from "./loader.js";
import { appear } from "./motion.js";
import { Note } from "./note.js";
import { isLarge, Scene } from "./scene.js";
import { Session, type Shown } from "./session.js";
import { shownAs } from "./states.js";
import { fill, strings } from "./strings.js";
import { Toolbar } from "./toolbar.js";
import { header, idOf, nodeAt, Tree } from "./tree.js";
import { parseSvg } from "./trusted.js";

export type Feature = (widget: Widget) => void;

/** From one state to another; the session tells about the graph. */
export type Change = (state: Shown, session: Session) => Shown;

type Happening = "drawn" | "moved" | "selected";
type KeyHandler = (id: string | undefined) => boolean;

/** Something to do with a node. */
export interface Action {
  text: string;
  /** Whether it makes sense for this node. */
  offered(id: string): boolean;
  run(id: string): void;
  /** For what is switched on and off: whether it is on. */
  pressed?(): boolean;
}

/** The page's policy forbids WebAssembly, and with it any other picture. */
class NotAllowed extends Error {}

export class Widget {
  readonly host: HTMLElement;
  /** The window onto the picture, and what is moved inside it. */
  readonly stage = box("mg-stage");
  readonly canvas = box("mg-canvas");
  /** Below the picture, but never below the window's lower edge. */
  readonly foot = box("mg-foot");
  readonly camera: Camera;
  readonly toolbar: Toolbar;
  /** One quiet line below the picture, also read out. */
  readonly note = new Note();
  /** Who waits for the reader to choose a node: the next click or Enter on one is theirs. */
  pick: ((id: string) => void) | undefined;
  /** The nodes of the picture on screen. */
  tree: Tree;
  /** What was loaded. */
  session: Session | undefined;
  /** Id of the node that the reader chose; empty for the whole model. */
  selected: string | undefined;
  /** What can be done with the selected node: buttons of the details panel. */
  readonly actions: Action[] = [];
  /** What features do to every picture on screen, for one that is made to be saved. */
  readonly dress: ((picture: SVGSVGElement) => void)[] = [];
  /** The picture as the page shipped it, kept for paper once another one is on screen. */
  readonly #still = box("mg-still");
  readonly #spoken = box("mg-unseen-text");
  readonly #listeners: Record<Happening, (() => void)[]> = { drawn: [], moved: [], selected: [] };
  readonly #keys = new Map<string, KeyHandler[]>();
  readonly #source: string | undefined;
  #loading: Promise<Session> | undefined;
  /** The picture, where it is too large to be in the document as a whole. */
  #scene: Scene | undefined;
  #turn: Promise<void> = Promise.resolve();
  /** What could not be done because something did not load. */
  #failed: (() => Promise<void>)[] = [];
  readonly #beginnings: ((signal: AbortSignal) => void)[] = [];
  #stay = new AbortController();

  constructor(host: HTMLElement, picture: SVGSVGElement) {
    this.host = host;
    const source = host.getAttribute("src");
    // resolved now: instant navigation may change the page's address under a kept element
    this.#source = source === null ? undefined : new URL(source, document.baseURI).href;
    const isAlone = () => host.matches(":fullscreen");
    this.camera = new Camera(this.stage, this.canvas, isAlone, () => this.foot.getBoundingClientRect().top);
    this.camera.onMove = () => this.look();
    this.toolbar = new Toolbar(host, this.camera);
    this.tree = new Tree(picture);
    this.canvas.append(picture);
    this.stage.append(this.canvas);
    this.foot.append(this.note.element, this.toolbar.element);
    this.#spoken.role = "status";
  }

  /** What the shadow root holds, in this order. */
  get parts(): Element[] {
    return [this.#still, this.stage, this.foot, this.#spoken];
  }

  on(what: Happening, listener: () => void): void {
    this.#listeners[what].push(listener);
  }

  /** Begin something that lasts as long as the diagram is in the page: now, and whenever it comes back. */
  whileHere(begin: (signal: AbortSignal) => void): void {
    this.#beginnings.push(begin);
    begin(this.#stay.signal);
  }

  /** The diagram came back into a page. */
  arrive(): void {
    this.leave();
    this.#stay = new AbortController();
    for (const begin of this.#beginnings) begin(this.#stay.signal);
  }

  /** It left the page: nothing outside of it may keep it. */
  leave(): void {
    this.#stay.abort();
  }

  onKey(key: string, handler: KeyHandler): void {
    this.#keys.set(key, [handler, ...(this.#keys.get(key) ?? [])]);
  }

  /** Offer a key to the features; whether one took it. */
  press(key: string, id: string | undefined): boolean {
    return (this.#keys.get(key) ?? []).some((handler) => handler(id));
  }

  /** Say something to readers who can't see it happen. */
  say(text: string): void {
    this.#spoken.textContent = plain(text);
  }

  select(id: string | undefined): void {
    if (id === this.selected) return;
    this.selected = id;
    this.#tell("selected");
  }

  /** Select a node and bring it, or what it is inside of on screen, into sight. */
  go(id: string): void {
    const { session } = this;
    const at = session === undefined ? id : shownAs(session, id, (other) => this.tree.has(other));
    const node = this.tree.find(at ?? "");
    if (at === undefined || node === undefined) return;
    this.tree.hold(node);
    this.select(at);
    this.reveal(node);
  }

  /** Bring a drawn node into sight. */
  reveal(node: SVGElement): void {
    this.camera.reveal(header(node));
  }

  /** See to it that what is in sight is in the document; after anything that may have moved it. */
  look(): void {
    if (this.#scene?.look(this.camera.sight)) this.#tell("drawn");
    this.#tell("moved");
  }

  focus(node: SVGElement): void {
    this.tree.hold(node);
    // the camera brings it into sight where that is wanted; left to itself the browser would scroll
    header(node).focus({ preventScroll: true });
  }

  /** Data and layout engine, at the first need; what failed to load may be tried again. */
  load(): Promise<[Session, Viz]> {
    return Promise.all([this.#loadData(), loadViz(this.#source && new URL("viz.js", this.#source).href)]);
  }

  /** Load ahead of the need; a failure is told when the reader asks for something. */
  prefetch(): void {
    // what is on screen may show more of itself now
    if (wasmAllowed())
      this.load().then(
        () => this.look(),
        () => undefined,
      );
  }

  /** Use what is loaded, now; nothing happens where it is not all there. Loads nothing and never fails. */
  peek(use: (session: Session, viz: Viz) => void): void {
    const { session } = this;
    const viz = vizAtHand();
    if (session === undefined || viz === undefined) return;
    try {
      use(session, viz);
    } catch {
      // a reader who asks for more than to look is told
    }
  }

  /** Show another state, once those asked for before are drawn; the node of this id stays where it is on screen. */
  change(next: Change, id = ""): Promise<void> {
    return this.ask((session, viz) => this.#show(session.show(next(session.state, session), viz), id));
  }

  /** Until everything asked for so far was done or has failed. */
  get settled(): Promise<void> {
    return this.#turn;
  }

  /** Do something that needs data and layout engine, in its turn; if they can't be had, the reader is told. */
  ask(use: (session: Session, viz: Viz) => void | Promise<void>): Promise<void> {
    return this.#take(async () => {
      if (!wasmAllowed()) throw new NotAllowed();
      for (;;) {
        const [session, viz] = await this.load();
        // whoever asked in vain has asked again, or turned to something else
        if (this.#failed.splice(0).length > 0) this.note.clear();
        try {
          return await use(session, viz);
        } catch (error) {
          if (!isBroken(viz)) throw error;
        }
        // the engine broke down: a new one does it again, and layout does without it for what breaks two
        discardViz();
      }
    });
  }

  /** Do something that needs the data only. */
  askData(use: (session: Session) => void): Promise<void> {
    return this.#take(() => this.#loadData().then(use));
  }

  #loadData(): Promise<Session> {
    this.#loading ??= this.#begin().catch((error: unknown) => {
      this.#loading = undefined;
      throw error;
    });
    return this.#loading;
  }

  async #begin(): Promise<Session> {
    const id = this.host.getAttribute("graph") ?? "";
    const [data] = await Promise.all([loadData(id, this.#source), loadCore()]);
    try {
      this.session = new Session(data);
    } catch {
      throw discardData(id, this.#source);
    }
    return this.session;
  }

  /** One after the other. Resolves when it is done, be it by another try. */
  #take(action: () => Promise<void>): Promise<void> {
    return new Promise((done) => {
      const attempt = async () => {
        this.note.wait(strings.loading);
        try {
          await action();
          this.note.done();
          done();
        } catch (error) {
          if (error instanceof LoadError) this.#failed.push(attempt);
          this.#explain(error);
        }
      };
      this.#turn = this.#turn.then(attempt);
    });
  }

  /** Put a new picture in place of the old one, around the node that was toggled or another one in sight. */
  #show(layout: Layout, id: string): void {
    const old = this.tree;
    const active = this.#root.activeElement;
    const focused = nodeAt(active);
    const scene = isLarge(layout) ? new Scene(layout) : undefined;
    const picture = scene?.picture ?? (parseSvg(draw(layout))[0] as SVGSVGElement);
    picture.setAttribute("aria-label", old.picture.getAttribute("aria-label") ?? "");
    const tree = new Tree(picture, scene, old);
    this.#scene = undefined;
    const toggled = tree.has(id) ? old.find(id) : undefined;
    const before = toggled ?? this.#inSight(old, tree);
    const after = before && tree.find(idOf(before));
    if (before && after) this.camera.replace(picture, header(before), header(after));
    else this.camera.replace(picture, old.picture, picture);
    this.tree = tree;
    this.#scene = scene;
    scene?.look(this.camera.sight);
    if (!this.#still.hasChildNodes()) this.#still.append(old.picture);
    if (focused !== null) this.#focusAgain(idOf(focused), id);
    this.#tell("drawn");
    this.#catchFocus(active);
    appear(tree.newSince(old));
  }

  /** The first node in sight that another picture has, too: it can stay where it is. */
  #inSight(now: Tree, other: Tree): SVGElement | undefined {
    const frame = this.stage.getBoundingClientRect();
    const bottom = Math.min(frame.bottom, innerHeight);
    return [...now.picture.querySelectorAll<SVGElement>("[data-id]")].find((node) => {
      if (!other.has(idOf(node))) return false;
      const box = header(node).getBoundingClientRect();
      const isBeside = box.right <= frame.left || box.left >= frame.right;
      return !isBeside && box.top >= Math.max(0, frame.top) && box.bottom <= bottom;
    });
  }

  /** The focus never falls back to the page's start: where what had it is gone, the tree takes it. */
  #catchFocus(had: Element | null): void {
    const { activeElement } = this.#root;
    // what is hidden loses it a moment later
    const isLost = activeElement === null || activeElement.getClientRects().length === 0;
    if (had !== null && isLost) this.tree.stop?.focus({ preventScroll: true });
  }

  get #root(): ShadowRoot {
    return this.stage.getRootNode() as ShadowRoot;
  }

  /** Keep the focus where it was or, where that is gone, on what was toggled. */
  #focusAgain(id: string, toggled: string): void {
    const node = this.tree.find(id) ?? this.tree.find(toggled);
    if (node !== undefined) this.focus(node);
  }

  #tell(what: Happening): void {
    for (const listener of this.#listeners[what]) listener();
  }

  #explain(error: unknown): void {
    if (error instanceof NotAllowed) this.note.say(strings.stillPicture);
    else if (error instanceof LoadError) this.note.insist(fill(strings.loadFailed, error.file), () => this.#retry());
    else {
      console.error(error);
      this.note.say(strings.drawFailed);
    }
  }

  /** Everything that failed for want of something, in its order. */
  #retry(): void {
    const active = this.#root.activeElement;
    this.note.clear();
    this.#catchFocus(active);
    for (const attempt of this.#failed.splice(0)) this.#turn = this.#turn.then(attempt);
  }
}
