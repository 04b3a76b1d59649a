/** What a page with a legend of one line has to spare: the height of pictures is limited as if theirs had two. */
import type { GraphIndex } from "../../graph/graph.js";
import { strings } from "../../shared/strings.js";
import type { Frame } from "../frame.js";
import type { State } from "../state.js";
import { view } from "../view.js";

/** At most the width of a letter in the legend, and that of what is around an entry's text, in px. */
const LETTER = 6.5;
const AROUND = 32;
const SPARE = 28;

/** How much higher a picture of this width may be than one with a legend of two lines. */
export function legendRoom(traced: GraphIndex, state: State, width: number): number {
  const families = [...familiesIn(view(traced, state).root)];
  const widths = families.map((family) => AROUND + LETTER * nameOf(family).length);
  return widths.reduce((sum, entry) => sum + entry, 0) <= width ? SPARE : 0;
}

function nameOf(family: string): string {
  return family === "other" ? strings["mixed or other"] : family;
}

/** Those with a colour of their own, and grey. */
function familiesIn({ items }: Frame): Set<string> {
  const grey = /^(elementwise|shape)$/;
  return new Set(
    items.flatMap(({ family, frame }) => [family.replace(grey, "other"), ...(frame === null ? [] : familiesIn(frame))]),
  );
}
