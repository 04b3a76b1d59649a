import type { FrameColours, FrameHeight } from "../shared/notebook_messages.js";
import { unpacked } from "../shared/unpack.js";
import { colourBehind, hex, parseColour } from "../widget/controls/css_colour.js";

/**
 * Entry of `notebook.js`: makes the diagrams in the outputs of a notebook interactive. One output contains it, and with it
 * the viewer for all outputs.
 *
 * Each diagram gets its own frame, out of reach of the notebook's styles and keyboard shortcuts. An output shows its still
 * picture until the frame reports that it works.
 */

declare global {
  /** Show the diagrams of new outputs; the first call contains the viewer. */
  var modelDiagramsNotebook: ((packedPage?: string, parts?: object) => void) | undefined;
}

/** A page around a diagram: the parts before and after it. */
type Viewer = readonly [head: string, tail: string];

const WAITING = ".model-diagram[data-diagram]";
const FRAME = "iframe.model-diagram-frame";
/** Greatest height of a diagram, as a share of the screen: some notebooks frame each output, so the window doesn't count. */
const SCREEN_SHARE = 0.8;

let viewer: Promise<Viewer> | undefined;

function show(packedPage?: string, parts?: object): void {
  if (packedPage !== undefined) viewer ??= unpacked(packedPage).then((text) => withParts(JSON.parse(text), parts));
  if (viewer === undefined) return;
  for (const output of document.querySelectorAll<HTMLElement>(WAITING)) void frame(output, viewer);
}

/** The page has a slot for a diagram and one for the viewer's scripts. */
function withParts([head, middle, tail]: [string, string, string], parts: object | undefined): Viewer {
  return [head, middle + JSON.stringify(parts) + tail];
}

async function frame(output: HTMLElement, viewer: Promise<Viewer>): Promise<void> {
  const packed = output.dataset.diagram ?? "";
  delete output.dataset.diagram;
  const [[head, tail], diagram] = await Promise.all([viewer, unpacked(packed)]);
  const element = document.createElement("iframe");
  element.className = FRAME.replace("iframe.", "");
  element.title = output.querySelector("img")?.alt ?? "";
  // modals are needed for printing to PDF
  element.sandbox.add("allow-scripts", "allow-downloads", "allow-modals");
  element.allow = "fullscreen; clipboard-write";
  element.style.cssText = "display:block;width:100%;height:0;border:0";
  element.srcdoc = head + diagram + tail;
  output.append(element);
}

function onMessage({ source, data }: MessageEvent<FrameHeight | undefined>): void {
  const height = data?.modelDiagramsHeight;
  const element = frames().find((each) => each.contentWindow === source);
  if (typeof height !== "number" || element === undefined) return;
  // at first, everything is shown, down to the note about an error
  const first = Number(element.dataset.height ?? height);
  element.dataset.height = String(first);
  element.style.height = `${Math.min(height, Math.max(first, screen.availHeight * SCREEN_SHARE))}px`;
  const still = element.parentElement?.firstElementChild;
  if (still instanceof HTMLElement) still.style.display = "none";
  colour(element);
}

function frames(): HTMLIFrameElement[] {
  return [...document.querySelectorAll<HTMLIFrameElement>(FRAME)];
}

function colour(element: HTMLIFrameElement): void {
  const { color } = getComputedStyle(element);
  const behind = colourBehind(element);
  const colorScheme = luminance(parseColour(color)) > luminance(behind) ? "dark" : "light";
  const message: FrameColours = { modelDiagramsColours: { backgroundColor: hex(behind), color, colorScheme } };
  element.contentWindow?.postMessage(message, "*");
}

function luminance([red, green, blue]: readonly number[]): number {
  return 0.3 * (red ?? 0) + 0.6 * (green ?? 0) + 0.1 * (blue ?? 0);
}

if (globalThis.modelDiagramsNotebook === undefined) {
  globalThis.modelDiagramsNotebook = show;
  addEventListener("message", onMessage);
  // notebooks switch between light and dark by attributes
  const themes = new MutationObserver(() => frames().forEach(colour));
  for (const element of [document.documentElement, document.body]) themes.observe(element, { attributes: true });
}
