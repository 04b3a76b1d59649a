/** Shows how to zoom, once, when a reader turns the wheel over a diagram; the wheel alone scrolls the page. */
import { fill, strings } from "../../shared/strings.js";
import { isForDiagram } from "../gestures.js";
import { box } from "../parts/dom.js";
import type { Widget } from "../widget.js";

const STORAGE_KEY = "model-graph-hint";
/** How long the hint is visible, ms. */
const DURATION = 2000;
/** For the page; the session storage remembers it for the visit. */
let wasShown = false;

export function hint(widget: Widget): void {
  const onWheel = (event: WheelEvent) => {
    if (isForDiagram(event, widget.host.matches(":fullscreen"))) return;
    widget.stage.removeEventListener("wheel", onWheel);
    if (isFirstTime()) show(widget.stage);
  };
  widget.stage.addEventListener("wheel", onWheel, { passive: true });
}

function show(stage: HTMLElement): void {
  const key = /Mac|iP(ad|hone)/.test(navigator.platform) ? "\u2318" : "Ctrl";
  const element = box("mg-hint", fill(strings.wheel, key));
  // of no use without a mouse
  element.ariaHidden = "true";
  const { top, bottom } = stage.getBoundingClientRect();
  // over the visible part of a tall picture
  element.style.top = `${Math.max(0, -top)}px`;
  element.style.bottom = `${Math.max(0, bottom - innerHeight)}px`;
  stage.append(element);
  setTimeout(() => element.remove(), DURATION);
}

function isFirstTime(): boolean {
  if (wasShown) return false;
  wasShown = true;
  try {
    if (sessionStorage.getItem(STORAGE_KEY) !== null) return false;
    sessionStorage.setItem(STORAGE_KEY, "");
  } catch {
    // sandboxed pages have no storage
  }
  return true;
}
