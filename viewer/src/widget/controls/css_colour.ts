import { memoByKey } from "../../shared/memo.js";

/** Computed CSS colours, in any notation, as numbers. */

/** Red, green and blue from 0 to 255, and the opacity from 0 to 1. */
export type Colour = readonly [red: number, green: number, blue: number, alpha: number];

/** The value of a computed colour; transparent if it isn't a colour. */
export const parseColour = memoByKey((value: string): Colour => read(value) ?? paint(value));

/** One colour over another. */
export function blend([red, green, blue, alpha]: Colour, below: Colour): Colour {
  const sum = alpha + below[3] * (1 - alpha);
  const mix = (top: number, bottom: number) => (sum === 0 ? 0 : (top * alpha + bottom * below[3] * (1 - alpha)) / sum);
  return [mix(red, below[0]), mix(green, below[1]), mix(blue, below[2]), sum];
}

/** `#rrggbb`. */
export function hex([red, green, blue]: Colour): string {
  return `#${[red, green, blue].map((part) => Math.round(part).toString(16).padStart(2, "0")).join("")}`;
}

/** The two notations of nearly all computed colours. */
function read(value: string): Colour | undefined {
  const [, kind, text = ""] = /^(rgba?|color)\((.*)\)$/.exec(value) ?? [];
  if (kind === undefined || (kind === "color" && !text.startsWith("srgb "))) return undefined;
  const [red, green, blue, alpha = 1] = text
    .replace("srgb", "")
    .split(/[\s,/]+/)
    .filter(Boolean)
    .map(Number);
  const unit = kind === "color" ? 255 : 1;
  const parts = [red, green, blue].map((part = 0) => Math.max(0, Math.min(255, part * unit || 0)));
  return [parts[0] ?? 0, parts[1] ?? 0, parts[2] ?? 0, alpha || 0];
}

/** Other notations are resolved by drawing a pixel, opaque, because 8-bit premultiplied alpha loses precision. */
function paint(value: string): Colour {
  const [, share, percent] = /\/\s*([\d.e-]+)(%?)\s*\)$/.exec(value) ?? [];
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 1;
  const context = canvas.getContext("2d");
  if (context === null || !CSS.supports("color", value)) return [0, 0, 0, 0];
  context.fillStyle = value.replace(/\s*\/[^/]*\)$/, ")");
  context.fillRect(0, 0, 1, 1);
  const [red = 0, green = 0, blue = 0, alpha = 0] = context.getImageData(0, 0, 1, 1).data;
  return [red, green, blue, share === undefined ? alpha / 255 : Number(share) / (percent ? 100 : 1)];
}

/** The colour of the page behind an element. */

/** The colour visible through a transparent element. */
export function colourBehind(element: Element): Colour {
  let seen: Colour = [0, 0, 0, 0];
  for (let at: Element | null = element; at !== null && seen[3] < 1; at = parentAcrossShadows(at)) {
    seen = blend(seen, parseColour(getComputedStyle(at).backgroundColor));
  }
  return blend(seen, canvasColour());
}

/** The colour of a page that sets none: white, or nearly black in a dark colour scheme. */
function canvasColour(): Colour {
  const probe = document.createElement("i");
  probe.style.background = "Canvas";
  document.body.append(probe);
  const colour = parseColour(getComputedStyle(probe).backgroundColor);
  probe.remove();
  return colour;
}

function parentAcrossShadows(element: Element): Element | null {
  const root = element.getRootNode();
  return element.parentElement ?? (root instanceof ShadowRoot ? root.host : null);
}
