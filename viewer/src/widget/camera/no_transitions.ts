/**
 * In place of d3-transition, which d3-zoom asks only to end transitions of its own: the camera has none, and the library
 * would be a fifth of the first script. The build puts this there.
 */
import { selection } from "d3-selection";

declare module "d3-selection" {
  interface Selection<GElement, Datum, PElement, PDatum> {
    interrupt(): this;
  }
}

selection.prototype.interrupt = function () {
  return this;
};

export function interrupt(): void {
  // nothing runs
}
