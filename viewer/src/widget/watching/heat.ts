/** The values of one tensor over time: a heat map with an axis on both sides of zero. */
import { axisBottom, axisLeft } from "d3-axis";
import { scaleLinear, scalePoint } from "d3-scale";
import { select } from "d3-selection";
import { ERROR } from "../../draw/palette.js";
import { words } from "../../shared/recording_strings.js";
import { fill } from "../../shared/strings.js";
import { make, svg } from "../controls/dom.js";
import type { Heat, Tensor } from "./data.js";
import { power } from "./numbers.js";

/** Height of the map, of its row for zero, and of the axes, px. */
const HEIGHT = 150;
const ZERO = 9;
const FOOT = 18;
const SIDE = 46;
/** Colours that are legible on light and dark pages, so that a change of theme needs no redrawing. */
const INK = "59, 130, 208";
const SHADES = 7;

export interface HeatMap {
  element: HTMLElement;
  /** Mark a moment. */
  mark(moment: number): void;
}

/** The maps of several runs with the same axis, so that they can be compared. */
export function aligned(heats: readonly Heat[]): Heat[] {
  const lowest = Math.min(...heats.map((heat) => heat.lowest));
  const highest = Math.max(...heats.map((heat) => heat.highest));
  return heats.map((heat) => {
    const empty = "0".repeat(heat.rows[0]?.length ?? 0);
    const side = (heat.rows.length - 1) / 2;
    const [above, below] = [Array(highest - heat.highest).fill(empty), Array(heat.lowest - lowest).fill(empty)];
    const [positive, negative] = [heat.rows.slice(0, side), heat.rows.slice(side + 1)];
    const zero = heat.rows.slice(side, side + 1);
    return { lowest, highest, rows: [...above, ...positive, ...below, ...zero, ...below, ...negative, ...above] };
  });
}

export function heatMap(tensor: Tensor, heat: Heat, steps: readonly number[], width: number): HeatMap {
  const canvas = make("canvas", "mg-heat");
  const inner = Math.max(40, width - SIDE - 8);
  canvas.width = Math.round(inner * devicePixelRatio);
  canvas.height = Math.round(HEIGHT * devicePixelRatio);
  canvas.style.width = `${inner}px`;
  canvas.style.height = `${HEIGHT}px`;
  const label = fill(words.heatLabel, tensor.name);
  canvas.role = "img";
  canvas.ariaLabel = label;
  paint(canvas, tensor, heat);
  const axes = axesOf(heat, steps, inner);
  const marker = make("span", "mg-moment");
  const element = make("div", "mg-heat-map", canvas, marker);
  element.append(axes);
  return {
    element,
    mark: (moment) => {
      marker.hidden = moment < 0;
      marker.style.insetInlineStart = `${SIDE + (inner * (moment + 0.5)) / steps.length}px`;
    },
  };
}

/** The upper edge and the height of a row, as shares of the map. */
function rowBounds(row: number, { rows }: Heat): [number, number] {
  const side = (rows.length - 1) / 2;
  const zero = ZERO / HEIGHT;
  const each = (1 - zero) / (rows.length - 1);
  if (row < side) return [row * each, each];
  return row === side ? [side * each, zero] : [zero + (row - 1) * each, each];
}

function paint(canvas: HTMLCanvasElement, tensor: Tensor, heat: Heat): void {
  const context = canvas.getContext("2d");
  if (context === null) return;
  const columns = tensor.seen.length;
  const step = canvas.width / columns;
  heat.rows.forEach((cells, row) => {
    const [top, height] = rowBounds(row, heat).map((part) => part * canvas.height) as [number, number];
    for (let column = 0; column < columns; column += 1) {
      const shade = Number(cells[column] ?? 0);
      if (shade === 0) continue;
      context.fillStyle = `rgba(${INK}, ${(shade / SHADES).toFixed(2)})`;
      // no gaps between neighbours
      context.fillRect(Math.floor(column * step), Math.floor(top), Math.ceil(step), Math.ceil(height));
    }
  });
  for (let column = 0; column < columns; column += 1) {
    if ((tensor.values.bad?.[column] ?? 0) > 0) cross(context, column * step, step, canvas.height);
  }
}

