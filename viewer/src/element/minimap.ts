/** A small map of a picture that is much larger than its window, with the window on it: press or drag to go there. */
import type { Placed } from "../layout.js";
import { box } from "./dom.js";
import type { Widget } from "./widget.js";

/** Shown when this many windows would be needed to see everything at the present scale. */
const WINDOWS = 3;
const LARGEST = 140;
const SMALLEST = 28;
/** Rectangles on the map; smaller ones than a dot tell nothing. */
const MOST_RECTANGLES = 400;

export function minimap(widget: Widget): void {
  const frame = box("mg-window");
  const canvas = document.createElement("canvas");
  const map = box("mg-map", canvas, frame);
  map.hidden = true;
  // the tree is the map for the keyboard
  map.ariaHidden = "true";
  widget.stage.append(map);
  let drawn: SVGSVGElement | undefined;

  const update = () => {
    const { sight } = widget.camera;
    const { width, height } = widget.tree.picture.viewBox.baseVal;
    const isFree = widget.stage.classList.contains("mg-free");
    const wanted = isFree && sight.scale !== 0 && width * height >= WINDOWS * sight.width * sight.height;
    if (wanted && drawn !== widget.tree.picture) {
      widget.peek((session, viz) => {
        paint(canvas, session.layout(viz).root, width, height);
        drawn = widget.tree.picture;
      });
    }
    // an empty box would be no map
    map.hidden = !wanted || drawn !== widget.tree.picture;
    if (map.hidden) return;
    const percent = (part: number, whole: number) => `${Math.max(0, Math.min(100, (100 * part) / whole))}%`;
    frame.style.left = percent(sight.x, width);
    frame.style.top = percent(sight.y, height);
    frame.style.right = percent(width - sight.x - sight.width, width);
    frame.style.bottom = percent(height - sight.y - sight.height, height);
  };
  widget.on("moved", update);
  widget.on("drawn", update);

  const go = (event: PointerEvent) => {
    if (event.buttons === 0) return;
    const at = map.getBoundingClientRect();
    const { width, height } = widget.tree.picture.viewBox.baseVal;
    widget.camera.lookAt(
      ((event.clientX - at.left) / at.width) * width,
      ((event.clientY - at.top) / at.height) * height,
    );
  };
  map.addEventListener("pointerdown", (event) => {
    map.setPointerCapture(event.pointerId);
    go(event);
  });
  map.addEventListener("pointermove", go);
  // the picture below has its own idea of a press
  for (const type of ["mousedown", "click"]) {
    map.addEventListener(type, (event) => {
      event.stopPropagation();
      // the focus stays where it is
      event.preventDefault();
    });
  }
}

/** Containers and nodes as rectangles, from the outside in while they are few. Very long pictures are squeezed. */
function paint(canvas: HTMLCanvasElement, root: Placed, width: number, height: number): void {
  const scale = LARGEST / Math.max(width, height);
  const [across, along] = [width, height].map((side) => Math.max(SMALLEST, Math.round(side * scale)));
  canvas.width = (across ?? 0) * devicePixelRatio;
  canvas.height = (along ?? 0) * devicePixelRatio;
  canvas.style.width = `${across}px`;
  canvas.style.height = `${along}px`;
  const pen = canvas.getContext("2d");
  if (pen === null) return;
  // on light and on dark, also when the page changes
  pen.fillStyle = "gray";
  pen.globalAlpha = 0.2;
  pen.scale(canvas.width / width, canvas.height / height);
  const waiting = [{ placed: root, x: 0, y: 0 }];
  let left = MOST_RECTANGLES;
  for (const { placed, x, y } of waiting) {
    placed.geometry.boxes.forEach((at, i) => {
      left -= 1;
      pen.fillRect(x + at.x, y + at.y, at.width, at.height);
      const inner = placed.inner[i];
      if (inner && left > 0) waiting.push({ placed: inner, x: x + at.x, y: y + at.y });
    });
  }
}
