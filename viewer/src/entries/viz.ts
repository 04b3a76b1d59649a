/** Entry of `viz.js`: the layout engine, for pages to start, and for workers, which start it and answer. */
import { instance } from "@viz-js/viz";
import type { Answer, Question } from "../shared/engine_messages.js";

globalThis.modelDiagramsViz = instance;

function serve(scope: Pick<Worker, "postMessage" | "onmessage">): void {
  const started = instance();
  scope.onmessage = async ({ data: { number, words } }: MessageEvent<Question>) => {
    const viz = await started;
    try {
      scope.postMessage({ number, result: viz.render(...(words as Parameters<typeof viz.render>)) } satisfies Answer);
    } catch {
      scope.postMessage({ number } satisfies Answer);
    }
  };
  // a rejection that nobody handles reaches no one outside
  started.then(
    () => scope.postMessage({ number: 0 } satisfies Answer),
    () => scope.postMessage({ number: -1 } satisfies Answer),
  );
}

if (typeof document === "undefined") serve(globalThis as unknown as Worker);
