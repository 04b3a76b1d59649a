/**
 * Runs tasks that need a diagram's data, the core or the layout engine, one after the other. Loads what they need, reports
 * failures to the reader, and retries on request.
 */
import type { Layout, Viz } from "../../layout/layout.js";
import type { SessionState } from "../../session/diagram_data.js";
import type { Session } from "../../session/session.js";
import type { Steps } from "../../shared/slices.js";
import { fill, strings } from "../../shared/strings.js";
import type { StatusLine } from "../controls/status_line.js";
import {
  discardData,
  discardViz,
  LoadError,
  loadData,
  loadOwn,
  loadViz,
  loadVizScript,
  loadWorkerViz,
  ownUrl,
  type Script,
  type ScriptName,
  wasmAllowed,
} from "./loader.js";

/** The page's policy forbids WebAssembly, so that there can be no other picture. */
class WasmForbiddenError extends Error {}

/** The reader has stopped waiting. */
class StoppedError extends Error {}

type Attempt = (stop: AbortSignal) => Promise<void>;

/** Graphs with fewer nodes are laid out faster than a worker starts. */
const LARGE_GRAPH = 2000;

export class TaskQueue {
  /** The open diagram, once it is loaded. */
  session: Session | undefined;
  readonly #id: string;
  readonly #url: string | undefined;
  readonly #notes: string | null;
  readonly #status: StatusLine;
  #loading: Promise<Session> | undefined;
  #last: Promise<void> = Promise.resolve();
  /** Controllers of waiting and running tasks. */
  readonly #stops = new Set<AbortController>();
  /** Tasks that failed because something didn't load. */
  #failed: Attempt[] = [];

  /**
   * @param host names the diagram and its data script; viz.js is in the same folder, unless the page contains everything
   * @param status shows delays and failures to the reader
   */
  constructor(host: Element, status: StatusLine) {
    const source = host.getAttribute("src");
    this.#id = host.getAttribute("graph") ?? "";
    this.#notes = host.getAttribute("notes");
    // resolved now, because instant navigation may change the address of the page around a kept element
    this.#url = source === null ? undefined : new URL(source, document.baseURI).href;
    this.#status = status;
  }

