import { colourBehind, hex, parseColour } from "../controls/css_colour.js";
import { download, svg } from "../controls/dom.js";
import type { MenuItem } from "../controls/toolbar.js";
import { parseSvg } from "../loading/trusted_types.js";
import { LARGE } from "../picture/scene.js";
import type { Widget } from "../widget.js";
import { printAlone } from "./print.js";

/** Saves the current picture as flat SVG, PNG or PDF, and the graph as JSON. */

/** PNG pixels per unit of the picture, and the limits of browsers' canvases: pixels, and pixels per side. */
const SCALE = 2;
const MAX_PIXELS = 1e8;
const MAX_SIDE = 16_000;

const TEXT_STYLES = ["font-family", "font-size", "font-weight", "text-anchor"];
const STROKE_STYLES = ["stroke-width", "stroke-dasharray", "stroke-linecap", "stroke-linejoin"];

export function savers(widget: Widget): MenuItem[] {
  const withPicture = (task: (svg: string) => void | Promise<void>) =>
    void widget.tasks.withLayout(({ drawing }, layout) => task(flatPicture(widget, () => drawing.picture(layout).svg)));
  return [
    {
      text: "SVG",
      run: () => withPicture((text) => download(`${nameOf(widget)}.svg`, new Blob([text], { type: SVG_TYPE }))),
    },
    {
      text: "PNG",
      run: () => withPicture(async (text) => download(`${nameOf(widget)}.png`, await toPng(widget, text))),
    },
    {
      text: "PDF",
      run: () => withPicture((text) => printAlone(text, widget.tree.picture.viewBox.baseVal, nameOf(widget))),
    },
    {
      text: "JSON",
      run: () => void widget.tasks.withSession(({ data }) => download(`${nameOf(widget)}.json`, json(data))),
    },
  ];
}

function json(data: object): Blob {
  return new Blob([JSON.stringify(data)], { type: "application/json" });
}

const SVG_TYPE = "image/svg+xml";

/**
 * The picture with all styles resolved, so that it looks the same in any program. Copies the computed styles of the browser
 * instead of using the flat painter, which doesn't know the page's colours, highlighted paths and colour scales.
 */
function flatPicture(widget: Widget, draw: () => string): string {
  const { tree, canvas } = widget;
  // to get its styles, a large picture must be in the document as a whole
  const source = tree.size < LARGE ? tree.picture : (parseSvg(draw())[0] as SVGSVGElement);
  if (source !== tree.picture) {
    canvas.append(source);
    for (const decorate of widget.exportDecorators) decorate(source);
  }
  const copy = source.cloneNode(true) as SVGSVGElement;
  const originals = [source, ...source.querySelectorAll("*")];
  [copy, ...copy.querySelectorAll("*")].forEach((element, i) => {
    resolveStyles(element, originals[i] as Element);
  });
  if (source !== tree.picture) source.remove();
  copy.prepend(background(widget, source.viewBox.baseVal));
  return new XMLSerializer().serializeToString(copy);
}

function background(widget: Widget, { width, height }: DOMRect): SVGRectElement {
  return svg("rect", { width, height, fill: hex(colourBehind(widget.stage)) });
}

function resolveStyles(element: Element, original: Element): void {
  const style = getComputedStyle(original);
  // attributes of style are for places without a style sheet, and programs may not know `currentColor`
  for (const { name } of [...element.attributes])
    if (/^(class|role|style|tabindex|data-|aria-|fill|stroke|font-|text-)/.test(name)) element.removeAttribute(name);
  if (style.display === "none" || style.visibility === "hidden") element.remove();
  const copy = (names: string[]) => {
    for (const name of names) element.setAttribute(name, style.getPropertyValue(name));
  };
  if (style.opacity !== "1") copy(["opacity"]);
  if (element instanceof SVGGElement || !(element instanceof SVGGraphicsElement)) return;
  setColour(element, "fill", style.fill);
  if (element instanceof SVGTextContentElement) copy(TEXT_STYLES);
  else setColour(element, "stroke", style.stroke);
  if (element.getAttribute("stroke")?.startsWith("#")) copy(STROKE_STYLES);
}

/** Colour and opacity as separate attributes: few programs support more than `#rrggbb`. */
function setColour(element: Element, name: string, value: string): void {
  const colour = parseColour(value);
  const alpha = colour[3];
  element.setAttribute(name, alpha === 0 ? "none" : hex(colour));
  if (alpha > 0 && alpha < 1) element.setAttribute(`${name}-opacity`, String(Number(alpha.toFixed(3))));
}

async function toPng(widget: Widget, svg: string): Promise<Blob> {
  const { width, height } = widget.tree.picture.viewBox.baseVal;
  const scale = Math.min(SCALE, MAX_SIDE / Math.max(width, height), Math.sqrt(MAX_PIXELS / (width * height)));
  const image = new Image();
  const url = URL.createObjectURL(new Blob([svg], { type: SVG_TYPE }));
  try {
    image.src = url;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
    const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve));
    if (blob === null) throw new Error("the picture is too large for an image");
    return blob;
  } finally {
    URL.revokeObjectURL(url);
  }
}

function nameOf({ session }: Widget): string {
  return session?.traced.graph.model.name.replace(/[^\w.-]+/g, "_") || "model";
}
