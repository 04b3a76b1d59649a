/** Making elements. Text goes in as text, never as markup. */

const SVG = "http://www.w3.org/2000/svg";

/** What would change how the text around it reads, or is no character at all; models put anything into a name. */
const UNREADABLE = /(?![\t\n])[\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069\ufffe\uffff]/gu;

/** Text as it can be shown. */
export function plain(text: string): string {
  return text.replace(UNREADABLE, "\ufffd");
}

/** An element with a class and content. */
export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  name: string,
  ...content: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  if (name !== "") element.className = name;
  element.append(...content.map((part) => (typeof part === "string" ? plain(part) : part)));
  return element;
}

/** A `<div>` with a class. */
export function box(name: string, ...content: (Node | string)[]): HTMLElement {
  return make("div", name, ...content);
}

/** A button with words on it. */
export function button(text: string, action: () => void): HTMLButtonElement {
  const element = make("button", "mg-button", text);
  element.type = "button";
  element.addEventListener("click", action);
  return element;
}

/** A button with a drawing on it (a path on a 16 × 16 grid), and the words as its name and tooltip. */
export function iconButton(text: string, path: string, action: () => void): HTMLButtonElement {
  const element = button("", action);
  element.title = text;
  element.ariaLabel = text;
  element.append(icon(path));
  return element;
}

function icon(path: string): SVGSVGElement {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("class", "mg-icon");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("aria-hidden", "true");
  const line = document.createElementNS(SVG, "path");
  line.setAttribute("d", path);
  svg.append(line);
  return svg;
}
