/** Saving the picture as it is shown, as flat SVG or PNG, and the graph as JSON. */

import type { Viz } from "../layout.js";
import { button } from "./dom.js";
import { hex, rgb } from "./rgb.js";
import { LARGE } from "./scene.js";
import type { Session } from "./session.js";
import { strings } from "./strings.js";
import { colourBehind } from "./toolbar.js";
import { parseSvg } from "./trusted.js";
import type { Widget } from "./widget.js";

/** Sharp on any screen, unless that makes more dots than browsers can hold. */
const SHARPNESS = 2;
const MOST_DOTS = 1e8;
const LONGEST = 16_000;

const WORDS = ["font-family", "font-size", "font-weight", "text-anchor"];
const STROKES = ["stroke-width", "stroke-dasharray", "stroke-linecap", "stroke-linejoin"];

export function save(widget: Widget): void {
  const flat = (session: Session, viz: Viz) => flatPicture(widget, () => session.picture(viz));
  const name = () => widget.session?.traced.graph.model.name.replace(/[^\w.-]+/g, "_") || "model";
  const offer = (type: string, make: () => Promise<void>) => button(type, () => void make());
  widget.toolbar.addToMenu(
    strings.save,
    offer("SVG", () =>
      widget.ask((session, viz) =>
        download(new Blob([flat(session, viz)], { type: "image/svg+xml" }), `${name()}.svg`),
      ),
    ),
    offer("PNG", () =>
      widget.ask(async (session, viz) => download(await dots(widget, flat(session, viz)), `${name()}.png`)),
    ),
    offer("JSON", () =>
      widget.askData(({ traced }) =>
        download(new Blob([JSON.stringify(traced.graph)], { type: "application/json" }), `${name()}.json`),
      ),
    ),
  );
}

/** The picture with every style resolved, so that it looks the same anywhere. */
function flatPicture(widget: Widget, whole: () => string): string {
  const { tree, canvas } = widget;
  // a large picture is not in the document as a whole, and only there it has style
  const source = tree.size < LARGE ? tree.picture : (parseSvg(whole())[0] as SVGSVGElement);
  if (source !== tree.picture) {
    canvas.append(source);
    for (const feature of widget.dress) feature(source);
  }
  const copy = source.cloneNode(true) as SVGSVGElement;
  const originals = [source, ...source.querySelectorAll("*")];
  [copy, ...copy.querySelectorAll("*")].forEach((element, i) => {
    resolve(element, originals[i] as Element);
  });
  if (source !== tree.picture) source.remove();
  const { width, height } = source.viewBox.baseVal;
  const background = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  for (const [key, value] of Object.entries({ width, height })) background.setAttribute(key, String(value));
  background.setAttribute("fill", hex(colourBehind(widget.host)));
  copy.prepend(background);
  return new XMLSerializer().serializeToString(copy);
}

function resolve(element: Element, original: Element): void {
  const style = getComputedStyle(original);
  for (const { name } of [...element.attributes])
    if (/^(class|role|style|tabindex|data-|aria-)/.test(name)) element.removeAttribute(name);
  if (style.display === "none" || style.visibility === "hidden") element.remove();
  const keep = (names: string[]) => {
    for (const name of names) element.setAttribute(name, style.getPropertyValue(name));
  };
  if (style.opacity !== "1") keep(["opacity"]);
  if (element instanceof SVGGElement || !(element instanceof SVGGraphicsElement)) return;
  paint(element, "fill", style.fill);
  if (element instanceof SVGTextContentElement) keep(WORDS);
  else paint(element, "stroke", style.stroke);
  if (element.getAttribute("stroke")?.startsWith("#")) keep(STROKES);
}

/** Colour and opacity apart: few programs read more than `#rrggbb`. */
function paint(element: Element, name: string, value: string): void {
  const colour = rgb(value);
  const alpha = colour[3];
  element.setAttribute(name, alpha === 0 ? "none" : hex(colour));
  if (alpha > 0 && alpha < 1) element.setAttribute(`${name}-opacity`, String(Number(alpha.toFixed(3))));
}

async function dots(widget: Widget, svg: string): Promise<Blob> {
  const { width, height } = widget.tree.picture.viewBox.baseVal;
  const scale = Math.min(SHARPNESS, LONGEST / Math.max(width, height), Math.sqrt(MOST_DOTS / (width * height)));
  const image = new Image();
  const url = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
  try {
    image.src = url;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
    const blob = await new Promise<Blob | null>((done) => canvas.toBlob(done));
    if (blob === null) throw new Error("the picture is too large for an image");
    return blob;
  } finally {
    URL.revokeObjectURL(url);
  }
}

function download(content: Blob, name: string): void {
  const anchor = document.createElement("a");
  anchor.href = URL.createObjectURL(content);
  anchor.download = name;
  anchor.click();
  // a download that has begun keeps what it needs
  setTimeout(() => URL.revokeObjectURL(anchor.href), 10_000);
}
