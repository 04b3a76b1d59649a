/** Starts the layout engine in a worker if the page allows it. */
import type { Answer } from "../../shared/engine_messages.js";
import { scriptUrl, withTextUrl } from "./trusted_types.js";

/** A worker that hasn't started after this time is given up, ms; its script is already in the browser's cache. */
const PATIENCE = 10_000;

declare global {
  /** The function that `viz.js` runs: the layout engine, for a page or a worker. */
  var modelDiagramsEngine: (() => void) | undefined;
}

/**
 * Undefined if a policy forbids workers.
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

/** The source text of the engine, for pages on disk, pages that contain it, and pages with scripts on another host. */
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
