/**
 * Entry of `packed.js`, for pages that contain the whole viewer: starts the widget; the rest waits for a reader. In the
 * frame of a notebook (`notebook.ts`) it also reports the height of the diagram and adopts the notebook's colours.
 */
import type { FrameColours, FrameHeight } from "../shared/notebook_messages.js";
import { unpacked } from "../shared/unpack.js";

/** A small diagram grows to this height at the first interaction, px: menus and details need room. */
const ROOM = 400;

void unpacked(globalThis.modelDiagramsPacked?.["model-graph.js"] ?? "").then((code) => {
  const script = document.createElement("script");
  script.textContent = code;
  document.head.append(script);
});

function fitInto(parent: Window): void {
  const root = document.documentElement;
  let least = 0;
  const tell = () => {
    // hidden
    if (innerWidth === 0) return;
    const modelDiagramsHeight = Math.max(least, Math.ceil(root.getBoundingClientRect().height));
    // anybody who frames the page may know its height
    parent.postMessage({ modelDiagramsHeight } satisfies FrameHeight, "*");
  };
  new ResizeObserver(tell).observe(root);
  const makeRoom = () => {
    least = ROOM;
    tell();
  };
  for (const event of ["pointerdown", "keydown"]) addEventListener(event, makeRoom, { capture: true, once: true });
  addEventListener("message", ({ source, data }: MessageEvent<FrameColours | undefined>) => {
    if (source === parent && data?.modelDiagramsColours) Object.assign(root.style, data.modelDiagramsColours);
  });
}

if (parent !== window) fitInto(parent);
