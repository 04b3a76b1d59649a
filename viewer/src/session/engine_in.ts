/** A layout engine in a worker, as one that answers at once: where it can't yet, work pauses until it can. */
import type { Viz } from "../layout/layout.js";
import type { Answer, Question } from "../shared/engine_messages.js";
import { Pause } from "../shared/slices.js";
import { LruMap } from "./lru.js";

/** Answers kept for work that begins anew after each; layouts remember the rest. */
const KEPT = 256;

/** Most that a question takes is half a second; on busy machines and phones more. Then a worker is given up, ms. */
const PATIENCE = 10_000;

export function engineIn(worker: Worker, onSilence: () => void): Viz {
  const answers = new LruMap<string, Answer>(KEPT);
  const asked = new Map<string, Promise<void>>();
  const waiting: ((answer: Answer) => void)[] = [];
  worker.onmessage = ({ data }: MessageEvent<Answer>) => waiting[data.number - 1]?.(data);
  const ask = (key: string, words: unknown[]) =>
    new Promise<void>((resolve) => {
      const givenUp = setTimeout(() => {
        onSilence();
        waiting[number - 1]?.({ number });
      }, PATIENCE);
      const number = waiting.push((answer) => {
        clearTimeout(givenUp);
        answers.set(key, answer);
        asked.delete(key);
        resolve();
      });
      worker.postMessage({ number, words } satisfies Question);
    });
  const render = (...words: unknown[]): unknown => {
    const key = JSON.stringify(words);
    const answer = answers.get(key);
    if (answer?.result !== undefined) return answer.result;
    if (answer !== undefined) {
      worker.terminate();
      throw Object.assign(new Error("the layout engine crashed"), { name: "RuntimeError" });
    }
    const answered = asked.get(key) ?? ask(key, words);
    asked.set(key, answered);
    throw new Pause(answered);
  };
  // nothing else of an engine is used: dot.ts
  return { render } as Viz;
}
