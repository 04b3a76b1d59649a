/** The colour of the page behind an element. */
import { blend, type Colour, parseColour } from "./css_colour.js";

/** The colour that is seen through a transparent element. */
export function colourBehind(element: Element): Colour {
  let seen: Colour = [0, 0, 0, 0];
  for (let at: Element | null = element; at !== null && seen[3] < 1; at = parentAcrossShadows(at)) {
    seen = blend(seen, parseColour(getComputedStyle(at).backgroundColor));
  }
  return blend(seen, canvasColour());
}

/** The colour of a page that sets none: white, or nearly black in a dark colour scheme. */
function canvasColour(): Colour {
  const probe = document.createElement("i");
  probe.style.background = "Canvas";
  document.body.append(probe);
  const colour = parseColour(getComputedStyle(probe).backgroundColor);
  probe.remove();
  return colour;
}

function parentAcrossShadows(element: Element): Element | null {
  const root = element.getRootNode();
  return element.parentElement ?? (root instanceof ShadowRoot ? root.host : null);
}
