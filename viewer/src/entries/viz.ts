/** Entry of `viz.js`: the layout engine, which pages start, and which workers start and serve. */
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
  // the page doesn't see unhandled rejections
  started.then(
    () => scope.postMessage({ number: 0 } satisfies Answer),
    () => scope.postMessage({ number: -1 } satisfies Answer),
  );
}

if (typeof document === "undefined") serve(globalThis as unknown as Worker);
