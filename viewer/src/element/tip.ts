/** What flows through the edge under the pointer: the tensor's name, shape and dtype. From afar: what a node is. */
import { box, plain } from "./dom.js";
import { tensorText } from "./facts.js";
import { type Edge, type Flow, flowOf } from "./flow.js";
import { header, nodeAt } from "./tree.js";
import type { Widget } from "./widget.js";

/** An edge is thin; so near counts, px on screen. */
const NEAR = 6;

export function tip(widget: Widget): void {
  const note = box("mg-tip");
  note.hidden = true;
  note.role = "tooltip";
  widget.stage.append(note);
  const say = (text: string, x: number, y: number) => {
    note.textContent = plain(text);
    note.hidden = text === "";
    const frame = widget.stage.getBoundingClientRect();
    const right = Math.min(x - frame.left + widget.stage.scrollLeft + 12, widget.stage.clientWidth - note.offsetWidth);
    const isRoom = y + 16 + note.offsetHeight <= Math.min(frame.bottom, innerHeight);
    const down = y - frame.top + (isRoom ? 16 : -8 - note.offsetHeight);
    note.style.transform = `translate(${right}px, ${down}px)`;
  };
  const show = ({ target, clientX, clientY }: PointerEvent) => {
    note.hidden = true;
    // from afar nodes have no words of their own
    const node = nodeAt(target);
    if (node !== null && widget.tree.picture.classList.contains("mg-far")) {
      say(header(node).getAttribute("aria-label") ?? "", clientX, clientY);
    }
    if (!note.hidden || (target as Element).closest(".mg-node, .mg-header") !== null) return;
    widget.peek((session, viz) => {
      const edge = edgeAt(widget, flowOf(session.layout(viz)), clientX, clientY);
      if (edge !== undefined) say(tensorText(session.traced, edge.tensor), clientX, clientY);
    });
  };
  widget.stage.addEventListener("pointermove", show);
  widget.stage.addEventListener("click", (event) => show(event as PointerEvent));
  widget.stage.addEventListener("pointerleave", () => {
    note.hidden = true;
  });
}

function edgeAt(widget: Widget, flow: Flow, clientX: number, clientY: number): Edge | undefined {
  const matrix = widget.tree.picture.getScreenCTM();
  if (matrix === null) return undefined;
  const { x, y } = new DOMPoint(clientX, clientY).matrixTransform(matrix.inverse());
  let nearest = NEAR / matrix.a;
  let found: Edge | undefined;
  for (const edge of flow.edges) {
    const far = distance(edge, x, y, nearest);
    if (far < nearest) {
      nearest = far;
      found = edge;
    }
  }
  return found;
}

/** From a point to an edge; edges run along the axes, but for a few. */
function distance({ line }: Edge, x: number, y: number, limit: number): number {
  let least = limit;
  for (let i = 1; i < line.length; i += 1) {
    const [ax, ay] = line[i - 1] ?? [0, 0];
    const [bx, by] = line[i] ?? [0, 0];
    if (Math.max(ax, bx) < x - least || Math.min(ax, bx) > x + least) continue;
    if (Math.max(ay, by) < y - least || Math.min(ay, by) > y + least) continue;
    const length = (bx - ax) ** 2 + (by - ay) ** 2;
    const part = length === 0 ? 0 : Math.max(0, Math.min(1, ((x - ax) * (bx - ax) + (y - ay) * (by - ay)) / length));
    least = Math.min(least, Math.hypot(ax + part * (bx - ax) - x, ay + part * (by - ay) - y));
  }
  return least;
}
