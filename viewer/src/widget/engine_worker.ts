/** Starts the layout engine in a worker, where the page allows it. */
import type { Answer } from "../shared/engine_messages.js";
import { unpacked } from "../shared/unpack.js";
import { scriptUrl } from "./trusted_types.js";

/** A worker that has not started by then is given up, ms: the script is in the browser's cache when it starts. */
const PATIENCE = 10_000;

/** Undefined where there can be none: policies may forbid it, and pages opened from disk have no URLs for workers. */
export async function startWorker(url: string | undefined): Promise<Worker | undefined> {
  try {
    const packed = globalThis.modelDiagramsPacked?.["viz.js"];
    if (packed !== undefined) return await started(URL.createObjectURL(new Blob([await unpacked(packed)])));
    if (url === undefined || new URL(url).origin !== location.origin || location.protocol === "file:") return undefined;
    return await started(scriptUrl(url));
  } catch {
    return undefined;
  }
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
