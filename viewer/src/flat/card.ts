/** The small picture of a model in lists: its coarsest reading, with names alone. */
import { picture } from "../draw/draw.js";
import { THEMES } from "../draw/palette.js";
import type { GraphIndex } from "../graph/graph.js";
import type { Layout } from "../layout/layout.js";
import { shallow } from "../view/expand/requested.js";
import type { Frame, View } from "../view/frame.js";
import type { State } from "../view/state.js";
import { view } from "../view/view.js";
import { flatPainter, themeColours } from "./flat_painter.js";

/** Size at which pages show it, px. */
const [WIDTH, HEIGHT] = [240, 160];
/** In an `<img>`, dark is what the `color-scheme` of the element says. */
const STYLE = `<style>svg{color:${THEMES.light.text}}@media(prefers-color-scheme:dark){svg{color:${THEMES.dark.text}}}</style>`;
/** Boxes that say what a model is: fewer are opened, unless that shows too many. */
const FEWEST = 3;
const MANY = 14;
/** Deeper in the model there are only details. */
const DEEPEST = 4;
/** Lengths of lines to try, px; 0 for a flow from top to bottom. */
const LINES = [0, 160, 240, 340, 480, 700];

/** Draws the card: the fewest boxes that still say what the model is, in the direction in which they are largest. */
export function drawCard(graph: GraphIndex, layOut: (view: View) => Layout): string {
  const inDepth = (depth: number, line = 0): View => {
    const direction = line > 0 ? "LR" : "TB";
    const limits = { most: MANY, ends: 2, line, legend: false };
    const state: State = { expanded: shallow(graph, depth), unrolled: [], direction, ...limits };
    const shown = view(graph, state);
    return { ...shown, root: withNamesAlone(shown.root), sizes: [] };
  };
  let depth = 0;
  for (let deeper = 0; deeper <= DEEPEST && boxesIn(inDepth(depth).root) < FEWEST; deeper += 1) {
    if (boxesIn(inDepth(deeper).root) <= MANY) depth = deeper;
  }
  const scaleOf = ({ width, height }: Layout) => Math.min(1, WIDTH / width, HEIGHT / height);
  const layouts = LINES.map((line) => layOut(inDepth(depth, line)));
  const largest = layouts.reduce((best, other) => (scaleOf(other) > scaleOf(best) ? other : best));
  const colours = { ...themeColours("light"), text: "currentColor", background: "none" };
  const { svg } = picture(largest, { painter: flatPainter(colours, { typeface: null, outlines: false }) });
  return svg.replace(">", `>${STYLE}`);
}

function boxesIn({ items }: Frame): number {
  const boxes = items.filter(({ kind, glyph }) => glyph === null && /^(module|function|op|bundle)$/.test(kind));
  return boxes.reduce((sum, { frame }) => sum + (frame === null ? 1 : boxesIn(frame)), 0);
}

function withNamesAlone(frame: Frame): Frame {
  for (const item of frame.items) {
    Object.assign(item, { detail: "", expandable: false });
    if (item.frame !== null) withNamesAlone(item.frame);
  }
  for (const wire of frame.wires) wire.label = "";
  return frame;
}
