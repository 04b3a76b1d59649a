/** Short animations that help the eye to follow; none for readers who prefer reduced motion. */

/** ms. */
const DURATION = 140;

function isWanted(): boolean {
  return !matchMedia("(prefers-reduced-motion: reduce)").matches;
}

/** Let an element glide to its new place from its former one (a CSS transform). */
export function glide(element: Element, from: string, to: string): void {
  if (isWanted()) element.animate({ transform: [from, to] }, { duration: DURATION, easing: "ease-out" });
}

/** Let new elements fade in. */
export function appear(elements: Iterable<Element>): void {
  if (!isWanted()) return;
  for (const element of elements) element.animate({ opacity: [0, 1] }, { duration: DURATION, easing: "ease-in" });
}
