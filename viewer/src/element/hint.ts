/** Says once how to zoom, to a reader who turns the wheel over a diagram; the wheel itself scrolls the page. */
import { box } from "./dom.js";
import { isOurs } from "./gestures.js";
import { fill, strings } from "./strings.js";
import type { Widget } from "./widget.js";

const TOLD = "model-graph-hint";
const SHOWN = 2000;
let told = false;

export function hint(widget: Widget): void {
  const onWheel = (event: WheelEvent) => {
    if (isOurs(event, widget.host.matches(":fullscreen"))) return;
    widget.stage.removeEventListener("wheel", onWheel);
    if (isNews()) say(widget.stage);
  };
  widget.stage.addEventListener("wheel", onWheel, { passive: true });
}

function say(stage: HTMLElement): void {
  const key = /Mac|iP(ad|hone)/.test(navigator.platform) ? "\u2318" : "Ctrl";
  const words = box("mg-hint", fill(strings.wheel, key));
  // for the mouse's users; the keyboard has its own ways
  words.ariaHidden = "true";
  const { top, bottom } = stage.getBoundingClientRect();
  // where the reader is, however tall the picture is
  words.style.top = `${Math.max(0, -top)}px`;
  words.style.bottom = `${Math.max(0, bottom - innerHeight)}px`;
  stage.append(words);
  setTimeout(() => words.remove(), SHOWN);
}

/** Once per visit, also where the browser keeps nothing for this page. */
function isNews(): boolean {
  if (told) return false;
  told = true;
  try {
    if (sessionStorage.getItem(TOLD) !== null) return false;
    sessionStorage.setItem(TOLD, "");
  } catch {
    // a page in a sandbox
  }
  return true;
}
