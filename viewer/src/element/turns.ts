/** Many diagrams come to life a few at a time, so that their page answers meanwhile. */

/** So long one task may take, ms; the last diagram in it comes on top. */
const SLICE = 15;

let began: number | undefined;

/** Do it now or, where this task has done enough of the kind, in one of the next. */
export function inTurn(action: () => void): void {
  if (began === undefined) {
    began = performance.now();
    setTimeout(() => {
      began = undefined;
    });
  }
  if (performance.now() - began < SLICE) action();
  else setTimeout(() => inTurn(action));
}