  /** Load what is missing. After a failure, the next call tries again. */
  async load(): Promise<[Session, Viz]> {
    const url = ownUrl("viz.js") ?? (this.#url && new URL("viz.js", this.#url).href);
    const [session] = await Promise.all([this.#loadSession(), loadVizScript(url)]);
    const viz = await (session.data.nodes.length < LARGE_GRAPH ? loadViz(url) : loadWorkerViz(url));
    return [session, viz];
  }

  /** Load what is missing and lay out the picture. */
  async layOut(): Promise<[Session, Layout]> {
    const [session, viz] = await this.load();
    return [session, await inSlices(session.layOut(viz))];
  }

  /** The same ahead of need, unless the reader asks for something first. */
  async prepare(): Promise<void> {
    const [session, viz] = await this.load();
    if (this.#stops.size === 0) await inSlices(session.layOut(viz));
  }

  /** Drop waiting and running tasks if the reader sees that they take long; whether that was so. Loading goes on. */
  stop(): boolean {
    const { isWaiting } = this.#status;
    if (isWaiting) for (const stop of this.#stops) stop.abort(new StoppedError());
    return isWaiting;
  }

  /**
   * Run a task now if the picture is laid out and nothing waits for a retry; otherwise do nothing. Never fails: it is for
   * tasks of a moving pointer.
   */
  ifLaidOut(task: (session: Session, layout: Layout) => void): void {
    const { session } = this;
    const layout = session?.laidOut;
    if (session === undefined || layout === undefined || this.#failed.length > 0) return;
    try {
      task(session, layout);
    } catch {
      // an explicit action of the reader will report the error
    }
  }

  /** Run a task that needs the layout. Resolves on success, even if that takes a retry. */
  withLayout(task: (session: Session, layout: Layout) => void | Promise<void>): Promise<void> {
    return this.#withViz(async (session, viz, stop) => task(session, await inSlices(session.layOut(viz), stop)));
  }

  /** Lay out another state and make it the current one. */
  change(next: (session: Session) => SessionState, show: (session: Session, layout: Layout) => void): Promise<void> {
    return this.#withViz(async (session, viz, stop) => show(session, await inSlices(session.show(next, viz), stop)));
  }

  /** Give the next tasks another session. */
  exchange(
    next: (session: Session, viz: Viz) => Steps<Session>,
    show: (session: Session, layout: Layout) => void,
  ): Promise<void> {
    return this.#withViz(async (session, viz, stop) => {
      const other = await inSlices(next(session, viz), stop);
      const layout = await inSlices(other.layOut(viz), stop);
      this.session = other;
      this.#loading = Promise.resolve(other);
      show(other, layout);
    });
  }

  /** Run a task that needs the layout engine; after a crash, again with another engine. */
  #withViz(task: (session: Session, viz: Viz, stop: AbortSignal) => Promise<void>): Promise<void> {
    return this.#enqueue(async (stop) => {
      if (!wasmAllowed()) throw new WasmForbiddenError();
      for (;;) {
        const [session, viz] = await this.load();
        stop.throwIfAborted();
        // loading works again: the reader has repeated the action or moved on
        if (this.#failed.splice(0).length > 0) this.#status.clear();
        try {
          return await task(session, viz, stop);
        } catch (error) {
          // layout gives up on a container that breaks the engine twice
          if (!(await loadOwn("core.js")).isBroken(viz)) throw error;
          discardViz();
        }
      }
    });
  }

  /** Run a task that only needs the data. */
  withSession(task: (session: Session) => void | Promise<void>): Promise<void> {
    return this.#enqueue((stop) => this.#loadSession().then(unless(stop, task)));
  }

  /** Run a task that needs one of the viewer's scripts. */
  withScript<Name extends ScriptName>(name: Name, task: (part: Script<Name>) => void | Promise<void>): Promise<void> {
    return this.#enqueue((stop) => loadOwn(name).then(unless(stop, task)));
  }

  /** Resolves when every task so far has succeeded or failed. */
  get settled(): Promise<void> {
    return this.#last;
  }

  /** Run the tasks again, in order, that failed because something didn't load. */
  retry(): void {
    for (const attempt of this.#failed.splice(0)) this.#append(attempt);
  }

  #loadSession(): Promise<Session> {
    this.#loading ??= this.#open().catch((error: unknown) => {
      this.#loading = undefined;
      throw error;
    });
    return this.#loading;
  }

  async #open(): Promise<Session> {
    const [folded, core] = await Promise.all([loadData(this.#id, this.#url), loadOwn("core.js")]);
    const comparing = folded.before === undefined ? undefined : await loadOwn("compare.js");
    try {
      const data = await core.unfold(folded, this.#notes);
      const { before, graph, details = false } = data;
      this.session = await core.open(data, before && comparing?.compare(before, graph, details));
    } catch {
      throw discardData(this.#id, this.#url);
    }
    return this.session;
  }

  #enqueue(task: Attempt): Promise<void> {
    return new Promise((resolve) => {
      const attempt = async (stop: AbortSignal) => {
        try {
          stop.throwIfAborted();
          this.#status.wait(strings.loading);
          await Promise.race([stopped(stop), task(stop)]);
          this.#status.done();
          resolve();
        } catch (error) {
          if (error instanceof LoadError) this.#failed.push(attempt);
          this.#report(error);
        }
      };
      this.#append(attempt);
    });
  }

  #append(attempt: Attempt): void {
    const stop = new AbortController();
    this.#stops.add(stop);
    this.#last = this.#last.then(() => attempt(stop.signal)).then(() => void this.#stops.delete(stop));
  }

  #report(error: unknown): void {
    if (error instanceof StoppedError) this.#status.say(strings.stopped);
    else if (error instanceof WasmForbiddenError) this.#status.say(strings.stillPicture);
    else if (error instanceof LoadError) this.#status.offerRetry(fill(strings.loadFailed, error.file));
    else {
      console.error(error);
      this.#status.say(strings.drawFailed);
    }
  }
}

/** Rejects when the reader stops waiting. */
function stopped(stop: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    stop.addEventListener("abort", () => reject(stop.reason));
  });
}

/** Run steps in slices: the page stays responsive. */
async function inSlices<T>(work: Steps<T>, stop?: AbortSignal): Promise<T> {
  return (await loadOwn("core.js")).inSlices(work, stop);
}

function unless<T>(stop: AbortSignal, task: (value: T) => void | Promise<void>): typeof task {
  return (value) => {
    stop.throwIfAborted();
    return task(value);
  };
}
