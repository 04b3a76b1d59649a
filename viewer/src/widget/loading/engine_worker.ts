/** Starts the layout engine in a worker, where the page allows it. */
import type { Answer } from "../../shared/engine_messages.js";
import { scriptUrl, withTextUrl } from "./trusted_types.js";

/** A worker that has not started by then is given up, ms: the script is in the browser's cache when it starts. */
const PATIENCE = 10_000;

declare global {
  /** What `viz.js` runs: the layout engine, in a page or in a worker. */
  var modelDiagramsEngine: (() => void) | undefined;
}

/**
 * Undefined where there can be none: policies may forbid it.
 *
 * @param url of the engine's script, which the page has loaded
 */
export async function startWorker(url: string | undefined): Promise<Worker | undefined> {
  try {
    return await (isOwn(url) ? started(scriptUrl(url)) : withTextUrl(ownText(), started));
  } catch {
    return undefined;
  }
}

/** Whether workers may come from this URL; strict policies allow no other. */
function isOwn(url: string | undefined): url is string {
  return url !== undefined && location.protocol !== "file:" && new URL(url).origin === location.origin;
}

/** The engine's own text: for pages on disk, pages that bring it along, and pages with scripts on another host. */
function ownText(): string {
  if (globalThis.modelDiagramsEngine === undefined) throw new Error("viz.js did not bring what it should");
  return `(${globalThis.modelDiagramsEngine})()`;
}

function started(url: string): Promise<Worker | undefined> {
  return new Promise((resolve) => {
    const worker = new Worker(url);
    const giveUp = () => {
      worker.terminate();
      resolve(undefined);
    };
    const late = setTimeout(giveUp, PATIENCE);
    worker.onmessage = ({ data }: MessageEvent<Answer>) => {
      clearTimeout(late);
      if (data.number === 0) resolve(worker);
      else giveUp();
    };
    worker.onerror = giveUp;
  });
}
