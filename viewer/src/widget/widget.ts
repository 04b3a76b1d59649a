/**
 * The one diagram behind a `<model-graph>`: what is shown, how it changes, and what features build on.
 *
 * A feature is a function `(widget: Widget) => void` in `features/`. `entries/element.ts` calls it once per diagram, when
 * the still picture becomes interactive and before anything is loaded. It can
 *
 * - add a button to `widget.toolbar` (`add`), or a row of controls to its menu (`addToMenu`);
 * - put elements over the picture (`widget.stage`) or below it (`widget.foot`, which stays visible);
 * - add an action on the selected node to the details panel: `widget.actions`;
 * - decorate pictures that are exported: `widget.exportDecorators`;
 * - handle a key: `widget.onKey("x", (id) => true)`. `id` is the focused node's; return whether the key was used. The
 *   handler that registered last goes first;
 * - enter a mode that Escape leaves: `widget.modes.set({ text, leave }, true)`;
 * - listen: `widget.on("drawn", …)`. "drawn": there are new nodes in the picture: decorate them, idempotently. "moved":
 *   another part of it is visible (`camera.viewport`). "selected": `widget.selected` changed. "lit" and "case": `widget.lit` or
 *   `widget.inCase` did;
 * - listen to the window or the document: only inside `widget.whileConnected((signal) => …)`, with its signal, which
 *   aborts when the diagram leaves the page. It runs again when the diagram comes back;
 * - change what is shown: `widget.change(({ transitions }) => transitions.toggle(id), idThatStaysInPlace)`. This loads
 *   what is needed, queues, draws, and shows a message if that fails. `widget.tasks` does the same for other tasks, with
 *   `withLayout`, `withSession` and `withScript`. Their promises resolve on success only, even if that takes a retry.
 *   `tasks.ifLaidOut` is for tasks that must not wait;
 * - select (`select`), scroll to a node (`reveal`), and announce something to screen readers (`announce`).
 *
 * Everything about graphs comes from `widget.session`, undefined until it was loaded. Elements of nodes come from
 * `widget.tree`, colours from style.css, words from strings.ts.
 */
import type { Layout, Viz } from "../layout/layout.js";
import type { SessionState } from "../session/diagram_data.js";
import type { Session } from "../session/session.js";
import type { Steps } from "../shared/slices.js";
import { readable } from "../shared/text.js";
import { Camera } from "./camera/camera.js";
import { box } from "./controls/dom.js";
import { StatusLine } from "./controls/status_line.js";
import { Toolbar } from "./controls/toolbar.js";
import { loadOwn, wasmAllowed } from "./loading/loader.js";
import { TaskQueue } from "./loading/task_queue.js";
import { Modes } from "./modes.js";
import { ShownPicture } from "./picture/shown_picture.js";
import { header, type Tree } from "./picture/tree.js";

export type Feature = (widget: Widget) => void;

type EventName = "drawn" | "moved" | "selected" | "lit" | "case";
type KeyHandler = (id: string | undefined) => boolean;

/** Something to do with a node: a button of the details panel. */
export interface Action {
  text: string;
  /** Whether the action makes sense for this node. */
  isOffered(id: string): boolean;
  run(id: string): void;
  /** Whether it is switched on; absent for actions that are no switches. */
  isPressed?(): boolean;
}

