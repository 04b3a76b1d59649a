/** Spreads the start of many diagrams over several frames, so that their page stays responsive. */

/** Time budget per slice, ms; the last diagram may exceed it. The browser needs about as long to lay out and paint. */
const BUDGET = 5;
/** From the start of a slice to the next: time for a frame, ms. Without it one frame lays out the diagrams of many. */
const INTERVAL = 16;

/** When the current slice ran its first action. */
let start: number | undefined;

/** Run an action now or, once the current slice has used up its time, in one of the next. */
export function runInSlices(action: () => void): void {
  if (start === undefined) {
    start = performance.now();
    setTimeout(() => {
      start = undefined;
    }, INTERVAL);
  }
  if (performance.now() - start < BUDGET) action();
  else setTimeout(() => runInSlices(action), INTERVAL);
}
