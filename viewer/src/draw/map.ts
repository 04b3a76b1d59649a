/** The map of a picture as SVG text: nested blocks, with the colours that their nodes have in the picture. */
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
  /** Classes, as nodes of pictures have. */
  marks: readonly string[];
  /** In full, for those who point at it. */
  text: string;
}

/** A picture of its natural size; each block has its node's id as `data-cell`. */
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
