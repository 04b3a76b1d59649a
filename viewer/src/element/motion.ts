/** Short movements that let the eye follow; none for readers who asked for none. */

const DURATION = 140;

function wanted(): boolean {
  return !matchMedia("(prefers-reduced-motion: reduce)").matches;
}

/** Let an element that has just been placed come from where it was (a CSS transform). */
export function glide(element: Element, from: string, to: string): void {
  if (wanted()) element.animate({ transform: [from, to] }, { duration: DURATION, easing: "ease-out" });
}

/** Let new elements appear. */
export function appear(elements: Iterable<Element>): void {
  if (!wanted()) return;
  for (const element of elements) element.animate({ opacity: [0, 1] }, { duration: DURATION, easing: "ease-in" });
}
