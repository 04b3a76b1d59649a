/** Spreads the start of many diagrams over several frames, so that their page stays responsive. */

/** Time budget per slice, ms; the last diagram may exceed it. The browser needs about as long to lay out and paint. */
const BUDGET = 5;
/** From the start of one slice to the next, ms: the time of a frame. Otherwise a frame would lay out many diagrams. */
const INTERVAL = 16;

/** When the current slice ran its first action. */
let start: number | undefined;

/** Run an action now or, if the current slice has used up its time, in a later one. */
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
