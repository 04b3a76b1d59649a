/** The still picture of a tour step: its subject is lit, the rest is faded, and the picture is cut around it. */
import type { Box, Layout } from "../layout/layout.js";
import { type DrawOptions, type Picture, picture } from "./draw.js";
import { type GroupAttributes, PAGE_PAINTER, type Painter } from "./painter.js";
import { num } from "./svg_text.js";

/** Opacity of faded parts. */
const FADED = 0.35;
/** Room around the focus, and the least size of the cut, px. */
const AROUND = 40;
const LEAST: readonly [number, number] = [420, 260];

/** The subject of a step: the boxes of everything drawn, and the ids of lit nodes and of the focus. */
interface Emphasis {
  boxes: ReadonlyMap<string, Box>;
  lit: readonly string[];
  focus: readonly string[];
}

export function stepPicture(layout: Layout, { boxes, lit, focus }: Emphasis, options: DrawOptions = {}): Picture {
  const { painter = PAGE_PAINTER } = options;
  const drawn = picture(layout, { ...options, painter: lit.length === 0 ? painter : fading(painter, boxes, lit) });
  const about = focus.flatMap((id) => boxes.get(id) ?? []);
  return about.length === 0 ? drawn : cropped(drawn, around(about), options);
}

function fading(painter: Painter, boxes: ReadonlyMap<string, Box>, lit: readonly string[]): Painter {
  const bright = lit.flatMap((id) => boxes.get(id) ?? []);
  const isBright = (box: Box) => bright.some((one) => isInside(box, one) || isInside(one, box));
  const isFaded = ({ classes, data }: GroupAttributes) => {
    const box = boxes.get(data?.id ?? "");
    return classes.includes("node") && box !== undefined && !isBright(box);
  };
  return {
    ...painter,
    group(group, content) {
      const drawn = painter.group(group, content);
      return drawn !== "" && isFaded(group) ? `<g opacity="${FADED}">${drawn}</g>` : drawn;
    },
  };
}

function isInside(box: Box, other: Box): boolean {
  const { x, y, width, height } = other;
  return box.x >= x && box.y >= y && box.x + box.width <= x + width && box.y + box.height <= y + height;
}

function around(boxes: readonly Box[]): Box {
  const left = Math.min(...boxes.map(({ x }) => x)) - AROUND;
  const top = Math.min(...boxes.map(({ y }) => y)) - AROUND;
  const width = Math.max(...boxes.map((box) => box.x + box.width)) + AROUND - left;
  const height = Math.max(...boxes.map((box) => box.y + box.height)) + AROUND - top;
  return { x: left, y: top, width, height };
}

/** The part of a picture around a box, no larger than a page. A frame shows that there is more. */
function cropped(drawn: Picture, box: Box, { painter = PAGE_PAINTER, page }: DrawOptions): Picture {
  const size = /viewBox="0 0 ([\d.]+) ([\d.]+)"/.exec(drawn.svg);
  const [wide, high] = [Number(size?.[1]), Number(size?.[2])];
  const [x, width] = span(box.x, box.width, LEAST[0], wide);
  const [y, height] = span(box.y, box.height, LEAST[1], high);
  const scale = Math.min(1, (page?.[0] ?? Infinity) / width, (page?.[1] ?? Infinity) / height);
  const shown = { width: Number(num(width * scale)), height: Number(num(height * scale)) };
  const part = `viewBox="${[x, y, width, height].map(num).join(" ")}" width="${shown.width}" height="${shown.height}"`;
  const svg = drawn.svg.replace(/viewBox="[^"]*" width="[^"]*" height="[^"]*"/, part);
  const isWhole = width === wide && height === high;
  return { svg: isWhole ? svg : svg.replace(/<\/svg>$/, `${frame({ x, y, width, height }, painter)}$&`), ...shown };
}

function frame({ x, y, width, height }: Box, painter: Painter): string {
  const inside = [x + 0.5, y + 0.5, width - 1, height - 1].map(num);
  const geometry = `x="${inside[0]}" y="${inside[1]}" width="${inside[2]}" height="${inside[3]}"`;
  return painter.shape({ tag: "rect", roles: ["cards"], context: { family: "other", classes: [] }, geometry });
}

/** A part of a length, at least so long and within its ends. */
function span(start: number, length: number, least: number, whole: number): readonly [number, number] {
  const wanted = Math.min(Math.max(length, least), whole);
  const from = start - (wanted - length) / 2;
  return [Math.max(0, Math.min(from, whole - wanted)), wanted];
}
