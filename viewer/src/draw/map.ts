/** The map of a picture as SVG text: nested blocks in the colours of their nodes. */
import type { Box } from "../layout/layout.js";
import type { Item } from "../view/frame.js";
import { PAGE_PAINTER as painter } from "./painter.js";
import { num, together, translation } from "./svg_text.js";

const RADIUS = 4;
/** Where texts begin in a block, and the base lines of its title, px. */
const LEFT = 6;
const TITLE_LINE = 14;
const [NAME_BASE, ABOVE, BELOW] = [4, -3, 12];

interface Cell {
  item: Item;
  box: Box;
  name: string;
  detail: string;
  isOpen: boolean;
  /** CSS classes, as for nodes. */
  marks: readonly string[];
  /** The full text, shown on hover. */
  text: string;
}

/** A picture in natural size; `data-cell` of each block is the id of its node. */
export function drawMap(cells: readonly Cell[], caption: string, size: { width: number; height: number }): string {
  const context = { family: "other", classes: [] } as const;
  const explained = painter.text({ roles: ["label"], context, x: 0, y: size.height - LEFT, text: caption });
  return painter.picture(size, size, together(cells.map(drawCell)) + explained);
}

function drawCell({ item, box, name, detail, isOpen, marks, text }: Cell): string {
  const classes = [isOpen ? "module" : "node", `family-${item.family}`, ...marks];
  const context = { family: item.family, classes };
  const geometry = `width="${num(box.width)}" height="${num(box.height)}" rx="${RADIUS}"`;
  const shape = painter.shape({ tag: "rect", roles: [isOpen ? "panel" : "box"], context, geometry });
  const x = isOpen ? LEFT : box.width / 2;
  const middle = box.height / 2;
  const line = (role: "name" | "detail", y: number, content: string) =>
    content === "" ? "" : painter.text({ roles: [role], context, x, y, text: content });
  const words = isOpen
    ? painter.text({ roles: ["name"], context, x, y: TITLE_LINE, text: name, detail })
    : line("name", middle + (detail === "" ? NAME_BASE : ABOVE), name) + line("detail", middle + BELOW, detail);
  const title = isOpen ? painter.group({ classes: ["header"] }, words) : words;
  const place = translation(box.x, box.y);
  return painter.group({ classes, data: { cell: item.id }, transform: place }, painter.tooltip(text) + shape + title);
}
