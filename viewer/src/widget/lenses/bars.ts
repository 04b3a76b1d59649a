/** Bars in the boxes of a picture, below their text, and amounts in place of the details. */
import { DETAIL_SIZE, NAME_SIZE } from "../../layout/coord/metrics.js";
import { textWidth } from "../../layout/coord/text_metrics.js";
import { svg } from "../controls/dom.js";
import { casesOf, header, idOf } from "../picture/tree.js";
import type { CostReading } from "./scale.js";

/** Height of a bar and its distance from the lower edge and the sides of the box, px: it is below the last line of text. */
const HEIGHT = 3.5;
const BELOW = 1.5;
const BESIDE = 7;
/** Least width of a bar for an amount above 0. */
const LEAST = 1.5;
/** Distance of text from the sides of a box, and width of the expand sign. */
const PADDING = 8;
const SIGN = 16;
const SPACE = 4;

/** Element of a text → its text without a lens. */
const originals = new WeakMap<Element, string>();

/** Show the costs of the boxes of a picture, or remove them if `readingOf` is undefined. Can be repeated. */
export function paintCosts(picture: SVGSVGElement, readingOf?: (id: string) => CostReading | undefined): void {
  for (const node of picture.querySelectorAll<SVGElement>("[data-id]")) {
    const shape = node.querySelector<SVGElement>(":scope > :is(.mg-box, .mg-panel)");
    clear(node);
    delete shape?.dataset.step;
    const reading = shape === null ? undefined : readingOf?.(idOf(node));
    if (shape !== null && reading !== undefined) decorate(node, shape, reading);
  }
}

function clear(node: SVGElement): void {
  delete node.dataset.step;
  for (const added of node.querySelectorAll(":scope > .mg-cost, :scope > .mg-name > .mg-cost")) added.remove();
  for (const text of textsOf(node)) restore(text);
  const item = header(node);
  const label = originals.get(item);
  if (label !== undefined) item.setAttribute("aria-label", label);
}

function restore(text: Element): void {
  const original = originals.get(text);
  if (original !== undefined) text.textContent = original;
}

/** The texts that a lens replaces. */
function textsOf(node: SVGElement): SVGElement[] {
  const item = header(node);
  return [...item.querySelectorAll<SVGElement>(":scope > .mg-detail, :scope > .mg-name > .mg-detail")];
}

function decorate(node: SVGElement, shape: SVGElement, reading: CostReading): void {
  if (shape.classList.contains("mg-panel")) {
    writeTitle(node, reading);
    // for blocks from afar; their insides have their own steps
    shape.dataset.step = String(reading.step ?? "");
  } else fillBox(node, shape, reading);
  label(node, reading);
}

function fillBox(node: SVGElement, shape: SVGElement, reading: CostReading): void {
  node.dataset.step = String(reading.step ?? "");
  // glyphs have neither text nor room
  if (shape.tagName !== "rect" || node.querySelector(":scope > .mg-name") === null) return;
  const [width, height] = [Number(shape.getAttribute("width")), Number(shape.getAttribute("height"))];
  write(node, reading, width);
  if (reading.length === undefined) return;
  const track = width - 2 * BESIDE;
  const y = height - BELOW - HEIGHT;
  const bar = reading.length === 0 ? 0 : Math.max(LEAST, track * reading.length);
  const start = Math.min(track * (reading.start ?? 0), track - bar);
  node.append(rect("mg-track", y, track), ...(bar > 0 ? [rect("mg-bar", y, bar, start)] : []));
}

/** The title of an open node has as much room as its own words. */
function writeTitle(node: SVGElement, reading: CostReading): void {
  const [first, ...others] = textsOf(node);
  if (first === undefined) return;
  const room = textWidth(first.textContent.trim(), DETAIL_SIZE);
  const text = textsFor(reading).find((each) => textWidth(each, DETAIL_SIZE) <= room);
  if (text === undefined) return;
  replace(first, text);
  for (const other of others) replace(other, "");
}

/** Texts to choose from, the longest first. */
function textsFor({ amount, share }: CostReading): string[] {
  return [[share, amount].filter(Boolean).join(" · "), share || amount];
}

/** The name of an item for screen readers has all visible text, and the amounts without room. */
function label(node: SVGElement, { share, amount }: CostReading): void {
  const item = header(node);
  const original = originals.get(item) ?? item.getAttribute("aria-label");
  if (original === null) return;
  originals.set(item, original);
  const texts = (what: string) => [...item.querySelectorAll(what)].map((text) => text.textContent.trim()).join(" ");
  // larger names from afar add nothing
  const visible = texts("text:not(.mg-face > text)");
  const more = [share, amount].filter((text) => !visible.includes(text));
  item.setAttribute("aria-label", [visible, ...more, texts("title"), ...casesOf(item)].join(" ").trim());
}

/** Write the longest text that fits. */
function write(node: SVGElement, reading: CostReading, width: number): void {
  const [first, ...others] = textsOf(node);
  const name = node.querySelector<SVGElement>(":scope > .mg-name");
  const isBeside = first === undefined || first.parentElement === name;
  const sign = node.querySelector(":scope > .mg-sign") === null ? 0 : SIGN;
  const room = width - 2 * PADDING - sign - (isBeside ? widthOfName(name) : 0);
  const text = textsFor(reading).find((each) => textWidth(each, DETAIL_SIZE) <= room);
  // a badge or letters follow the name
  const follows = ":scope > :is(.mg-repeat, .mg-letters)";
  if (text === undefined || (isBeside && node.querySelector(follows) !== null)) return;
  if (first === undefined) name?.append(added(text));
  else replace(first, text);
  for (const other of others) replace(other, "");
}

function widthOfName(name: SVGElement | null): number {
  const own = [...(name?.childNodes ?? [])].filter((child) => child instanceof Text).map((child) => child.data);
  return textWidth(own.join("").trim(), NAME_SIZE) + SPACE;
}

function replace(text: SVGElement, by: string): void {
  if (!originals.has(text)) originals.set(text, text.textContent);
  text.textContent = by;
}

function added(text: string): SVGElement {
  return svg("tspan", { class: "mg-detail mg-cost" }, ` ${text}`);
}

function rect(name: string, y: number, width: number, start = 0): SVGElement {
  const rounded = (value: number) => Number(value.toFixed(2));
  return svg("rect", {
    class: `mg-cost ${name}`,
    x: rounded(BESIDE + start),
    y: rounded(y),
    width: rounded(width),
    height: HEIGHT,
    rx: 1,
  });
}
