/**
 * Long work in steps. Pages run them in slices, between which the browser has its turn; builds run them at once. The clock
 * decides only where a slice ends, never what the work gives.
 */

/** Work that may pause wherever it yields. Where it yields a promise, it goes on with what that resolves to. */
export type Steps<T> = Generator<Promise<unknown> | undefined, T, unknown>;

/** Time per slice, ms. A step that has begun is finished; together they should stay below 50 ms. */
const SLICE = 12;

/** Items of a list that are one step. */
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

/** What steps make of each item. */
export function* mapSteps<T, R>(items: readonly T[], make: (item: T, i: number) => Steps<R>): Steps<R[]> {
  const made: R[] = [];
  for (const [i, item] of items.entries()) made.push(yield* make(item, i));
  return made;
}

/** A value that takes no steps. */
export function* noSteps<T>(value: T): Steps<T> {
  yield* [];
  return value;
}

/** Run all steps at once. */
export function atOnce<T>(work: Steps<T>): T {
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
    if (value !== undefined) throw new Error("this work has to wait: run it in slices");
  }
}

/** Run steps in slices, unless they are stopped. */
export async function inSlices<T>(work: Steps<T>, stop?: AbortSignal): Promise<T> {
  let end = performance.now() + SLICE;
  let step = work.next();
  while (!step.done) {
    const pause = step.value ?? (performance.now() > end ? turn() : undefined);
    if (pause === undefined) step = work.next();
    else {
      step = await pause.then(
        (value) => {
          stop?.throwIfAborted();
          end = performance.now() + SLICE;
          return work.next(value);
        },
        (error) => work.throw(error),
      );
    }
  }
  return step.value;
}

/** Resolves once the browser had its turn. Timers wait 4 ms when they follow each other; messages don't. */
export function turn(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(0);
  });
}
