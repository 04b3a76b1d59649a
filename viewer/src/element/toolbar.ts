/** The buttons over the picture. */
import type { Camera } from "./camera.js";
import { strings } from "./strings.js";

const STEP = 1.4;
const SVG = "http://www.w3.org/2000/svg";

/** Icons on a 16 × 16 grid, stroked. */
const ICONS = {
  zoomIn: "M8 3v10M3 8h10",
  zoomOut: "M3 8h10",
  plumbing: "M1.5 8H5M11 8h3.5M5 4.5h6v7H5z",
  fit: "M2 3.5h12v9H2zM5.5 6.5h5v3h-5z",
  fullscreen: "M6 2.5H2.5V6M10 2.5h3.5V6M6 13.5H2.5V10M10 13.5h3.5V10",
};

/** Zoom buttons, fit, the switch for plumbing, and fullscreen where the browser has it. */
export function toolbar(host: HTMLElement, camera: Camera, plumbing: () => Promise<boolean>): HTMLElement {
  const bar = document.createElement("div");
  bar.className = "mg-toolbar";
  bar.role = "group";
  bar.ariaLabel = strings.controls;
  bar.append(
    button("zoomOut", () => camera.zoomBy(1 / STEP)),
    button("zoomIn", () => camera.zoomBy(STEP)),
    button("fit", () => camera.fit()),
    plumbingSwitch(plumbing),
  );
  if (document.fullscreenEnabled) bar.append(button("fullscreen", () => toggleFullscreen(host)));
  return bar;
}

function plumbingSwitch(change: () => Promise<boolean>): HTMLButtonElement {
  const element = button("plumbing", () => {
    void change().then((shown) => {
      element.ariaPressed = String(shown);
    });
  });
  element.ariaPressed = "false";
  return element;
}

function button(name: keyof typeof ICONS, action: () => void): HTMLButtonElement {
  const element = document.createElement("button");
  element.type = "button";
  element.className = "mg-button";
  element.title = strings[name];
  element.ariaLabel = strings[name];
  element.append(icon(ICONS[name]));
  element.addEventListener("click", action);
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

function toggleFullscreen(host: HTMLElement): void {
  if (document.fullscreenElement) {
    void document.exitFullscreen();
    return;
  }
  // alone on the screen the diagram has no page behind it any more
  host.style.setProperty("--mg-page", backgroundBehind(host));
  void host.requestFullscreen();
}

/** The colour a see-through element has on this page. */
function backgroundBehind(element: Element): string {
  for (let at: Element | null = element; at !== null; at = parentAcrossShadows(at)) {
    const colour = getComputedStyle(at).backgroundColor;
    if (colour !== "transparent" && !/[,/] ?0\)$/.test(colour)) return colour;
  }
  return "Canvas";
}

function parentAcrossShadows(element: Element): Element | null {
  const root = element.getRootNode();
  return element.parentElement ?? (root instanceof ShadowRoot ? root.host : null);
}
