/**
 * Data and libraries come as classic scripts at the first need: pages opened from disk may neither fetch nor import.
 * What a script brings is left in a global, because that is all a classic script can do.
 */
import type { Graph } from "../graph.js";
import type { Viz } from "../layout.js";
import type { State } from "../view.js";
import { HOME, scriptAddress } from "./trusted.js";

/** What a diagram's data script registers. */
export interface DiagramData {
  graph: Graph;
  state: State;
}

declare global {
  var modelDiagramsData: Map<string, DiagramData> | undefined;
  var modelDiagramsViz: (() => Promise<Viz>) | undefined;
  /** What of the core the widget calls: see `LATE_CORE` in build.mjs. */
  var modelDiagramsCore: Record<string, unknown> | undefined;
}

/** A script did not arrive, or did not bring what it should. */
export class LoadError extends Error {
  constructor(readonly file: string) {
    super(`${file} did not load`);
  }
}

/** Load a diagram's data: from its script, or from the page itself where everything is inlined. */
export async function loadData(id: string, url: string | undefined): Promise<DiagramData> {
  const registered = () => globalThis.modelDiagramsData?.get(id);
  if (registered() === undefined) await loadScript(url, id);
  const data = registered();
  // it came, but it was cut off or is of another diagram
  if (data === undefined) throw discardData(id, url);
  return data;
}

/** Forget a diagram's data, of which nothing can be made: asked for again, it may be whole. */
export function discardData(id: string, url: string | undefined): LoadError {
  globalThis.modelDiagramsData?.delete(id);
  scripts.delete(url ?? "");
  return new LoadError(url ?? id);
}

/** Load the core, which has to be of this script's version, unless the page has it. */
export async function loadCore(): Promise<void> {
  if (globalThis.modelDiagramsCore === undefined)
    await loadScript(HOME ? new URL("core.js", HOME).href : undefined, "core.js");
  if (globalThis.modelDiagramsCore === undefined) throw new LoadError("core.js");
}

let engine: Promise<Viz> | undefined;
let started: Viz | undefined;

/** The page's one layout engine. */
export function loadViz(url: string | undefined): Promise<Viz> {
  engine ??= startViz(url).then(
    (viz) => {
      started = viz;
      return viz;
    },
    (error: unknown) => {
      engine = undefined;
      throw error;
    },
  );
  return engine;
}

/** The layout engine, if there is one by now. */
export function vizAtHand(): Viz | undefined {
  return started;
}

/** Give up the engine: after a crash WebAssembly is not to be trusted again, the next need starts a new one. */
export function discardViz(): void {
  engine = undefined;
  started = undefined;
}

async function startViz(url: string | undefined): Promise<Viz> {
  if (globalThis.modelDiagramsViz === undefined) await loadScript(url, "viz.js");
  if (globalThis.modelDiagramsViz === undefined) throw new LoadError(url ?? "viz.js");
  return globalThis.modelDiagramsViz();
}

const EMPTY_MODULE = Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0);
let allowed: boolean | undefined;

/** Whether the page's content security policy lets WebAssembly run, without which there is no layout. */
export function wasmAllowed(): boolean {
  if (allowed === undefined) {
    try {
      allowed = new WebAssembly.Module(EMPTY_MODULE) instanceof WebAssembly.Module;
    } catch {
      allowed = false;
    }
  }
  return allowed;
}

const scripts = new Map<string, Promise<void>>();

/** Run a script once per page; a failed one may be tried again. */
function loadScript(url: string | undefined, what: string): Promise<void> {
  if (url === undefined) return Promise.reject(new LoadError(what));
  let loading = scripts.get(url);
  if (loading === undefined) {
    loading = insertScript(url);
    scripts.set(url, loading);
    loading.catch(() => scripts.delete(url));
  }
  return loading;
}

function insertScript(url: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const script = document.createElement("script");
    // throws, and so rejects, where the address is not one of ours
    script.src = scriptAddress(url);
    script.onload = () => resolve();
    script.onerror = () => {
      script.remove();
      reject(new LoadError(url));
    };
    document.head.append(script);
  });
}
