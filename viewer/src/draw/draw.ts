/** Layout → SVG: the shapes and texts of a picture. `style.ts` defines their appearance. */

import { ceilTo, DETAIL_SIZE, GRID } from "../layout/coord/metrics.js";
import { textWidth } from "../layout/coord/text_metrics.js";
import type { Box, Layout, Placed } from "../layout/layout.js";
import { SWATCH, TEXT_START } from "../shared/legend_rows.js";
import { readable } from "../shared/text.js";
import type { Item } from "../view/frame.js";
import { drawBar } from "./badge.js";
import { drawBox } from "./box.js";
import { type Legend, type LegendKey, makeLegend } from "./legend.js";
import { PAGE_PAINTER, type Painter, type Size } from "./painter.js";
import { drawPanel } from "./panel.js";
import { drawRemarks, makeRemarks, makeSizeLines } from "./remarks.js";
import type { StyleContext } from "./style.js";
import { escapeText, num, together, translation } from "./svg_text.js";
import { wireLetters } from "./wire_letters.js";
import { drawLabel, drawWires } from "./wires.js";

/** A drawn picture. */
export interface Picture extends Size {
  svg: string;
}

/** Draws the inside of a container. */
export type Inside = (placed: Placed) => string;

export interface DrawOptions {
  painter?: Painter;
  /** Replaces the drawing of insides: the widget skips parts outside the viewport. */
  inside?: Inside;
  /** Greatest width and height of the picture: those of the page, px. */
  page?: readonly [width: number, height: number] | null | undefined;
  /** Entries of the legend instead of the families. */
  legend?: readonly LegendKey[] | undefined;
  /** Sentences under the picture. */
  remarks?: readonly string[] | undefined;
}

/** The whole picture as an `<svg>` element. */
export function draw(layout: Layout): string {
  return picture(layout).svg;
}

/** The picture with its legend, and the size at which it is shown. */
export function picture(layout: Layout, options: DrawOptions = {}): Picture {
  const { painter = PAGE_PAINTER, inside } = options;
  if (layout.root.frame.items.length === 0) {
    return remarked(SIZE_OF_NOTHING, drawNothing(painter), options);
  }
  const legend = makeLegend(layout, options.legend);
  const width = Math.max(layout.width, legend.width);
  const height = layout.height + legend.height;
  const sizes = makeSizeLines(layout.sizes, width);
  const drawn = inside === undefined ? drawInside(layout.root, painter) : inside(layout.root);
  const below = drawLegend(legend, layout.height, painter) + drawRemarks(sizes, height, painter, "sizes");
  const size = { width: Math.max(width, sizes.width), height: height + sizes.height };
  return remarked(size, drawn + below, options, layout.sizes);
}

function remarked(
  picture: Size,
  content: string,
  { painter = PAGE_PAINTER, page, remarks = [] }: DrawOptions,
  sizes: readonly string[] = [],
): Picture {
  const below = makeRemarks(remarks, picture.width);
  const size = { width: Math.max(picture.width, below.width), height: picture.height + below.height };
  const said = [sizes.join(" · "), ...remarks].filter((words) => words !== "").join(" ");
  const description = said === "" ? "" : `<desc>${escapeText(readable(said))}</desc>`;
  return framed(painter, size, page, description + content + drawRemarks(below, picture.height, painter));
}

function framed(painter: Painter, size: Size, page: DrawOptions["page"], content: string): Picture {
  const scale = page == null ? 1 : Math.min(1, page[0] / size.width, page[1] / size.height);
  const length = (natural: number) => (page == null ? Number(num(natural)) : Math.floor(natural * scale * 100) / 100);
  const shown = { width: length(size.width), height: length(size.height) };
  return { svg: painter.picture(size, shown, content), ...shown };
}

const NOTHING = "No tensor went through this model";
const SIZE_OF_NOTHING: Size = {
  width: ceilTo(textWidth(NOTHING, DETAIL_SIZE) + 6 * GRID, 2 * GRID),
  height: 10 * GRID,
};

/** A message, because an empty picture would look like a broken page. */
function drawNothing(painter: Painter): string {
  const { width, height } = SIZE_OF_NOTHING;
  const context: StyleContext = { family: "other", classes: ["nothing"] };
  const geometry = `x="1" y="1" width="${width - 2}" height="${height - 2}" rx="6"`;
  const box = painter.shape({ tag: "rect", roles: ["box"], context, geometry });
  const text = painter.text({ roles: ["detail"], context, x: width / 2, y: height / 2 + 4, text: NOTHING });
  return painter.group({ classes: context.classes }, box + text);
}

function drawLegend(legend: Legend, top: number, painter: Painter): string {
  if (legend.entries.length === 0) return "";
  const entries = legend.entries.map(({ family, mark, name, letter, hue, x, y }) => {
    const classes = [`family-${family}`, ...(mark === undefined ? [] : [mark])];
    const context: StyleContext = { family, classes: [...classes, "legend"] };
    const geometry = `width="${SWATCH}" height="${SWATCH}" rx="3"`;
    const swatch =
      letter === undefined
        ? painter.shape({ tag: "rect", roles: ["box"], context, geometry })
        : drawBar(hue, { x: 0, y: 0, height: SWATCH }, painter) +
          painter.text({ roles: ["letters"], context, x: 6, y: 8, text: letter });
    const text = painter.text({ roles: ["detail"], context, x: TEXT_START, y: 10, text: name });
    return painter.group({ classes, transform: translation(x, top + y + 4) }, swatch + text);
  });
  return painter.group({ classes: ["legend"] }, entries.join(""));
}

/** The inside of a container: wires, items above them, labels on top. */
function drawInside({ frame, geometry, inner }: Placed, painter: Painter): string {
  const wires = painter.group({ classes: ["edges"] }, drawWires(frame, geometry, painter));
  const items = frame.items.map((item, i) => drawItem(item, geometry.boxes[i], inner[i] ?? null, { painter }));
  const labels = geometry.labels.map((label) => drawLabel(label, frame, painter));
  const letters = wireLetters(frame, geometry, painter).map((part) => part.draw());
  return wires + together(items) + together([...labels, ...letters]);
}

/** A box or, with `inner`, a panel with a title around its content. */
export function drawItem(
  item: Item,
  box: Box | undefined,
  inner: Placed | null,
  { painter = PAGE_PAINTER, inside }: Pick<DrawOptions, "painter" | "inside"> = {},
): string {
  if (box === undefined) return "";
  if (inner === null) return drawBox(item, box, painter);
  const content = inside === undefined ? drawInside(inner, painter) : inside(inner);
  return drawPanel({ item, box, title: inner.geometry.title, content }, painter);
}
