/**
 * Loads data, the core and the layout engine when first needed. They are classic scripts that leave their result in a
 * global, because pages opened from disk can neither fetch nor import. All diagrams of a page share what was loaded.
 */
import type { Viz } from "../../layout/layout.js";
import type { Comparing, Core } from "../../session/core.js";
import type { FoldedData } from "../../session/diagram_data.js";
import { unpacked } from "../../shared/unpack.js";
import { startWorker } from "./engine_worker.js";
import { HOME, scriptUrl } from "./trusted_types.js";

declare global {
  /** Id → data, packed or not. */
  var modelDiagramsData: Map<string, FoldedData | string> | undefined;
  /** File name → packed script, on pages that contain the whole viewer. */
  var modelDiagramsPacked: Record<string, string> | undefined;
  var modelDiagramsViz: (() => Promise<Viz>) | undefined;
  var modelDiagramsCore: Core | undefined;
  var modelDiagramsComparing: Comparing | undefined;
}

/** A script didn't load or was incomplete. */
export class LoadError extends Error {
  constructor(readonly file: string) {
    super(`${file} did not load`);
  }
}

/**
 * Load the data of a diagram, or of a catalogue, from its script, unless it is inline.
 * @param parse for data that isn't one JSON text
 */
export async function loadData<Data = FoldedData>(
  id: string,
  url: string | undefined,
  parse: (text: string) => Data | Promise<Data> = JSON.parse,
): Promise<Data> {
  const registered = () => globalThis.modelDiagramsData?.get(id);
  if (registered() === undefined) {
    await loadScript(url, id).catch(async (error: unknown) => {
      const moved = besideOwn(url);
      if (moved === undefined) throw error;
      await loadScript(moved, id);
    });
  }
  const data = registered();
  if (typeof data === "object") return data as Data;
  try {
    // undefined if the script belongs to another diagram
    const read = await parse(await unpacked(data ?? ""));
    (globalThis.modelDiagramsData as Map<string, unknown> | undefined)?.set(id, read);
    return read;
  } catch {
    throw discardData(id, url);
  }
}

/** Where a script is if the diagram was copied to a page in another folder: beside this one. */
function besideOwn(url: string | undefined): string | undefined {
  const name = /[^/]+$/.exec(url ?? "")?.[0];
  const moved = name && ownUrl(name);
  return moved === url ? undefined : moved;
}

/** Forget a diagram's incomplete data, so that the next call loads it again. */
export function discardData(id: string, url: string | undefined): LoadError {
  globalThis.modelDiagramsData?.delete(id);
  for (const place of [url, besideOwn(url)]) scripts.delete(place ?? "");
  return new LoadError(url ?? id);
}

/** The scripts of this version, and the global that each sets. */
const SCRIPTS = {
  "core.js": "modelDiagramsCore",
  "explore.js": "modelDiagramsExplore",
  "menu.js": "modelDiagramsMenu",
  "compare.js": "modelDiagramsComparing",
  "code.js": "modelDiagramsCode",
  "lenses.js": "modelDiagramsLenses",
  "recording.js": "modelDiagramsRecording",
  "sizes.js": "modelDiagramsSizes",
} as const;
type Scripts = typeof SCRIPTS;
export type ScriptName = keyof Scripts;
export type Script<Name extends ScriptName> = NonNullable<(typeof globalThis)[Scripts[Name]]>;

/** The URL of a file beside the widget's script, unless that is inline. */
export function ownUrl(name: string): string | undefined {
  return HOME ? new URL(name, HOME).href : undefined;
}

/** Load one of this version's scripts, unless the page contains it. */
export async function loadOwn<Name extends ScriptName>(name: Name): Promise<Script<Name>> {
  const brought = () => globalThis[SCRIPTS[name]];
  if (brought() === undefined) await loadFile(name, ownUrl(name));
  const script = brought();
  if (script === undefined) throw new LoadError(name);
  return script as NonNullable<typeof script>;
}

/** The page's layout engines: in the page, which answers at once, and in a worker, for large diagrams. */
let inPage: Promise<Viz> | undefined;
let inWorker: Promise<Viz> | undefined;
/** Whether a worker was given up because it didn't answer. */
let isSilent = false;

/** The layout engine of the page. */
export function loadViz(url: string | undefined): Promise<Viz> {
  inPage ??= loadVizScript(url)
    .then((start) => start())
    .catch((error: unknown) => {
      inPage = undefined;
      throw error;
    });
  return inPage;
}

/** The layout engine in a worker, which doesn't block the page; without workers, that of the page. */
export function loadWorkerViz(url: string | undefined): Promise<Viz> {
  if (isSilent) return loadViz(url);
  inWorker ??= startWorker(url)
    .then(async (worker) => {
      if (worker === undefined) return loadViz(url);
      const { engineIn } = await loadOwn("core.js");
      return engineIn(worker, () => {
        isSilent = true;
      });
    })
    .catch((error: unknown) => {
      inWorker = undefined;
      throw error;
    });
  return inWorker;
}

/** Drop the engines: after a crash, their memory is in an unknown state. The next call starts new ones. */
export function discardViz(): void {
  inPage = undefined;
  inWorker = undefined;
}

/** Load the layout engine's script, without starting the engine. */
export async function loadVizScript(url: string | undefined): Promise<() => Promise<Viz>> {
  if (globalThis.modelDiagramsViz === undefined) await loadFile("viz.js", url);
  if (globalThis.modelDiagramsViz === undefined) throw new LoadError(url ?? "viz.js");
  return globalThis.modelDiagramsViz;
}

const EMPTY_MODULE = Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0);
let allowed: boolean | undefined;

/** Whether the page's content security policy allows WebAssembly; without it there is no layout. */
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

/** Name → promise of a packed script that was started. */
const running = new Map<string, Promise<void>>();

/** Run a script of the viewer, from the page or from its URL. */
async function loadFile(name: string, url: string | undefined): Promise<void> {
  const together = Object.entries(globalThis.modelDiagramsPacked ?? {});
  const [names = "", packed] = together.find(([all]) => all.split(" ").includes(name)) ?? [];
  if (packed === undefined) return loadScript(url, name);
  const run = running.get(names) ?? runPacked(packed);
  running.set(names, run);
  return run;
}

async function runPacked(packed: string): Promise<void> {
  const script = document.createElement("script");
  script.textContent = await unpacked(packed);
  document.head.append(script);
}

const scripts = new Map<string, Promise<void>>();

/** Run a script once per page; after a failure it can be tried again. */
export function loadScript(url: string | undefined, name: string): Promise<void> {
  if (url === undefined) return Promise.reject(new LoadError(name));
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
    // throws, and so rejects, if the URL isn't allowed
    script.src = scriptUrl(url);
    script.onload = () => resolve();
    script.onerror = () => {
      script.remove();
      reject(new LoadError(url));
    };
    document.head.append(script);
  });
}
