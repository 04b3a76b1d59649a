/**
 * Long work in slices, so that a page stays responsive: work that remembers what it did is stopped where its time is used
 * up, and called again after the browser had its turn. It then finds what it remembers, and goes on.
 */

/** Time per slice, ms. A step that has begun is finished; together they are to stay below 50 ms. */
const SLICE = 12;

/** What stops work: `until` tells when calling it again makes sense; at once if absent. */
export class Pause {
  constructor(readonly until?: Promise<unknown>) {}
}

let end = Number.POSITIVE_INFINITY;

/** To be called after something was done and remembered. Throws a `Pause` where the slice's time is used up. */
export function checkpoint(): void {
  if (end !== Number.POSITIVE_INFINITY && performance.now() > end) throw new Pause();
}

/** Work in steps of a few ms: it may pause where it yields. */
export type Steps<T> = Generator<void, T>;

/** How many items of a list are one step. */
const ITEMS = 500;

/** Do something with each of many items. */
export function* each<T>(items: Iterable<T>, action: (item: T) => void): Steps<void> {
  let done = 0;
  for (const item of items) {
    action(item);
    done += 1;
    if (done % ITEMS === 0) yield;
  }
}

/** Begin work, or go on with what has begun under this key; done at once unless it is called in slices. */
export function resumed<T>(begun: Map<string, Steps<T>>, key: string, begin: () => Steps<T>): T {
  const work = begun.get(key) ?? begin();
  for (;;) {
    begun.delete(key); // a generator that throws has no result
    const { done, value } = work.next();
    if (done) return value;
    begun.set(key, work);
    checkpoint();
  }
}

/** All steps at once. */
export function atOnce<T>(work: Steps<T>): T {
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
  }
}

/** Run work that remembers what it did, in slices, unless it is stopped. */
export async function inSlices<T>(work: () => T, stop?: AbortSignal): Promise<T> {
  for (;;) {
    let pause: Pause;
    try {
      end = performance.now() + SLICE;
      return work();
    } catch (error) {
      if (!(error instanceof Pause)) throw error;
      pause = error;
    } finally {
      // before the browser has its turn: what a reader does meanwhile is in no slice
      end = Number.POSITIVE_INFINITY;
    }
    await (pause.until ?? turn());
    stop?.throwIfAborted();
  }
}

/** Resolves once the browser had its turn. Timers wait 4 ms when they follow each other; messages don't. */
function turn(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(0);
  });
}
