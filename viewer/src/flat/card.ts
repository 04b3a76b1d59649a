/** The small picture of a model in lists: its coarsest reading. */
import { picture } from "../draw/draw.js";
import { THEMES } from "../draw/palette.js";
import { ancestors, type GraphIndex } from "../graph/graph.js";
import type { Layout } from "../layout/layout.js";
import type { Frame, Item, View } from "../view/frame.js";
import type { State } from "../view/state.js";
import { view } from "../view/view.js";
import { flatPainter, themeColours } from "./flat_painter.js";

/** Size at which pages show it, px. */
const [WIDTH, HEIGHT] = [240, 160];
/** A module with this share of all ops is like a wrapper, and opened if there are few boxes then, or too few before. */
const NEARLY_ALL = 0.75;
const [TOO_FEW, FEW] = [2, 6];
/** Most boxes that a container shows, and if they would be too small. */
const MOST = [20, 12, 6, 3];
/** Scales at which text is large enough: with the second lines of boxes, and without. */
type Said = "details" | "names";
const LEGIBLE: Readonly<Record<Said, number>> = { details: 0.6, names: 0.4 };
/** Lengths of lines to try, px; 0 for a flow from top to bottom. */
const LINES = [0, 160, 240, 340, 480];
/** In an `<img>`, dark is what the `color-scheme` of the element says; some browsers take the system's, so it has a background. */
const coloured = ({ text, background }: (typeof THEMES)["light"]) => `svg{color:${text};background:${background}}`;
const STYLE = `<style>${coloured(THEMES.light)}@media(prefers-color-scheme:dark){${coloured(THEMES.dark)}}</style>`;

/** What may be on the card: which modules are open, and how many boxes a container shows. */
interface Content {
  expanded: string[];
  most: number;
}

/** Draws the card: the fewest boxes that say what the model is, in the direction in which they are largest. */
export function drawCard(graph: GraphIndex, layOut: (view: View) => Layout): string {
  const largest = (content: Content, said: Said) =>
    LINES.map((line) => layOut(shown(graph, content, said, line))).reduce((one, other) =>
      scaleOf(other) > scaleOf(one) ? other : one,
    );
  let drawn: Layout | undefined;
  for (const content of contentsOf(graph)) {
    drawn = largest(content, "names");
    if (scaleOf(drawn) < LEGIBLE.names) continue;
    // the second lines make boxes larger
    const more = scaleOf(drawn) < LEGIBLE.details ? drawn : largest(content, "details");
    if (scaleOf(more) >= LEGIBLE.details) drawn = more;
    break;
  }
  if (drawn === undefined) return "";
  const colours = { ...themeColours("light"), text: "currentColor", background: "none" };
  const painter = flatPainter(colours, { typeface: null, outlines: false });
  return picture(drawn, { painter }).svg.replace(">", `>${STYLE}`);
}

/** In this order, until one is legible. */
function contentsOf(graph: GraphIndex): Content[] {
  const [most = 0, ...fewer] = MOST;
  const levels = levelsOf(graph, (expanded) => boxesIn(shown(graph, { expanded, most }, "names").root));
  const contents = levels.map((expanded): Content => ({ expanded, most }));
  return [...contents, ...fewer.map((one): Content => ({ expanded: levels[levels.length - 1] ?? [], most: one }))];
}

/** What may be open, most first: modules that hold nearly all of the model. */
function levelsOf(graph: GraphIndex, boxesAt: (expanded: string[]) => Item[]): string[][] {
  const ops = new Map<string, number>();
  const all = graph.graph.nodes.filter(({ kind }) => kind === "op");
  for (const { id } of all) for (const at of ancestors(graph, id)) ops.set(at, (ops.get(at) ?? 0) + 1);
  const levels: string[][] = [];
  for (let [expanded, boxes] = [[] as string[], boxesAt([])]; ; ) {
    if (boxes.length >= TOO_FEW) levels.unshift(expanded);
    const main = boxes.find(({ id, expandable }) => expandable && (ops.get(id) ?? 0) >= NEARLY_ALL * all.length);
    if (main === undefined || main.times > 1) break;
    expanded = [...expanded, main.id];
    const inside = boxesAt(expanded);
    if (boxes.length >= TOO_FEW && inside.length > FEW) break;
    boxes = inside;
  }
  return levels.length > 0 ? levels : [[]];
}

function shown(graph: GraphIndex, { expanded, most }: Content, said: Said, line = 0): View {
  const direction = line > 0 ? "LR" : "TB";
  const state: State = { expanded, unrolled: [], direction, most, ends: 2, line, legend: false };
  const whole = view(graph, state);
  return { ...whole, root: brief(whole.root, said), sizes: [] };
}

/** Without shapes and what only a reader can open; numbered boxes have the name of their class. */
function brief(frame: Frame, said: Said): Frame {
  const items = frame.items.map((item): Item => {
    const [class_ = ""] = item.detail.split(" · ");
    const isNumber = said === "names" && /^[\d.–]+$/.test(item.name) && class_ !== "";
    return {
      ...item,
      name: isNumber ? class_ : item.name,
      detail: said === "names" ? "" : item.detail,
      frame: item.frame && brief(item.frame, said),
    };
  });
  return { ...frame, items, wires: frame.wires.map((wire) => ({ ...wire, label: "" })) };
}

function boxesIn({ items }: Frame): Item[] {
  const boxes = items.filter(({ kind, glyph }) => glyph === null && /^(module|function|op)$/.test(kind));
  return boxes.flatMap((item) => (item.frame === null ? [item] : boxesIn(item.frame)));
}

function scaleOf({ width, height }: Layout): number {
  return Math.min(1, WIDTH / width, HEIGHT / height);
}
