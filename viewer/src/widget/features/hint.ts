import { fill, strings } from "../../shared/strings.js";
import { isForDiagram } from "../camera/gestures.js";
import { box, icon, make } from "../controls/dom.js";
import { remember, remembered } from "../controls/storage.js";
import type { Widget } from "../widget.js";
import { coversNode } from "./sticky.js";

/**
 * Explains how to zoom, once per reader, when the wheel turns over a diagram, which scrolls the page. The text appears next
 * to the controls, and only if it covers nothing.
 */

const STORAGE_KEY = "model-graph-hint";
/** How long the hint is visible, ms. */
const DURATION = 4000;
/** For this page, if the browser remembers nothing. */
let wasShown = false;

export function hint(widget: Widget): void {
  const onWheel = (event: WheelEvent) => {
    if (isForDiagram(event, widget.host.matches(":fullscreen"))) return;
    if (isKnown() || show(widget.toolbar.element)) widget.stage.removeEventListener("wheel", onWheel);
  };
  widget.stage.addEventListener("wheel", onWheel, { passive: true });
}

/** Show the hint if there is room; whether there was. */
function show(toolbar: HTMLElement): boolean {
  const key = /Mac|iP(ad|hone)/.test(navigator.platform) ? "\u2318" : "Ctrl";
  const element = box("mg-hint", fill(strings.wheel, key));
  // of no use without a mouse
  element.ariaHidden = "true";
  toolbar.append(element);
  const { left, right } = element.getBoundingClientRect();
  if (coversNode(element) || left < 0 || right > innerWidth) {
    element.remove();
    return false;
  }
  wasShown = true;
  remember(STORAGE_KEY, "");
  setTimeout(() => element.remove(), DURATION);
  return true;
}

function isKnown(): boolean {
  return wasShown || remembered(STORAGE_KEY) !== null;
}

const OPEN = "M2.5 2.5h11v11h-11zM8 5.5v5M5.5 8h5";

export function rest(widget: Widget): void {
  // without its row, it would cover the page's text
  if (widget.host.querySelector(".mg-outline") === null) return;
  const sign = make("span", "", icon(OPEN), strings.explore);
  const element = box("mg-rest", sign);
  // the controls say the same to readers who don't see it
  element.ariaHidden = "true";
  widget.foot.after(element);
}