export class Widget {
  readonly host: HTMLElement;
  /** The window onto the picture, and the element inside it that moves. */
  readonly stage = box("mg-stage");
  readonly canvas = box("mg-canvas");
  /** Below the picture, but never below the window's lower edge. */
  readonly foot = box("mg-foot");
  readonly camera: Camera;
  /** Puts the foot into place where CSS can't: set on such pages. */
  placeFoot: () => void = () => undefined;
  readonly toolbar: Toolbar;
  /** One line of text below the picture. */
  readonly status = new StatusLine({
    retry: () => this.#retry(),
    stop: () => this.tasks.stop(),
    onFocusLost: () => this.#focusPicture(),
  });
  /** Runs tasks that need the data or the layout engine. */
  readonly tasks: TaskQueue;
  /** What the reader has entered and Escape leaves. */
  readonly modes = new Modes(() => this.#focusPicture());
  /** Set while the reader is asked to choose a node: gets the next node that is clicked or entered. */
  nodePicker: ((id: string) => void) | undefined;
  /** Id of the selected node; empty for the whole model. */
  selected: string | undefined;
  /** Ids of the nodes on the shown path, which are not dimmed. Undefined without a path. */
  lit: ReadonlySet<string> | undefined;
  /** Position of the case whose costs and values are shown; undefined for those of all. */
  inCase: number | undefined;
  readonly actions: Action[] = [];
  /** The version that the diagram is compared with, and how to compare it with another, or with none. */
  comparedWith: string | undefined;
  compareWith: (version: string | undefined) => Promise<void> = async () => undefined;
  /** What links contain in addition to the session's state: key → functions that return and restore it. */
  readonly linked: Record<string, { get(): string | undefined; set(value: string): void }> = {};
  /** What a followed link contains for `linked`: a script that loads later may add its key. */
  asked: Readonly<Record<string, string>> = {};
  /** Features decorate exported pictures like the one on screen. */
  readonly exportDecorators: ((picture: SVGSVGElement) => void)[] = [];
  /** They decorate the map. */
  readonly mapDecorators: ((map: Element) => void)[] = [];
  readonly #shown: ShownPicture;
  readonly #liveRegion = box("mg-unseen-text");
  readonly #listeners: Record<EventName, (() => void)[]> = { drawn: [], moved: [], selected: [], lit: [], case: [] };
  readonly #keys = new Map<string, KeyHandler[]>();
  readonly #onConnect: ((signal: AbortSignal) => void)[] = [];
  #connection = new AbortController();

  constructor(host: HTMLElement, picture: SVGSVGElement) {
    this.host = host;
    this.tasks = new TaskQueue(host, this.status);
    this.camera = new Camera(this.stage, this.canvas, {
      isFullscreen: () => host.matches(":fullscreen"),
      footTop: () => this.foot.getBoundingClientRect().top,
      onMove: () => this.updateViewport(),
    });
    this.toolbar = new Toolbar(host, this.camera);
    this.#shown = new ShownPicture(picture, this.stage, this.camera);
    this.canvas.append(picture);
    this.stage.append(this.canvas);
    this.foot.append(this.modes.element, this.status.element, this.toolbar.element);
    this.#liveRegion.role = "status";
  }

  /** The nodes of the current picture. */
  get tree(): Tree {
    return this.#shown.tree;
  }

  /** The children of the shadow root, in order. */
  get elements(): Element[] {
    return [...this.#shown.originals, this.stage, this.foot, this.#liveRegion];
  }

  // -- events ---------------------------------------------------------------------------------------------------------

  on(event: EventName, listener: () => void): void {
    this.#listeners[event].push(listener);
  }

  /** Call a function now and whenever the diagram returns to the page; its signal aborts when the diagram leaves. */
  whileConnected(start: (signal: AbortSignal) => void): void {
    this.#onConnect.push(start);
    start(this.#connection.signal);
  }

  onConnected(): void {
    this.onDisconnected();
    this.#connection = new AbortController();
    for (const start of this.#onConnect) start(this.#connection.signal);
  }

  /** Removes every outside reference to the diagram. */
  onDisconnected(): void {
    this.#connection.abort();
  }

  onKey(key: string, handler: KeyHandler): void {
    this.#keys.set(key, [handler, ...(this.#keys.get(key) ?? [])]);
  }

  /** Offer a key to the handlers; whether one used it. */
  handleKey(key: string, id: string | undefined): boolean {
    return (this.#keys.get(key) ?? []).some((handler) => handler(id));
  }

  /** Announce to screen readers what others see happen. */
  announce(text: string): void {
    this.#liveRegion.textContent = readable(text);
  }

  // -- data -----------------------------------------------------------------------------------------------------------

  get session(): Session | undefined {
    return this.tasks.session;
  }

  /** Load ahead of need; failures are reported when the reader asks for something. */
  prefetch(): void {
    if (!wasmAllowed()) return;
    loadOwn("explore.js").catch(() => undefined);
    this.tasks.prepare().then(
      // the page's own picture may be replaced by one that moves smoothly
      () => this.updateViewport(),
      () => undefined,
    );
  }

  /** Show another state; the node with this id stays where it is on screen. */
  change(next: (session: Session) => SessionState, id: string | (() => string) = ""): Promise<void> {
    return this.tasks.change(next, (session, layout) =>
      this.#show(session, layout, typeof id === "string" ? id : id()),
    );
  }

  /** Select and reveal a node, after making it visible. */
  async show(id: string): Promise<void> {
    if (!this.tree.has(id)) await this.change(({ transitions }) => transitions.reveal(id));
    this.goTo(id);
  }

  /**
   * Show another session instead: what changed since another version, or the model again.
   * @param hasSameNodes so that the selected one stays selected
   */
  exchange(next: (session: Session, viz: Viz) => Steps<Session>, hasSameNodes = false): Promise<void> {
    return this.tasks.exchange(next, (session, layout) => {
      if (!hasSameNodes) this.select(undefined);
      this.#show(session, layout, this.selected ?? "");
    });
  }

  // -- nodes ----------------------------------------------------------------------------------------------------------

  select(id: string | undefined): void {
    if (id === this.selected) return;
    this.selected = id;
    this.#emit("selected");
  }

  light(nodes: ReadonlySet<string> | undefined): void {
    this.lit = nodes;
    this.#emit("lit");
  }

  chooseCase(position: number | undefined): void {
    this.inCase = position;
    if (this.session !== undefined) this.session.inCase = position;
    this.#emit("case");
  }

  /** Select nothing; whether anything was selected. */
  deselect(): boolean {
    const isChange = this.selected !== undefined;
    this.select(undefined);
    return isChange;
  }

  /** The visible node that is or contains a node. */
  visibleAncestor(id: string): string | undefined {
    if (this.tree.has(id)) return id;
    return this.session?.transitions.visibleAncestor(id, (at) => this.tree.has(at));
  }

  /** Select and reveal a node, or the visible node that contains it. */
  goTo(id: string): void {
    const visible = this.visibleAncestor(id);
    const node = this.tree.find(visible ?? "");
    if (visible === undefined || node === undefined) return;
    this.tree.setTabStop(node);
    this.select(visible);
    if (!this.camera.enter?.(visible)) this.reveal(node);
  }

  /** Bring a node of the picture into view. */
  reveal(node: SVGElement): void {
    this.camera.reveal(header(node));
  }

  focus(node: SVGElement): void {
    this.tree.focus(node);
  }

  // -- the picture ----------------------------------------------------------------------------------------------------

  /** Prepare for printing, which shows the page's own picture. */
  print(): void {
    this.#shown.print();
  }

  /** Call after the picture may have moved: puts its visible part into the document. */
  updateViewport(): void {
    if (this.#shown.update()) this.#emit("drawn");
    if (!this.#shown.isMoving) this.#emit("moved");
  }

  #show(session: Session, layout: Layout, id: string): void {
    session.inCase = this.inCase;
    this.#shown.replace(session, layout, id, () => this.#emit("drawn"));
    this.#emit("moved");
  }

  #focusPicture(): void {
    this.tree.tabStop?.focus({ preventScroll: true });
  }

  #emit(event: EventName): void {
    for (const listener of this.#listeners[event]) listener();
  }

  #retry(): void {
    this.status.clear();
    this.tasks.retry();
  }
}