/** Mark a column with values that aren't finite, by colour and by lines. */
function cross(context: CanvasRenderingContext2D, x: number, width: number, height: number): void {
  context.fillStyle = `${ERROR}55`;
  context.fillRect(x, 0, width, height);
  context.strokeStyle = ERROR;
  context.lineWidth = Math.max(1, height / 150);
  context.beginPath();
  for (let y = 0; y < height; y += height / 12) {
    context.moveTo(x, y + height / 24);
    context.lineTo(x + width, y);
  }
  context.stroke();
}

function axesOf(heat: Heat, steps: readonly number[], width: number): SVGSVGElement {
  const size = { width: width + SIDE + 8, height: HEIGHT + FOOT };
  const axes = svg("svg", { class: "mg-axes", ...size, "aria-hidden": "true" });
  const { positions, texts } = valueTicks(heat);
  const values = scaleLinear([0, 1], [0, HEIGHT]);
  const left = axisLeft(values).tickValues(positions).tickSize(4);
  left.tickFormat((_, i) => texts[i] ?? "");
  const place = (x: number, y: number) => select(axes).append("g").attr("transform", `translate(${x},${y})`);
  place(SIDE, 0).call(left);
  place(SIDE, HEIGHT).call(stepAxis(steps, width));
  return axes;
}

/** Powers of ten on both sides of zero, as many as are legible. */
function valueTicks(heat: Heat): { positions: number[]; texts: string[] } {
  const [first, last] = [Math.log10(startOf(heat.lowest)), Math.log10(startOf(heat.highest + 1))];
  const stride = Math.max(1, Math.ceil((last - first) / 4));
  const half = (1 - ZERO / HEIGHT) / 2;
  const ticks = [{ position: 0.5, text: words.zeroRow }];
  for (let at = Math.ceil(first); at <= last; at += stride) {
    const offset = (half * (binOf(10 ** at) - heat.lowest)) / (heat.highest - heat.lowest + 1);
    ticks.push({ position: half - offset, text: power(at) }, { position: 1 - half + offset, text: `−${power(at)}` });
  }
  // there is no room next to zero
  const legible = ticks.filter(({ position, text }) => text === words.zeroRow || Math.abs(position - 0.5) > 0.07);
  return { positions: legible.map(({ position }) => position), texts: legible.map(({ text }) => text) };
}

/** The lower edge of a bin: there are two for each power of two, numbered from 2 ** -64 on. */
function startOf(bin: number): number {
  const octave = Math.floor((bin - 1) / 2);
  return (1 + ((bin - 1) % 2) / 2) * 2 ** (octave - 64);
}

/** The bin of a number, plus the share of the bin below the number. */
function binOf(value: number): number {
  const octave = Math.floor(Math.log2(value));
  return 1 + 2 * (octave + 64) + 2 * (value / 2 ** octave - 1);
}

/**
 * An axis of moments, labelled with as many steps as have room.
 *
 * @param first the position of the first moment: in the middle of its own column, or at the start
 */
export function stepAxis(
  steps: readonly number[],
  width: number,
  first: "middle" | "ends" = "middle",
): ReturnType<typeof axisBottom<number>> {
  const room = Math.max(1, Math.floor(width / 60));
  const stride = Math.max(1, Math.ceil(steps.length / room));
  const inset = first === "middle" ? width / steps.length / 2 : 0;
  const scale = scalePoint<number>([...steps.keys()], [inset, width - inset]);
  const ticks = [...steps.keys()].filter((moment) => moment % stride === 0);
  return axisBottom<number>(scale)
    .tickValues(ticks)
    .tickSize(4)
    .tickFormat((moment) => String(steps[moment] ?? ""));
}
