/** Creates elements. Text is inserted as text, never as markup. */
import type { ScaleEntry } from "../../session/colour_scale.js";
import { readable } from "../../shared/text.js";

const SVG = "http://www.w3.org/2000/svg";

/** An element with a class and content. */
export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  name: string,
  ...content: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  if (name !== "") element.className = name;
  element.append(...content.map((part) => (typeof part === "string" ? readable(part) : part)));
  return element;
}

/** A `<div>` with a class. */
export function box(name: string, ...content: (Node | string)[]): HTMLElement {
  return make("div", name, ...content);
}

/** A button with a text. */
export function button(text: string, action: (event: MouseEvent) => void): HTMLButtonElement {
  const element = make("button", "mg-button", text);
  element.type = "button";
  element.addEventListener("click", action);
  return element;
}

/** A button with an icon (a path on a 16 × 16 grid); the text is its name and tooltip. */
export function iconButton(text: string, path: string, action: (event: MouseEvent) => void): HTMLButtonElement {
  const element = button("", action);
  element.title = text;
  element.ariaLabel = text;
  element.append(icon(path));
  return element;
}

/** An SVG element with attributes and content. */
export function svg<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Readonly<Record<string, string | number>>,
  ...content: (Node | string)[]
): SVGElementTagNameMap[K] {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  element.append(...content);
  return element;
}

/** An icon: a path on a 16 × 16 grid. */
export function icon(path: string): SVGSVGElement {
  const attributes = { class: "mg-icon", viewBox: "0 0 16 16", "aria-hidden": "true" };
  return svg("svg", attributes, svg("path", { d: path }));
}

/** A colour of a scale and its meaning. */
export function scaleEntry({ step, text }: ScaleEntry): HTMLElement {
  const swatch = box("mg-swatch");
  swatch.dataset.step = String(step);
  return make("span", "mg-entry", swatch, text);
}

/** Let the reader download a file. */
export function download(name: string, content: Blob): void {
  const anchor = document.createElement("a");
  anchor.href = URL.createObjectURL(content);
  anchor.download = name.replace(/[^\w.-]+/g, "_");
  anchor.click();
  // after the browser has read it
  setTimeout(() => URL.revokeObjectURL(anchor.href), 10_000);
}

/**
 * Observe sizes for callbacks that change sizes. They run in the next frame; otherwise browsers report an error to the page
 * ("ResizeObserver loop completed with undelivered notifications").
 */
export function onResize(action: () => void): ResizeObserver {
  let frame = 0;
  return new ResizeObserver(() => {
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(action);
  });
}
