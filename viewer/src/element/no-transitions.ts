/**
 * Stands in for d3-transition and d3-interpolate in the bundle. d3-zoom imports both for animated zooming, which nobody
 * asks of it here (see motion.ts); left in, they would be a quarter of the widget.
 */
import { selection } from "d3-selection";

/** There is nothing to interrupt. */
export function interrupt(): void {}

/** Only animations interpolate. */
export const interpolateZoom = null;

/** d3-zoom calls this on selections, too. */
Object.assign(selection.prototype, {
  interrupt(this: unknown) {
    return this;
  },
});
