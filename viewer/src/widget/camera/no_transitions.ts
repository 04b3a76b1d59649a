/**
 * Replaces d3-transition in the build: d3-zoom only uses it to end its own transitions, of which the camera has none, and
 * it would be a fifth of the first script.
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
