/** The layout engine of a worker. */
import type { Viz } from "../layout/layout.js";
import type { Answer, Question } from "../shared/engine_messages.js";

/** A worker is given up after this time, ms. An answer takes at most half a second, more on busy machines and phones. */
const PATIENCE = 10_000;

export function engineIn(worker: Worker, onSilence: () => void): Viz {
  const waiting: ((answer: Answer) => void)[] = [];
  worker.onmessage = ({ data }: MessageEvent<Answer>) => waiting[data.number - 1]?.(data);
  const render = (...words: unknown[]) =>
    new Promise((resolve, reject) => {
      const crash = () => {
        worker.terminate();
        reject(Object.assign(new Error("the layout engine crashed"), { name: "RuntimeError" }));
      };
      const givenUp = setTimeout(() => {
        onSilence();
        crash();
      }, PATIENCE);
      const number = waiting.push(({ result }) => {
        clearTimeout(givenUp);
        if (result === undefined) crash();
        else resolve(result);
      });
      worker.postMessage({ number, words } satisfies Question);
    });
  return { render } as Viz;
}
